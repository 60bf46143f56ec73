// What each engine guarantees, as a check of its reports against the oracle; the same for every host that runs it.
#pragma once
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/race.h"
#include "property/oracle.h"

namespace pf {

// What an engine reported of a trace, as pairs of event indices.
struct Reports {
  std::map<oracle::Race, Verdict> pairs;
  std::string lie;  // the first wrong detail of a report, empty if there is none
};

// The empty string when the reports keep it, else what is wrong.
using Guarantee = std::function<std::string(std::span<const Event>, const Reports&)>;

// By the engine's name.
extern const std::map<std::string_view, Guarantee> kGuarantees;

// No false alarm.
std::string only_real_races(std::span<const Event> trace, const Reports& reports);

// Exactly the racy variables, and the first race of each is the trace's first.
std::string racy_variables(std::span<const Event> trace, const Reports& reports);

// PACER, on a trace with sampling marks: only races whose first access was sampled; and of each variable, the first
// access whose last racing predecessor was sampled.
std::string sampled_shortest_races(std::span<const Event> trace, const Reports& reports);

// The pairs of definition 1 of CRSampler: the first access's thread has not synchronized between the two; or, symmetric, either has not.
std::vector<oracle::Race> clock_races(std::span<const Event> trace, bool symmetric);
// Exactly the accesses that are in one with an earlier access, and each of them is a race.
Guarantee every_clock_race(bool symmetric);

// The hybrids: whether the locks that protect two accesses leave a pair of them to be reported.
using LocksAllow = bool (*)(const std::set<uint64_t>&, const std::set<uint64_t>&);
bool no_common_lock(const std::set<uint64_t>& a, const std::set<uint64_t>& b);
bool one_without_lock(const std::set<uint64_t>& a, const std::set<uint64_t>& b);
// The pairs that weak happens-before and the locks leave, real if full happens-before leaves them too.
std::map<oracle::Race, Verdict> hybrid_races(std::span<const Event> trace, LocksAllow allow);
Guarantee only_hybrid_races(LocksAllow allow);
Guarantee every_hybrid_race(LocksAllow allow);

}  // namespace pf
