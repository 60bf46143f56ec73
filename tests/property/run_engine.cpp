#include "property/run_engine.h"

#include <algorithm>
#include <set>

namespace pf {
namespace {

std::set<oracle::Held> as_set(const std::vector<HeldLock>& locks) {
  std::set<oracle::Held> set;
  for (const HeldLock& l : locks) set.insert({l.lock, l.mode == LockMode::Write});
  return set;
}

std::string check_access(const RaceAccess& a, const std::vector<HeldLock>& locks, const Event& e,
                         const std::vector<oracle::Held>& held) {
  const uint64_t size = e.op == Op::Free ? std::min<uint64_t>(e.value, kMaxAccessSize) : e.size;
  if (a.thread != e.thread) return "thread";
  if (a.op != e.op) return "operation";
  if (a.size != size) return "size";
  if (as_set(locks) != std::set<oracle::Held>(held.begin(), held.end())) return "locks held";
  return {};
}

}  // namespace

Reports run_engine(DetectorStage& engine, std::span<const Event> trace) {
  engine.process(trace);
  const Findings findings = engine.findings();
  const auto held = oracle::locks_held(trace);
  Reports reports;
  uint64_t counted = 0;
  for (const FoundRace& race : findings.races) {
    counted += race.record.count;
    // By site, since shrinking leaves events out without numbering the rest anew.
    const auto event_at = [&](SiteId site) {
      return static_cast<std::size_t>(std::ranges::find(trace, site, &Event::site) - trace.begin());
    };
    const std::size_t first = event_at(race.record.first.site), second = event_at(race.record.second.site);
    const bool fresh = reports.pairs.try_emplace({first, second}, race.record.verdict).second;
    if (!fresh || race.record.count != 1) reports.lie = "count: the pair occurs once";
    std::string lie = check_access(race.record.first, race.first_locks, trace[first], held[first]);
    if (lie.empty()) lie = check_access(race.record.second, race.second_locks, trace[second], held[second]);
    if (reports.lie.empty()) reports.lie = lie;
  }
  if (counted != findings.dynamic_races) reports.lie = "count of dynamic races";
  return reports;
}

std::map<SitePair, Verdict> run_by_site(DetectorStage& engine, std::span<const Event> trace) {
  engine.process(trace);
  std::map<SitePair, Verdict> found;
  for (const FoundRace& race : engine.findings().races) {
    const auto [low, high] = std::minmax({index(race.record.first.site), index(race.record.second.site)});
    found.emplace(SitePair{low, high, race.record.memory.address}, race.record.verdict);
  }
  return found;
}

}  // namespace pf
