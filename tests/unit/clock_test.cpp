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
using Model = std::map<uint32_t, uint32_t>;  // absent entries are zero

constexpr unsigned kClocks = 4;
constexpr uint32_t kSlots = 40;  // several sizes of block

enum class Step { Raise, Join, Assign, Clear };

struct Pair {
  Clock clock;
  Model model;

  uint32_t expected(uint32_t slot) const {
    const auto it = model.find(slot);
    return it == model.end() ? 0 : it->second;
  }
  bool agrees() const {
    for (uint32_t slot = 0; slot < kSlots + 1; ++slot) {
      if (clock.get(Slot{slot}) != expected(slot)) return false;
    }
    return true;
  }
};

void apply(Step step, Pair& a, const Pair& b, uint32_t slot, uint32_t time, OfflineEnv& env) {
  switch (step) {
    case Step::Raise:
      a.clock.raise(Slot{slot}, time, env);
      a.model[slot] = std::max(a.model[slot], time);
      return;
    case Step::Join:
      a.clock.join(b.clock, env);
      for (const auto& [s, t] : Model(b.model)) a.model[s] = std::max(a.model[s], t);
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

bool covers_except(const Pair& a, const Pair& b, uint32_t except) {
  return std::ranges::all_of(
      b.model, [&](const auto& entry) { return entry.first == except || entry.second <= a.expected(entry.first); });
}

RC_GTEST_PROP(VectorClock, is_a_map_from_slots_to_times, ()) {
  using Choice = std::tuple<int, unsigned, unsigned, uint32_t, uint32_t>;
  const auto choices = *rc::gen::container<std::vector<Choice>>(
      rc::gen::tuple(rc::gen::weightedElement<int>({{6, 0}, {4, 1}, {4, 2}, {1, 3}}), rc::gen::inRange(0U, kClocks),
                     rc::gen::inRange(0U, kClocks), rc::gen::inRange(0U, kSlots), rc::gen::inRange(0U, 20U)));
  OfflineEnv env;
  Pair pairs[kClocks];
  for (const auto& [step, a, b, slot, time] : choices) {
    apply(static_cast<Step>(step), pairs[a], pairs[b], slot, time, env);
    for (const Pair& p : pairs) RC_ASSERT(p.agrees());
    RC_ASSERT(pairs[a].clock.covers({Slot{slot}, time}) == (time <= pairs[a].expected(slot)));
    RC_ASSERT(pairs[a].clock.covers_except(pairs[b].clock, Slot{slot}) == covers_except(pairs[a], pairs[b], slot));
  }
  for (Pair& p : pairs) {
    p.clock.clear(env);
    RC_ASSERT(p.clock.empty());
  }
  RC_ASSERT(env.arena.live_bytes() == 0U);
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
