// Whole trace files: what was written is read; damage of any byte and a cut at any place is noticed; the blocks before
// the damage can be salvaged; an event is found by its number.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "trace/reader.h"
#include "trace/text.h"
#include "trace/writer.h"
#include "unit/events.h"

namespace pf {
namespace {

using format::kBlockEvents;

std::string temporary(const std::string& name) {
  return testing::TempDir() + "photofinish-" + std::to_string(getpid()) + "-" + name;
}

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Trace {
  std::vector<Event> events;
  Dictionary names;
};

// As a program would be: few threads, sites and variables, and some of everything that a binary trace holds.
Trace some_trace(std::size_t events) {
  Trace t;
  for (int i = 0; i < 4; ++i) t.names.add_thread("T" + std::to_string(i));
  t.names.add_symbol({0x4000, 16, "counter"});
  for (std::size_t i = 0; i < events; ++i) {
    Event e;
    e.thread = ThreadId{static_cast<uint32_t>(i / 5 % 4)};
    e.site = t.names.site(std::to_string(i % 97));
    constexpr std::array kOften = {Op::Write, Op::Read, Op::Read, Op::AtomicRmw, Op::Read};
    e.op = kOften[i * 7 % 11 % kOften.size()];
    e.target =
        i % 11 == 0 ? t.names.object(ObjectKind::Variable, "name" + std::to_string(i % 13)) : 0x4000 + i * 31 % 4096;
    e.size = 1U << i % 4;
    e.has_value = i % 17 == 0;
    e.value = e.has_value ? i : 0;
    t.events.push_back(e);
  }
  return t;
}

void add_all(TraceWriter& writer, const Trace& t) {
  for (std::size_t i = 0; i < t.events.size(); i += 1000) {
    writer.set_time(i + 1);
    const std::span<const Event> rest = std::span(t.events).subspan(i);
    const Status added = writer.add(rest.first(std::min<std::size_t>(rest.size(), 1000)), t.names);
    ASSERT_TRUE(added) << added.error().message;
  }
}

std::string write_binary(const Trace& t) {
  const std::string path = temporary("trace.pft");
  Result<std::unique_ptr<TraceWriter>> writer = create_trace(path);
  EXPECT_TRUE(writer);
  add_all(**writer, t);
  EXPECT_TRUE((*writer)->finish(t.names));
  const std::string bytes = contents(path);
  std::filesystem::remove(path);
  return bytes;
}

struct Reading {
  std::vector<Event> events;
  std::string error, lost;
};

Reading read_all(TraceSource& source) {
  Reading r;
  for (;;) {
    const Result<std::span<const Event>> batch = source.next();
    if (!batch) r.error = batch.error().message;
    if (!batch || batch->empty()) break;
    r.events.insert(r.events.end(), batch->begin(), batch->end());
  }
  r.lost = source.lost();
  return r;
}

Reading read_bytes(const std::string& bytes, bool salvage = false) {
  return read_all(*read_binary_trace(bytes, {.salvage = salvage}, false));
}

// Where each block ends, and how many events there are up to there.
struct BlockEnd {
  std::size_t offset, events;
};
std::vector<BlockEnd> block_ends(const std::string& bytes) {
  std::vector<BlockEnd> ends = {{sizeof(format::FileHeader), 0}};
  while (ends.back().offset + sizeof(format::Trailer) < bytes.size()) {
    format::BlockHeader header{};
    std::memcpy(&header, bytes.data() + ends.back().offset, sizeof header);
    ends.push_back({ends.back().offset + sizeof header + header.stored_bytes, ends.back().events + header.events});
  }
  return ends;
}

bool is_prefix(const std::vector<Event>& part, const std::vector<Event>& whole) {
  return part.size() <= whole.size() && std::equal(part.begin(), part.end(), whole.begin());
}

const Trace& small_trace() {
  static const Trace trace = some_trace(200);
  return trace;
}
const Trace& long_trace() {
  static const Trace trace = some_trace(3 * std::size_t{kBlockEvents} + 1234);
  return trace;
}

// --- binary ---

TEST(TraceFile, reads_what_was_written) {
  for (const Trace* t : {&small_trace(), &long_trace()}) {
    auto source = read_binary_trace(write_binary(*t), {}, false);
    const Reading r = read_all(*source);
    EXPECT_EQ(r.error, "");
    EXPECT_TRUE(r.events == t->events);
    EXPECT_EQ(source->names().threads(), t->names.threads());
    EXPECT_EQ(source->names().sites(), t->names.sites());
    EXPECT_EQ(source->names().symbols(), t->names.symbols());
  }
}

TEST(TraceFile, holds_no_events_at_all) {
  const Reading r = read_bytes(write_binary({}));
  EXPECT_EQ(r.error, "");
  EXPECT_TRUE(r.events.empty());
}

TEST(TraceFile, notices_every_flipped_bit) {
  const std::string good = write_binary(small_trace());
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ 1 << bit);
      ASSERT_NE(read_bytes(bad).error, "") << "byte " << at << ", bit " << bit;
      const Reading salvaged = read_bytes(bad, true);
      ASSERT_TRUE(is_prefix(salvaged.events, small_trace().events)) << "byte " << at << ", bit " << bit;
      ASSERT_NE(salvaged.error + salvaged.lost, "") << "byte " << at << ", bit " << bit;
    }
  }
}

TEST(TraceFile, salvages_the_blocks_before_a_flipped_bit) {
  const std::string good = write_binary(long_trace());
  const std::vector<BlockEnd> ends = block_ends(good);
  for (std::size_t at = sizeof(format::FileHeader); at < good.size(); at += good.size() / 29) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    const Reading r = read_bytes(bad);
    ASSERT_NE(r.error.find("at offset"), std::string::npos) << r.error;
    const auto damaged = std::ranges::find_if(ends, [&](const BlockEnd& e) { return e.offset > at; });
    const std::size_t complete = damaged == ends.end() ? long_trace().events.size() : std::prev(damaged)->events;
    const Reading salvaged = read_bytes(bad, true);
    ASSERT_EQ(salvaged.error, "");
    ASSERT_NE(salvaged.lost, "");
    ASSERT_EQ(salvaged.events.size(), complete) << "byte " << at;
    ASSERT_TRUE(is_prefix(salvaged.events, long_trace().events));
  }
}

void expect_cut(const std::string& good, const std::vector<BlockEnd>& ends, const Trace& t, std::size_t size) {
  const std::string bad = good.substr(0, size);
  const Reading r = read_bytes(bad);
  const std::string expected =
      size == 0 ? "memory: file is empty, not a trace" : "memory: trace is truncated at offset " + std::to_string(size);
  ASSERT_EQ(r.error, expected);
  const Reading salvaged = read_bytes(bad, true);
  if (size < sizeof(format::FileHeader)) {
    ASSERT_EQ(salvaged.error, expected);
    return;
  }
  std::size_t complete = 0;
  for (const BlockEnd& e : ends) complete = e.offset <= size ? e.events : complete;
  ASSERT_EQ(salvaged.error, "");
  ASSERT_EQ(salvaged.lost, expected);
  ASSERT_EQ(salvaged.events.size(), complete) << "cut at " << size;
  ASSERT_TRUE(is_prefix(salvaged.events, t.events));
}

TEST(TraceFile, notices_a_cut_anywhere_and_salvages_the_complete_blocks) {
  const std::string small = write_binary(small_trace());
  for (std::size_t size = 0; size < small.size(); ++size) {
    ASSERT_NO_FATAL_FAILURE(expect_cut(small, block_ends(small), small_trace(), size));
  }
  const std::string large = write_binary(long_trace());
  const std::vector<BlockEnd> ends = block_ends(large);
  ASSERT_EQ(ends.back().events, long_trace().events.size());
  for (const BlockEnd& end : ends) {
    for (const std::size_t size : {end.offset - 1, end.offset, end.offset + 1, end.offset + 100}) {
      if (size >= large.size()) continue;
      ASSERT_NO_FATAL_FAILURE(expect_cut(large, ends, long_trace(), size));
    }
  }
}

TEST(TraceFile, says_what_is_wrong_with_a_header) {
  const std::string good = write_binary(small_trace());
  const auto error_with = [&](std::size_t at, char c) {
    std::string bad = good;
    bad[at] = c;
    return read_bytes(bad).error;
  };
  EXPECT_EQ(error_with(0, 'x'), "memory: not a Photofinish trace (wrong magic at offset 0)");
  EXPECT_EQ(error_with(8, 2), "memory: trace format version 2 at offset 8, this program reads version 1");
  EXPECT_EQ(error_with(12, 1), "memory: wrong header at offset 12");
  EXPECT_EQ(read_bytes(good + "x").error,
            "memory: bytes after the end of the trace at offset " + std::to_string(good.size()));
  EXPECT_EQ(read_bytes("MZ").error, "memory: not a Photofinish trace (wrong magic at offset 0)");
}

TEST(TraceFile, finds_an_event_by_its_number) {
  const std::vector<Event>& events = long_trace().events;
  const std::string good = write_binary(long_trace());
  for (const bool whole : {true, false}) {  // without its end there is no index: it is read from the start
    const std::string bytes = whole ? good : good.substr(0, block_ends(good).back().offset - 10);
    for (const std::size_t from : {std::size_t{0}, std::size_t{1}, std::size_t{kBlockEvents} - 1,
                                   std::size_t{kBlockEvents}, std::size_t{2} * kBlockEvents + 4096, events.size() - 1,
                                   events.size(), events.size() + 1, events.size() + 1000000}) {
      auto source = read_binary_trace(bytes, {.salvage = !whole}, false);
      ASSERT_TRUE(source->seek(from));
      const Reading r = read_all(*source);
      ASSERT_EQ(r.error, "");
      ASSERT_EQ(r.events.size(), events.size() - std::min(from, events.size())) << "from " << from;
      ASSERT_TRUE(std::equal(r.events.begin(), r.events.end(), events.end() - static_cast<ptrdiff_t>(r.events.size())));
      if (from < events.size() && from > 0) {
        auto again = read_binary_trace(bytes, {.salvage = !whole}, false);
        ASSERT_TRUE(again->seek(from));
        ASSERT_TRUE(again->next());
        EXPECT_EQ(again->place(0), "event " + std::to_string(from + 1));
      }
    }
  }
}

// The index saves reading what comes before: damage there does not matter, but with it there is no reading through.
TEST(TraceFile, does_not_read_what_it_skips) {
  std::string bytes = write_binary(long_trace());
  const std::vector<BlockEnd> ends = block_ends(bytes);
  const auto first_events = std::ranges::find_if(ends, [](const BlockEnd& e) { return e.events != 0; });
  char& byte = bytes[first_events->offset - 1];
  byte = static_cast<char>(byte ^ 1);
  EXPECT_NE(read_bytes(bytes).error, "");
  auto source = read_binary_trace(bytes, {}, false);
  ASSERT_TRUE(source->seek(2 * std::size_t{kBlockEvents}));
  EXPECT_EQ(read_all(*source).error, "");
}

// Names may come after the last event; seeking past the end finds nothing, and no fault.
TEST(TraceFile, may_end_with_names) {
  Trace t = some_trace(kBlockEvents);
  const std::string path = temporary("names.pft");
  Result<std::unique_ptr<TraceWriter>> writer = create_trace(path);
  ASSERT_TRUE(writer);
  add_all(**writer, t);
  t.names.add_symbol({1, 2, "late"});
  ASSERT_TRUE((*writer)->finish(t.names));
  for (const std::size_t from : {std::size_t{0}, std::size_t{kBlockEvents} - 1, std::size_t{kBlockEvents} + 5}) {
    auto source = read_binary_trace(contents(path), {}, false);
    ASSERT_TRUE(source->seek(from));
    const Reading r = read_all(*source);
    EXPECT_EQ(r.error, "");
    EXPECT_EQ(r.events.size(), kBlockEvents - std::min<std::size_t>(from, kBlockEvents));
    EXPECT_EQ(source->names().symbols().back().name, "late");
  }
  std::filesystem::remove(path);
}

// --- every format ---

// Sites with all their fields, symbols and time, too.
TEST(TraceFile, is_the_same_in_every_format) {
  Trace t = some_trace(5000);
  t.names.add_site({.location = {},
                    .function = "operator|(A, B)",
                    .file = "a b.cpp",
                    .module = "prog",
                    .line = 12,
                    .column = 3,
                    .offset = 0x11d3});
  t.names.add_symbol({0x4000, 8, "a|b\nc"});
  for (Event& e : t.events) {
    if (e.target % 5 == 0) e.site = SiteId{static_cast<uint32_t>(t.names.sites().size() - 1)};
  }
  for (const char* ending : {"a.pft", "a.txt", "a.txt.gz"}) {
    const std::string path = temporary(ending);
    Result<std::unique_ptr<TraceWriter>> writer = create_trace(path);
    ASSERT_TRUE(writer);
    add_all(**writer, t);
    ASSERT_TRUE((*writer)->finish(t.names));
    Result<std::unique_ptr<TraceSource>> source = open_trace(path);
    ASSERT_TRUE(source);
    std::vector<Event> read = read_all(**source).events;
    const Dictionary& names = (*source)->names();
    ASSERT_EQ(read.size(), t.events.size()) << ending;
    for (std::size_t i = 0; i < read.size(); ++i) {  // ids of sites may differ, what they say may not
      ASSERT_EQ(names.sites()[index(read[i].site)], t.names.sites()[index(t.events[i].site)]) << ending;
      read[i].site = t.events[i].site;
    }
    EXPECT_TRUE(read == t.events) << ending;
    EXPECT_EQ(names.symbols(), t.names.symbols()) << ending;
    EXPECT_GT((*source)->nanoseconds(), 0U) << ending;
    std::filesystem::remove(path);
  }
}

TEST(TraceFile, refuses_to_write_what_a_format_lacks) {
  const auto error_of = [](const std::string& ending, const Event& e, const Dictionary& names) {
    const std::string path = temporary(ending);
    Result<std::unique_ptr<TraceWriter>> writer = create_trace(path);
    EXPECT_TRUE(writer);
    const Status added = (*writer)->add({&e, 1}, names);
    const std::string message = added ? "" : added.error().message;
    return message.substr(0, path.size()) == path ? message.substr(path.size()) : message;
  };
  Dictionary names;
  names.add_thread("T0");
  EXPECT_EQ(error_of("a.std", {.op = Op::Fence}, names), ": STD has no operation 'fence', .txt has (event 1)");
  EXPECT_EQ(error_of("a.std", {.target = kAbstract, .size = 8, .has_value = true}, names),
            ": STD has no value of an access, .txt has (event 1)");
  EXPECT_EQ(error_of("a.std", {.target = kAbstract, .size = 4}, names),
            ": STD has no access of 4 bytes at V0, .txt has (event 1)");
  EXPECT_EQ(error_of("a.std", {.target = kAbstract, .size = 8}, names), "");
  names.add_thread("a|b");
  EXPECT_EQ(error_of("a.std", {.target = kAbstract, .size = 8}, names), ": STD cannot have the name 'a|b', .txt can");
  EXPECT_EQ(error_of("a.txt", {.target = kAbstract, .size = 8}, names), "");
  names.add_thread("a|b");
  EXPECT_EQ(error_of("a.txt", {.target = kAbstract, .size = 8}, names),
            ": text cannot tell two threads or objects of the name 'a|b' apart");
  EXPECT_FALSE(std::filesystem::exists(temporary("a.std.partial")));
}

// --- text ---

// The error, or the lines of what was read.
std::string read_text(const std::string& name, const std::string& text) {
  const std::string path = temporary(name);
  std::ofstream(path, std::ios::binary) << text;
  Result<std::unique_ptr<TraceSource>> source = open_trace(path);
  EXPECT_TRUE(source);
  std::string got;
  const Reading r = read_all(**source);
  for (const Event& e : r.events) got += format_event(e, (*source)->names());
  std::filesystem::remove(path);
  return r.error.empty() ? got : r.error.substr(path.size());
}

TEST(TraceFile, reads_text_with_or_without_a_last_newline) {
  EXPECT_EQ(read_text("a.std", "T0|w(V1)|1\nT0|w(V1)|2\n"), "T0|w(V1)|1\nT0|w(V1)|2\n");
  EXPECT_EQ(read_text("a.std", "T0|w(V1)|1\r\n\r\n# comment\n\nT0|w(V1)|2"), "T0|w(V1)|1\nT0|w(V1)|2\n");
}

TEST(TraceFile, says_in_which_line_text_is_wrong) {
  using namespace std::string_literals;
  EXPECT_EQ(read_text("a.std", ""), ": file is empty, not a trace");
  EXPECT_EQ(read_text("a.std", "T0|w(V1)|1\n\noops\n"),
            ": expected thread|operation(operand)|location, found 'oops' at line 3");
  EXPECT_EQ(read_text("a.std", "T0|w(V1)|1\0x\n"s), ": zero byte in the text at line 1");
  EXPECT_EQ(read_text("a.std", "T0|w(V1)|1\nT0|w(V1)|2\0x"s), ": zero byte in the text at line 2");
  EXPECT_EQ(read_text("a.std", "T0|w(V1)|1\n\0"s), ": zero byte in the text at line 2");
  EXPECT_EQ(read_text("a.std", "T0|w(V1)|1\n" + std::string(65537, 'x') + "\n"),
            ": line longer than 65536 characters at line 2");
  EXPECT_EQ(read_text("a.std", std::string(1000000, 'x')), ": line longer than 65536 characters at line 1");
  EXPECT_EQ(read_text("a.std", "\x1f\x8bnonsense"), ": damaged gzip data (unknown compression method) at line 1");
}

TEST(TraceFile, takes_a_line_of_the_greatest_length) {
  const std::string line = "T0|w(" + std::string(65536 - 7, 'x') + ")|";
  ASSERT_EQ(line.size(), 65536U);
  std::string text;
  for (int i = 0; i < 20; ++i) text += line + "\n";
  EXPECT_EQ(read_text("a.std", text), text);
}

TEST(TraceFile, says_what_is_wrong_with_a_directive) {
  for (const char* wrong :
       {"#!site #1 f|f.c|1|2|prog", "#!site #1 f|f.c|1|2|prog|3|4", "#!site #1 |||1|2||3", "#!site 1 f|f.c|1|2|prog|3",
        "#!site #1 f|f.c|4294967296|2|prog|3", "#!site #1 f|f.c|x|2|prog|3", "#!site #1 f\\|f.c|1|2|prog|3"}) {
    EXPECT_EQ(read_text("a.txt", wrong), ": wrong site at line 1") << wrong;
  }
  EXPECT_EQ(read_text("a.txt", "#!symbol 1|2|"), ": wrong symbol at line 1");
  EXPECT_EQ(read_text("a.txt", "#!symbol 1|x|a"), ": wrong symbol at line 1");
  EXPECT_EQ(read_text("a.txt", "#!time soon"), ": wrong time at line 1");
  EXPECT_EQ(read_text("a.txt", "#!colour red"), ": unknown directive 'colour' at line 1");
  EXPECT_EQ(read_text("a.std", "#!colour red\n"), "") << "in STD it is a comment";
}

}  // namespace
}  // namespace pf
