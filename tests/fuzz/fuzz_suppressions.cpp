// Suppression files: any text is read, and what is read can be matched against a race.
#include <string>

#include "expect.h"
#include "report/suppress.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  pf::report::Suppressions suppressions = pf::report::Suppressions::parse(text);
  for (const pf::report::Suppression& s : suppressions.all()) PF_EXPECT(!s.pattern.empty());
  for (const std::string& problem : suppressions.problems()) PF_EXPECT(problem.starts_with("line "));
  pf::report::Race race;
  race.location = {.kind = "global", .name = "counter", .size = {}, .offset = {}, .origin = {}};
  race.first.stack = {{.location = {}, .function = "deposit", .file = "bank.cpp", .module = "bank"}};
  const bool covered = suppressions.covers(race);
  uint64_t hits = 0;
  for (const pf::report::Suppression& s : suppressions.all()) hits += s.hits;
  PF_EXPECT(hits == (covered ? 1 : 0));
  return 0;
}
