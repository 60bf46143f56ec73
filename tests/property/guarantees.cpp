#include "property/guarantees.h"

#include <algorithm>

namespace pf {

using oracle::Race;
using oracle::Relation;

namespace {

std::set<std::size_t> seconds(const Reports& reports) {
  std::set<std::size_t> set;
  for (const auto& [race, verdict] : reports.pairs) set.insert(race.second);
  return set;
}

std::string describe(const Race& r) { return "events " + std::to_string(r.first) + " and " + std::to_string(r.second); }

std::string only_races_of(const Reports& reports, const std::vector<Race>& truth) {
  for (const auto& [r, verdict] : reports.pairs) {
    if (std::ranges::find(truth, r) == truth.end()) return "false alarm: " + describe(r);
  }
  return {};
}

// Exactly the accesses that race with an earlier one under the relation.
template <Relation kRelation>
std::string every_racy_access(std::span<const Event> trace, const Reports& reports) {
  const std::vector<Race> truth = oracle::races(trace, kRelation);
  const std::string alarm = only_races_of(reports, truth);
  if (!alarm.empty()) return alarm;
  const auto found = seconds(reports);
  for (const Race& r : truth) {
    if (!found.contains(r.second)) return "missed: " + describe(r);
  }
  return {};
}

// A byte of memory from one alloc or free to the next: what "variable" means for accesses that overlap in part.
struct Variable {
  uint64_t address;
  std::size_t life;
  friend auto operator<=>(const Variable&, const Variable&) = default;
};

std::pair<uint64_t, uint64_t> bytes_of(const Event& e) { return {e.target, e.op == Op::Free ? e.value : e.size}; }

std::vector<Variable> shared_variables(std::span<const Event> trace, const Race& r) {
  const auto [a, a_size] = bytes_of(trace[r.first]);
  const auto [b, b_size] = bytes_of(trace[r.second]);
  std::vector<Variable> variables;
  for (uint64_t byte = std::max(a, b); byte < std::min(a + a_size, b + b_size); ++byte) {
    const auto covers = [&](const Event& e) {
      return (e.op == Op::Alloc || e.op == Op::Free) && byte - e.target < e.value;
    };
    const auto lives = [&](std::size_t end) {
      return static_cast<std::size_t>(
          std::count_if(trace.begin(), trace.begin() + static_cast<ptrdiff_t>(end), covers));
    };
    // A free ends one life as the second of a race and begins the next as the first.
    if (lives(r.first + (trace[r.first].op == Op::Free ? 1 : 0)) == lives(r.second))
      variables.push_back({byte, lives(r.second)});
  }
  return variables;
}

std::map<Variable, std::size_t> first_race_of_each(std::span<const Event> trace, const auto& races) {
  std::map<Variable, std::size_t> first;
  for (const Race& r : races) {
    for (const Variable& v : shared_variables(trace, r)) {
      const auto [it, fresh] = first.try_emplace(v, r.second);
      it->second = std::min(it->second, r.second);
    }
  }
  return first;
}

}  // namespace

std::string only_real_races(std::span<const Event> trace, const Reports& reports) {
  return only_races_of(reports, oracle::races(trace, Relation::Hb));
}

std::string racy_variables(std::span<const Event> trace, const Reports& reports) {
  const std::vector<Race> truth = oracle::races(trace, Relation::Hb);
  const std::string alarm = only_races_of(reports, truth);
  if (!alarm.empty()) return alarm;
  std::vector<Race> reported;
  for (const auto& [race, verdict] : reports.pairs) reported.push_back(race);
  const auto found = first_race_of_each(trace, reported);
  for (const auto& [variable, second] : first_race_of_each(trace, truth)) {
    const auto it = found.find(variable);
    if (it == found.end()) return "missed the race of a variable at event " + std::to_string(second);
    if (it->second != second) return "first race reported late, it is at event " + std::to_string(second);
  }
  return {};
}

// --- clock races ---

namespace {

bool synchronizes(const Event& e) {
  switch (e.op) {
    case Op::AtomicLoad:
    case Op::AtomicStore:
    case Op::AtomicRmw: return e.order != MemoryOrder::Relaxed;
    case Op::Acquire:
    case Op::Release:
    case Op::ReadAcquire:
    case Op::ReadRelease:
    case Op::Fork:
    case Op::Join:
    case Op::Wait:
    case Op::Wake:
    case Op::Notify:
    case Op::BarrierEnter:
    case Op::BarrierLeave:
    case Op::SemPost:
    case Op::SemWait:
    case Op::Fence: return true;
    default: return false;
  }
}

// Whether thread t neither synchronizes nor is born or joined in these events.
bool is_quiet(std::span<const Event> events, ThreadId t) {
  return std::ranges::none_of(events, [t](const Event& e) {
    const bool concerns = (e.op == Op::Fork || e.op == Op::Join) && e.target == index(t);
    return concerns || (e.thread == t && synchronizes(e));
  });
}

}  // namespace

std::vector<Race> clock_races(std::span<const Event> trace, bool symmetric) {
  std::vector<Race> races;
  for (const Race& r : oracle::conflicts(trace)) {
    // The first access may itself be an atomic that releases, the second one that acquires.
    const bool first_quiet = is_quiet(trace.subspan(r.first, r.second - r.first), trace[r.first].thread);
    const bool second_quiet = is_quiet(trace.subspan(r.first + 1, r.second - r.first), trace[r.second].thread);
    if (first_quiet || (symmetric && second_quiet)) races.push_back(r);
  }
  return races;
}

Guarantee every_clock_race(bool symmetric) {
  return [symmetric](std::span<const Event> trace, const Reports& reports) -> std::string {
    const std::vector<Race> truth = clock_races(trace, symmetric), real = oracle::races(trace, Relation::Hb);
    for (const Race& r : truth) {
      if (std::ranges::find(real, r) == real.end()) return "a clock race that is no race: " + describe(r);
    }
    const std::string alarm = only_races_of(reports, truth);
    if (!alarm.empty()) return alarm;
    const auto found = seconds(reports);
    for (const Race& r : truth) {
      if (!found.contains(r.second)) return "missed: " + describe(r);
    }
    return {};
  };
}

// --- hybrids ---

namespace {

// A read lock protects reads only.
std::set<uint64_t> protecting(const Event& e, const std::vector<oracle::Held>& held) {
  std::set<uint64_t> locks;
  for (const oracle::Held& l : held) {
    if (l.for_writing || !writes(e.op)) locks.insert(l.lock);
  }
  return locks;
}

}  // namespace

bool no_common_lock(const std::set<uint64_t>& a, const std::set<uint64_t>& b) {
  return std::ranges::none_of(a, [&](uint64_t lock) { return b.contains(lock); });
}
bool one_without_lock(const std::set<uint64_t>& a, const std::set<uint64_t>& b) { return a.empty() || b.empty(); }

std::map<Race, Verdict> hybrid_races(std::span<const Event> trace, LocksAllow allow) {
  const auto held = oracle::locks_held(trace);
  const std::vector<Race> real = oracle::races(trace, Relation::Hb);
  std::map<Race, Verdict> truth;
  for (const Race& r : oracle::races(trace, Relation::WeakHb)) {
    if (!allow(protecting(trace[r.first], held[r.first]), protecting(trace[r.second], held[r.second]))) continue;
    const bool is_real = std::ranges::find(real, r) != real.end();
    truth.emplace(r, is_real ? Verdict::Real : Verdict::Potential);
  }
  return truth;
}

namespace {

std::string check_only_hybrid_races(std::span<const Event> trace, const Reports& reports, LocksAllow allow) {
  const auto truth = hybrid_races(trace, allow);
  for (const auto& [race, verdict] : reports.pairs) {
    const auto it = truth.find(race);
    if (it == truth.end()) return "false alarm: " + describe(race);
    if (it->second != verdict) return "wrong verdict: " + describe(race) + " is " + std::string(name(it->second));
  }
  return {};
}

std::string check_every_hybrid_race(std::span<const Event> trace, const Reports& reports, LocksAllow allow) {
  const std::string alarm = check_only_hybrid_races(trace, reports, allow);
  if (!alarm.empty()) return alarm;
  for (const auto& [race, verdict] : hybrid_races(trace, allow)) {
    if (!reports.pairs.contains(race)) return "missed: " + describe(race);
  }
  return {};
}

// Eraser knows no order and no more than one lockset: all that is sure is that it names conflicting accesses.
std::string only_conflicts(std::span<const Event> trace, const Reports& reports) {
  return only_races_of(reports, oracle::conflicts(trace));
}

}  // namespace

Guarantee only_hybrid_races(LocksAllow allow) {
  return [allow](auto trace, auto& reports) { return check_only_hybrid_races(trace, reports, allow); };
}
Guarantee every_hybrid_race(LocksAllow allow) {
  return [allow](auto trace, auto& reports) { return check_every_hybrid_race(trace, reports, allow); };
}

// --- sampling ---

namespace {

std::vector<bool> sampled_events(std::span<const Event> trace) {
  std::vector<bool> sampled;
  bool on = false;
  for (const Event& e : trace) {
    if (e.op == Op::SamplingOn || e.op == Op::SamplingOff) on = e.op == Op::SamplingOn;
    sampled.push_back(on);
  }
  return sampled;
}

}  // namespace

std::string sampled_shortest_races(std::span<const Event> trace, const Reports& reports) {
  const std::vector<bool> sampled = sampled_events(trace);
  const std::vector<Race> truth = oracle::races(trace, Relation::Hb);
  const std::string alarm = only_races_of(reports, truth);
  if (!alarm.empty()) return alarm;
  std::vector<Race> reported;
  for (const auto& [race, verdict] : reports.pairs) {
    if (!sampled[race.first]) return "not sampled: " + describe(race);
    reported.push_back(race);
  }
  // Of each variable and access, the last earlier one that races with it: races are sorted by their second event.
  std::map<std::pair<Variable, std::size_t>, std::size_t> last;
  for (const Race& r : truth) {
    for (const Variable& v : shared_variables(trace, r)) last[{v, r.second}] = r.first;
  }
  const auto found = first_race_of_each(trace, reported);
  for (const auto& [where, first] : last) {
    if (!sampled[first]) continue;
    const auto it = found.find(where.first);
    if (it == found.end() || it->second > where.second) return "missed: " + describe({first, where.second});
  }
  return {};
}

const std::map<std::string_view, Guarantee> kGuarantees = {
    {"generic", every_racy_access<Relation::Hb>},
    {"djit", racy_variables},
    {"fasttrack", racy_variables},
    {"pacer", only_real_races},  // with periods of its own; pacer_test.cpp knows them
    {"shb", every_racy_access<Relation::Shb>},
    {"multilock", every_hybrid_race(no_common_lock)},
    {"simplelock", only_hybrid_races(one_without_lock)},
    {"acculock", only_hybrid_races(no_common_lock)},
    {"eraser", only_conflicts},
    {"clockrace", every_clock_race(false)},
};

}  // namespace pf
