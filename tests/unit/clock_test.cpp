// Vector clocks against a map: copies are independent though they share, and nothing leaks.
#include "core/clock.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>

#include "offline/env.h"

namespace pf {
namespace {

using Clock = VectorClock<OfflineEnv>;
using NarrowEnv = BasicOfflineEnv<BasicEpoch<uint64_t, 3>>;  // seven ticks a slot, and several slots with one entry

constexpr unsigned kClocks = 4;
constexpr uint32_t kEntries = 40;  // several sizes of block

enum class Step { Raise, Join, Assign, Clear };

// The n-th slot that goes on with an entry.
template <class Env>
Slot slot_of(uint32_t entry, uint32_t n) {
  return Slot{entry + n * Env::kEntries};
}

template <class Env>
struct Pair {
  // Ticks of an entry in all its slots; absent ones are zero.
  using Model = std::map<uint32_t, uint32_t>;
  VectorClock<Env> clock;
  Model model;

  uint32_t expected(uint32_t entry) const {
    const auto it = model.find(entry);
    return it == model.end() ? 0 : it->second;
  }
  bool agrees() const {
    for (uint32_t entry = 0; entry < kEntries + 1; ++entry) {
      for (uint32_t n = 0; n < Env::kSlotsOfEntry; ++n) {
        const uint32_t before = n * Env::Epoch::kMaxClock, all = expected(entry);
        if (clock.get(slot_of<Env>(entry, n)) != (all > before ? all - before : 0)) return false;
      }
    }
    return true;
  }
};

template <class Env>
void apply(Step step, Pair<Env>& a, const Pair<Env>& b, uint32_t entry, uint32_t n, uint32_t time, Env& env) {
  using Model = typename Pair<Env>::Model;
  switch (step) {
    case Step::Raise:
      a.clock.raise(slot_of<Env>(entry, n), time, env);
      if (time != 0) a.model[entry] = std::max(a.model[entry], n * Env::Epoch::kMaxClock + time);
      return;
    case Step::Join:
      a.clock.join(b.clock, env);
      for (const auto& [i, all] : Model(b.model)) a.model[i] = std::max(a.model[i], all);
      return;
    case Step::Assign:
      if (&a == &b) return;  // no rule assigns a clock to itself
      a.clock.assign(b.clock, env);
      a.model = Model(b.model);
      return;
    case Step::Clear:
      a.clock.clear(env);
      a.model.clear();
      return;
  }
}

template <class Env>
bool covers_except(const Pair<Env>& a, const Pair<Env>& b, uint32_t except) {
  return std::ranges::all_of(
      b.model, [&](const auto& entry) { return entry.first == except || entry.second <= a.expected(entry.first); });
}

template <class Env>
void is_a_map() {
  using Choice = std::tuple<int, unsigned, unsigned, uint32_t, uint32_t, uint32_t>;
  const uint32_t most = std::min(Env::Epoch::kMaxClock, 20U);
  const auto choices = *rc::gen::container<std::vector<Choice>>(
      rc::gen::tuple(rc::gen::weightedElement<int>({{6, 0}, {4, 1}, {4, 2}, {1, 3}}), rc::gen::inRange(0U, kClocks),
                     rc::gen::inRange(0U, kClocks), rc::gen::inRange(0U, kEntries),
                     rc::gen::inRange(0U, Env::kSlotsOfEntry), rc::gen::inRange(1U, most + 1)));
  Env env;
  Pair<Env> pairs[kClocks];
  for (const auto& [step, a, b, entry, n, time] : choices) {
    apply(static_cast<Step>(step), pairs[a], pairs[b], entry, n, time, env);
    for (const Pair<Env>& p : pairs) RC_ASSERT(p.agrees());
    const Slot slot = slot_of<Env>(entry, n);
    RC_ASSERT(pairs[a].clock.covers({slot, time}) == (n * Env::Epoch::kMaxClock + time <= pairs[a].expected(entry)));
    RC_ASSERT(pairs[a].clock.covers_except(pairs[b].clock, slot) == covers_except(pairs[a], pairs[b], entry));
  }
  for (Pair<Env>& p : pairs) {
    p.clock.clear(env);
    RC_ASSERT(p.clock.empty());
  }
  RC_ASSERT(env.arena.live_bytes() == 0U);
}

RC_GTEST_PROP(VectorClock, is_a_map_from_slots_to_times, ()) { is_a_map<OfflineEnv>(); }
RC_GTEST_PROP(VectorClock, has_one_entry_for_slots_that_go_on, ()) { is_a_map<NarrowEnv>(); }

TEST(VectorClock, goes_on_in_its_entry_while_that_can_count) {
  NarrowEnv env;
  Slot s = env.fresh_slot(ThreadId{0});
  const Slot other = env.fresh_slot(ThreadId{1});
  for (uint32_t n = 1; n < NarrowEnv::kSlotsOfEntry; ++n) {
    const Slot next = env.next_slot(s, ThreadId{0});
    EXPECT_TRUE(have_one_entry<NarrowEnv>(s, next));
    EXPECT_FALSE(have_one_entry<NarrowEnv>(other, next));
    s = next;
  }
  EXPECT_FALSE(have_one_entry<NarrowEnv>(s, env.next_slot(s, ThreadId{0}))) << "it has counted all it can";
}

TEST(VectorClock, shares_until_it_changes) {
  OfflineEnv env;
  Clock a, b;
  for (uint32_t slot = 0; slot < 1000; ++slot) a.raise(Slot{slot}, slot + 1, env);
  const std::size_t one = env.arena.live_bytes();
  b.assign(a, env);
  EXPECT_EQ(env.arena.live_bytes(), one);
  b.raise(Slot{0}, 1, env);
  EXPECT_EQ(env.arena.live_bytes(), one) << "nothing new, nothing copied";
  b.raise(Slot{5}, 100, env);
  EXPECT_GT(env.arena.live_bytes(), one);
  EXPECT_EQ(a.get(Slot{5}), 6U);
  EXPECT_EQ(b.get(Slot{5}), 100U);
}

TEST(VectorClock, has_no_maximum) {
  OfflineEnv env;
  Clock a, b;
  a.raise(Slot{1U << 20}, 7, env);
  b.raise(Slot{3}, 5, env);
  b.join(a, env);
  EXPECT_EQ(b.get(Slot{1U << 20}), 7U);
  EXPECT_EQ(b.get(Slot{3}), 5U);
  EXPECT_EQ(b.get(Slot{1U << 21}), 0U);
}

}  // namespace
}  // namespace pf
