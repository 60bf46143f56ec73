// Names and the ids they get.
#include "trace/dictionary.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace pf {
namespace {

TEST(Dictionary, gives_the_same_name_the_same_id) {
  Dictionary names;
  const ThreadId main = names.thread("main"), worker = names.thread("worker");
  EXPECT_NE(main, worker);
  EXPECT_EQ(names.thread("main"), main);
  EXPECT_EQ(names.thread_name(worker), "worker");
  EXPECT_EQ(names.site("12"), names.site("12"));
  EXPECT_NE(names.site("12"), names.site("13"));
  EXPECT_NE(names.site("12"), kNoSite);
  EXPECT_EQ(names.object(ObjectKind::Lock, "m"), names.object(ObjectKind::Lock, "m"));
}

TEST(Dictionary, reads_addresses_and_numbers_from_names) {
  Dictionary names;
  const auto variable = [&](const char* name) { return names.object(ObjectKind::Variable, name); };
  EXPECT_EQ(variable("0x7f00"), 0x7f00U);
  EXPECT_EQ(variable("V3"), abstract_variable(3));
  EXPECT_EQ(variable("V0"), abstract_variable(0));
  EXPECT_EQ(names.object(ObjectKind::Lock, "L3"), abstract_object(3));
  EXPECT_EQ(names.object(ObjectKind::Barrier, "B3"), abstract_object(3));
  EXPECT_TRUE(names.objects(ObjectKind::Variable).empty()) << "none of these needs an entry";
}

// What looks like a number and is none, or is too large for one, is a name like any other.
TEST(Dictionary, keeps_other_names_apart) {
  Dictionary names;
  const std::vector<std::string> others = {"V",
                                           "V03",
                                           "V3x",
                                           "L3",
                                           "v3",
                                           "V99999999999999999999",
                                           "counter",
                                           "0x",
                                           "0x10000000000000000",
                                           "0xg",
                                           "0X10",
                                           "V-1",
                                           "0xffffffffffffffff"};
  for (std::size_t i = 0; i < others.size(); ++i) {
    const uint64_t id = names.object(ObjectKind::Variable, others[i]);
    EXPECT_EQ(id, named_variable(i)) << others[i];
    EXPECT_EQ(names.object_name(ObjectKind::Variable, id), others[i]);
  }
}

TEST(Dictionary, names_the_bytes_of_a_variable) {
  Dictionary names;
  const uint64_t counter = names.object(ObjectKind::Variable, "counter");
  EXPECT_EQ(names.object_name(ObjectKind::Variable, counter + 5), "counter+5");
  EXPECT_EQ(names.object_name(ObjectKind::Variable, abstract_variable(7) + 1), "V7+1");
  EXPECT_EQ(names.object_name(ObjectKind::Variable, 0x7f01), "0x7f01");
  EXPECT_EQ(names.object_name(ObjectKind::Lock, abstract_object(9)), "L9");
}

TEST(Dictionary, keeps_the_kinds_apart) {
  Dictionary names;
  names.object(ObjectKind::Lock, "x");
  const uint64_t y = names.object(ObjectKind::Condition, "y");
  EXPECT_EQ(y, named_object(0));
  EXPECT_EQ(names.object_name(ObjectKind::Condition, y), "y");
  EXPECT_EQ(names.object_name(ObjectKind::Lock, y), "x");
}

TEST(Dictionary, takes_a_name_as_such_if_told) {
  Dictionary names;
  const uint64_t id = names.named(ObjectKind::Variable, "0x10");
  EXPECT_NE(id, names.object(ObjectKind::Variable, "0x10"));
  ASSERT_NE(names.given_name(ObjectKind::Variable, id + 3), nullptr);
  EXPECT_EQ(*names.given_name(ObjectKind::Variable, id + 3), "0x10");
  EXPECT_EQ(names.given_name(ObjectKind::Variable, 0x10), nullptr);
  EXPECT_EQ(names.given_name(ObjectKind::Variable, id + 8), nullptr);
}

TEST(Dictionary, keeps_labels_and_locations_apart) {
  Dictionary names;
  const Site site{.location = {}, .function = "f", .file = "f.c", .module = {}};
  const SiteId described = names.add_site(site, "#1");
  EXPECT_EQ(names.labelled("#1"), described);
  EXPECT_NE(names.site("#1"), described);
  EXPECT_FALSE(names.labelled("#2"));
}

TEST(Dictionary, tells_of_a_name_that_two_have) {
  Dictionary names;
  names.add_thread("worker");
  names.add_object(ObjectKind::Lock, "worker");
  names.add_site({.location = "worker", .function = {}, .file = {}, .module = {}});
  names.add_site({.location = "worker", .function = {}, .file = {}, .module = {}});
  EXPECT_EQ(names.repeated(), "");
  names.add_object(ObjectKind::Lock, "worker");
  EXPECT_EQ(names.repeated(), "worker");
}

TEST(Dictionary, finds_the_symbol_of_an_address) {
  Dictionary names;
  names.add_symbol({100, 10, "a"});
  names.add_symbol({~uint64_t{0} - 1, 2, "last"});
  EXPECT_EQ(names.symbol_at(99), nullptr);
  EXPECT_EQ(names.symbol_at(100)->name, "a");
  EXPECT_EQ(names.symbol_at(109)->name, "a");
  EXPECT_EQ(names.symbol_at(110), nullptr);
  EXPECT_EQ(names.symbol_at(~uint64_t{0})->name, "last");
}

RC_GTEST_PROP(Dictionary, names_every_object_as_it_was_named, (const std::vector<std::string>& given)) {
  Dictionary names;
  std::map<std::string, uint64_t> ids;
  for (const std::string& name : given) {
    const uint64_t id = names.named(ObjectKind::Semaphore, name);
    RC_ASSERT(ids.emplace(name, id).first->second == id);
    RC_ASSERT(names.object_name(ObjectKind::Semaphore, id) == name);
  }
  RC_ASSERT(names.objects(ObjectKind::Semaphore).size() == ids.size());
}

}  // namespace
}  // namespace pf
