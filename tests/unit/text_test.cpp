// One line of text and one event: what is written is read as the same event, whatever the names are.
#include "trace/text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <set>

#include "unit/events.h"

namespace pf {
namespace {

constexpr uint32_t kNames = 4;

// Names that try to be something else.
rc::Gen<std::string> any_name() {
  const auto tricky =
      rc::gen::element('|', ',', '+', '#', '\\', '(', ')', '=', '0', 'x', 'V', 'L', '1', ' ', '\n', '\r', '\0');
  const auto lookalike = rc::gen::element<std::string>("V1", "V3+2", "0x10", "L2", "C1", "B1", "S1", "F1", "#1", "#5",
                                                       "a,4", "f(x)|g", "relaxed");
  return rc::gen::nonEmpty(rc::gen::weightedOneOf<std::string>(
      {{1, rc::gen::arbitrary<std::string>()}, {1, rc::gen::container<std::string>(tricky)}, {2, lookalike}}));
}

Dictionary any_names() {
  Dictionary names;
  const auto unique = [] { return *rc::gen::unique<std::vector<std::string>>(kNames, any_name()); };
  for (const std::string& name : unique()) names.add_thread(name);
  for (const std::string& name : unique()) names.site(name);
  names.add_site({.location = {}, .function = "f", .file = "f.c", .module = {}}, "#5");
  for (unsigned kind = 0; kind < kObjectKinds; ++kind) {
    for (const std::string& name : unique()) names.add_object(static_cast<ObjectKind>(kind), name);
  }
  return names;
}

// A target that the dictionary has a name for.
uint64_t nameable_target(Op op) {
  const uint64_t n = *rc::gen::inRange<uint64_t>(0, kNames);
  const auto way = *rc::gen::inRange(0, 3);
  if (way == 0) return *rc::gen::inRange<uint64_t>(0, kAbstract);
  if (object_kind(op) != ObjectKind::Variable) return way == 1 ? abstract_object(n) : named_object(n);
  return (way == 1 ? abstract_variable(n) : named_variable(n)) + *rc::gen::inRange<uint64_t>(0, 8);
}

RC_GTEST_PROP(Text, reads_back_every_event_it_writes, ()) {
  Dictionary names = any_names();
  Event e = *any_event(kNames, kNames + 2);
  if (has_operand(e.op) && e.op != Op::Fork && e.op != Op::Join) e.target = nameable_target(e.op);
  const std::string line = format_event(e, names);
  RC_LOG() << line;
  RC_ASSERT(line.find('\n') == line.size() - 1);
  RC_ASSERT(line[0] != '#');  // it would be a comment
  const Result<Event> again = parse_event(std::string_view(line).substr(0, line.size() - 1), names, false);
  RC_ASSERT(again);
  RC_ASSERT(*again == e);
}

// What another tool wrote comes back letter by letter.
RC_GTEST_PROP(Text, keeps_std_lines_as_they_are, ()) {
  const auto without = [](std::string text, std::string_view unwanted) {
    std::erase_if(text, [&](char c) { return unwanted.find(c) != std::string_view::npos; });
    return text;
  };
  const std::string_view line_ends("\n\r\0", 3), field_ends("|\n\r\0", 4);
  const std::string line = "t" + without(*any_name(), field_ends) + "|" +
                           *rc::gen::element<std::string>("r", "w", "acq", "rel", "fork", "join") + "(" +
                           without(*any_name(), line_ends) + "o)|" + without(*any_name(), field_ends);
  Dictionary names;
  const Result<Event> e = parse_event(line, names, true);
  RC_ASSERT(e);
  RC_ASSERT(format_event(*e, names, true) == line + "\n");
}

// --- by example ---

std::string reformat(std::string_view line, bool std_only = false) {
  Dictionary names;
  const Result<Event> e = parse_event(line, names, std_only);
  return e ? format_event(*e, names, std_only) : "error: " + e.error().message;
}

TEST(Text, escapes_names_that_look_like_something_else) {
  Dictionary names;
  names.add_thread("#1");
  names.add_object(ObjectKind::Variable, "V1");
  names.add_object(ObjectKind::Variable, "0x10");
  names.site("#2");
  const auto write = [&](uint64_t target) {
    return format_event({.target = target, .size = 8, .site = SiteId{1}, .op = Op::Write}, names);
  };
  EXPECT_EQ(write(named_variable(0)), "\\231|w(\\561)|\\232\n");
  EXPECT_EQ(write(named_variable(1) + 3), "\\231|w(\\30x10+3)|\\232\n");
  EXPECT_EQ(write(abstract_variable(1)), "\\231|w(V1)|\\232\n");
  EXPECT_EQ(write(0x10), "\\231|w(0x10)|\\232\n");
}

TEST(Text, has_every_operation) {
  for (const char* line : {"T0|r(V1)|3",
                           "T0|w(V1,4)=7|3",
                           "T0|load(V1,acquire)|",
                           "T0|store(V1,1,relaxed)=18446744073709551615|x",
                           "T0|rmw(0x7f00,16,acq_rel)|",
                           "T0|alloc(0x7f00,64)|",
                           "T0|free(0x7f00,64)|",
                           "T0|acq(L1)|",
                           "T0|rel(L1)|",
                           "T0|racq(L1)|",
                           "T0|rrel(L1)|",
                           "T0|fork(T1)|",
                           "T0|join(T1)|",
                           "T0|begin|",
                           "T0|end|",
                           "T0|wait(C1)|",
                           "T0|wake(C1)|",
                           "T0|notify(C1)|",
                           "T0|enter(B1)|",
                           "T0|leave(B1)|",
                           "T0|post(S1)|",
                           "T0|take(S1)|",
                           "T0|fence(seq_cst)|",
                           "T0|call(F1)|",
                           "T0|ret(F1)|",
                           "T0|miss(F1)|",
                           "T0|back|",
                           "T0|reach(V1+7,3)|",
                           "T0|sample|",
                           "T0|rest|"}) {
    EXPECT_EQ(reformat(line), std::string(line) + "\n");
  }
}

TEST(Text, takes_begin_and_end_with_or_without_an_operand) {
  for (const bool std_only : {false, true}) {
    EXPECT_EQ(reformat("T1|begin(T1)|4", std_only), "T1|begin|4\n");
    EXPECT_EQ(reformat("T1|end|4", std_only), "T1|end|4\n");
  }
}

// In STD a name is a variable of its own, even if it looks like an address inside another one.
TEST(Text, keeps_std_variables_apart) {
  Dictionary names;
  std::set<uint64_t> targets;
  for (const char* line : {"T0|w(0x10)|1", "T0|w(0x14)|1", "T0|w(0x10,4)|1", "T0|w(0X10)|1", "T0|w(V1)|1",
                           "T0|w(V1+4)|1", "T0|w(V01)|1", "T0|w(V99999999999999999999)|1"}) {
    const Result<Event> e = parse_event(line, names, true);
    ASSERT_TRUE(e) << line;
    EXPECT_EQ(e->target % kVariableSize, 0U) << line;
    EXPECT_TRUE(targets.insert(e->target).second) << line;
  }
}

TEST(Text, says_what_is_wrong_with_a_line) {
  const auto expect = [](std::string_view line, const char* message, bool std_only = false) {
    EXPECT_EQ(reformat(line, std_only), "error: " + std::string(message)) << line;
  };
  expect("nonsense", "expected thread|operation(operand)|location, found 'nonsense'");
  expect("T0|w(V1)", "expected thread|operation(operand)|location, found 'T0|w(V1)'");
  expect("|w(V1)|3", "expected thread|operation(operand)|location, found '|w(V1)|3'");
  expect("T0|write(V1)|3", "unknown operation 'write'");
  expect("T0||3", "unknown operation ''");
  expect("T0|w|3", "operation 'w' needs an operand");
  expect("T0|w()|3", "operation without an operand");
  expect("T0|w(V1|3", "missing ')' in 'w(V1'");
  expect("T0|w(V1,0)|3", "access of 0 bytes (1 to 1048576 are possible)");
  expect("T0|w(V1,1048577)|3", "access of 1048577 bytes (1 to 1048576 are possible)");
  expect("T0|w(V1,99999999999999999999)|3", "cannot understand '99999999999999999999'");
  expect("T0|w(V1,relaxed)|3", "cannot understand 'relaxed'");
  expect("T0|w(V1)=|3", "cannot understand '='");
  expect("T0|acq(L1)=5|3", "cannot understand '=5'");
  expect("T0|fence(strong)|3", "unknown memory order 'strong'");
  expect("T0|fence|3", "operation 'fence' needs an operand");
  expect("T0|w(0x10+2)|3", "'+' after the address '0x10'");
  expect("T0|w(a\\2)|3", "wrong escape in 'a\\2'");
  expect("T0|w(a)|\\zz", "wrong escape in '\\zz'");
  expect("T0|w(V1)=5|3", "cannot understand '=5'", true);
  expect("T0|load(V1,acquire)|3", "unknown operation 'load'", true);
}

TEST(Text, tells_the_format_from_the_name) {
  const auto format = [](std::string_view path) {
    const Result<TraceName> name = parse_trace_name(path);
    if (!name) return std::string("unknown");
    constexpr std::array<const char*, 3> kFormats = {"pft", "std", "txt"};  // in the order of TraceFormat
    return kFormats[static_cast<unsigned>(name->format)] + std::string(name->gzip ? ".gz" : "");
  };
  EXPECT_EQ(format("a.pft"), "pft");
  EXPECT_EQ(format("dir.txt/a.std"), "std");
  EXPECT_EQ(format("a.std.gz"), "std.gz");
  EXPECT_EQ(format("a.txt.gz"), "txt.gz");
  EXPECT_EQ(format("-"), "txt");
  EXPECT_EQ(format("a.pft.gz"), "unknown") << "it is compressed as it is";
  EXPECT_EQ(format("a.gz"), "unknown");
  EXPECT_EQ(format("pft"), "unknown");
  EXPECT_EQ(format(""), "unknown");
}

}  // namespace
}  // namespace pf
