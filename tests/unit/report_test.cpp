// Reports: how a place is written, what makes two races the same, and JSON that is valid whatever the names are.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "report/renderer.h"

namespace pf::report {
namespace {

Frame place(std::string location) { return {std::move(location), {}, {}, {}}; }

Race some_race() {
  Race r;
  r.engine = "fasttrack";
  r.verdict = "real";
  r.location = {.kind = "variable", .name = "V1", .size = {}, .offset = {}, .origin = {}};
  r.first = {.thread_id = 0, .thread_name = "T0", .op = "write", .size = 8, .locks = {"L1"}, .stack = {place("12")}};
  r.second = {.thread_id = 1, .thread_name = "T1", .op = "read", .size = 8, .locks = {}, .stack = {place("34")}};
  return r;
}

// What a renderer writes to its file.
template <class Show>
std::string rendered(std::unique_ptr<Renderer> (*make)(std::FILE*), Show show) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* out = open_memstream(&text, &size);
  show(*make(out));
  std::fclose(out);
  std::string copy(text, size);
  std::free(text);
  return copy;
}

nlohmann::json as_json(const Race& race) {
  return nlohmann::json::parse(rendered(make_json_renderer, [&](Renderer& r) { r.race(race); }));
}

TEST(Frame, is_written_with_what_is_known) {
  EXPECT_EQ(place("345").text(), "345");
  const Frame full{.location = {},
                   .function = "deposit",
                   .file = "bank.cpp",
                   .module = "bank",
                   .line = 12,
                   .column = 3,
                   .offset = 0x11d3};
  EXPECT_EQ(full.text(), "deposit bank.cpp:12:3");
  EXPECT_EQ((Frame{.location = {}, .function = "f", .file = {}, .module = "bank", .offset = 0x11d3}.text()),
            "f bank+0x11d3");
  EXPECT_EQ((Frame{.location = {}, .function = {}, .file = {}, .module = "bank", .offset = 16}.text()), "bank+0x10");
  EXPECT_EQ(Frame{}.text(), "unknown place");
}

TEST(RaceId, depends_on_the_two_places_and_the_memory_alone) {
  const Race race = some_race();
  Race same = race;
  std::swap(same.first, same.second);
  same.engine = "shb";
  same.count = 7;
  same.first.thread_name = "another";
  same.first.locks.clear();
  EXPECT_EQ(same.id(), race.id());
  EXPECT_EQ(race.id().size(), 16U);
  Race other = race;
  other.location.name = "V2";
  EXPECT_NE(other.id(), race.id());
  other = race;
  other.first.stack[0].location = "13";
  EXPECT_NE(other.id(), race.id());
}

TEST(RaceKind, is_the_pair_in_its_order) {
  Race race = some_race();
  EXPECT_EQ(race.kind(), "write-read");
  race.second.op = "free";
  EXPECT_EQ(race.kind(), "write-free");
}

TEST(JsonRenderer, leaves_out_what_is_not_known) {
  Race race = some_race();
  EXPECT_EQ(as_json(race)["location"], nlohmann::json::parse(R"({"kind":"variable","name":"V1"})"));
  race.location = {.kind = "heap", .name = {}, .size = 64, .offset = 8, .origin = place("5")};
  EXPECT_EQ(as_json(race)["location"],
            nlohmann::json::parse(R"({"kind":"heap","size":64,"offset":8,"stack":[{"location":"5"}]})"));
  race.first.stack = {
      Frame{.location = {}, .function = "f", .file = "f.c", .module = "prog", .line = 3, .column = 0, .offset = 0x10}};
  EXPECT_EQ(as_json(race)["accesses"][0]["stack"],
            nlohmann::json::parse(R"([{"function":"f","file":"f.c","line":3,"module":"prog","offset":"0x10"}])"));
}

RC_GTEST_PROP(JsonRenderer, writes_one_valid_line_whatever_the_names_are,
              (const std::string& a, const std::string& b)) {
  Race race = some_race();
  race.location.name = a;
  race.first.thread_name = b;
  race.first.locks = {a, b};
  race.second.stack[0].location = b;
  const std::string line = rendered(make_json_renderer, [&](Renderer& r) { r.race(race); });
  RC_ASSERT(line.find('\n') == line.size() - 1);
  RC_ASSERT(nlohmann::json::parse(line).at("type") == "race");
}

TEST(JsonRenderer, keeps_names_that_are_text) {
  Race race = some_race();
  race.first.thread_name = "Fäden \"eins\"\n";
  EXPECT_EQ(as_json(race)["accesses"][0]["thread"]["name"], "Fäden \"eins\"\n");
}

}  // namespace
}  // namespace pf::report
