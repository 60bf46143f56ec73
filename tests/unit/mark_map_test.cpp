// Marks by slot against a map.
#include "core/mark_map.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "offline/env.h"

namespace pf {
namespace {

using Epoch = OfflineEnv::Epoch;

struct Step {
  uint32_t slot, clock, site;
  friend bool operator==(const Step&, const Step&) = default;
};

// Slots that collide, far ones too.
rc::Gen<std::vector<std::tuple<uint32_t, uint32_t, uint32_t>>> any_steps() {
  const auto slot = rc::gen::oneOf(rc::gen::inRange(0U, 20U), rc::gen::element(32U, 64U, 128U, 1U << 31));
  return rc::gen::container<std::vector<std::tuple<uint32_t, uint32_t, uint32_t>>>(
      rc::gen::tuple(slot, rc::gen::inRange(1U, 4U), rc::gen::inRange(0U, 100U)));
}

std::map<uint32_t, Step> contents(const MarkMap<OfflineEnv>& marks) {
  std::map<uint32_t, Step> found;
  marks.for_each([&](const Mark<OfflineEnv>& m) {
    const uint32_t slot = index(m.epoch.slot());
    EXPECT_TRUE(found.emplace(slot, Step{slot, m.epoch.clock(), index(m.access.site)}).second)
        << "slot twice: " << slot;
  });
  return found;
}

RC_GTEST_PROP(MarkMap, keeps_the_last_mark_of_each_slot, ()) {
  const auto steps = *any_steps();
  const auto cloned_at = *rc::gen::inRange<std::size_t>(0, steps.size() + 1);
  OfflineEnv env;
  MarkMap<OfflineEnv> marks, copy;
  std::map<uint32_t, Step> model, model_of_copy;
  for (std::size_t i = 0; i <= steps.size(); ++i) {
    if (i == cloned_at) {
      copy = marks.clone(env);
      model_of_copy = model;
    }
    if (i == steps.size()) break;
    const auto [slot, clock, site] = steps[i];
    marks.put({{Slot{slot}, clock}, {SiteId{site}, kNoLocks, 0}}, env);
    model[slot] = {slot, clock, site};
    RC_ASSERT(marks.has({Slot{slot}, clock}));
    RC_ASSERT(!marks.has({Slot{slot}, clock + 1}));
    RC_ASSERT(!marks.has({Slot{1000000}, 1}));
  }
  RC_ASSERT(contents(marks) == model);
  RC_ASSERT(contents(copy) == model_of_copy);
  RC_ASSERT(marks.empty() == model.empty());
  marks.clear(env);
  copy.clear(env);
  RC_ASSERT(marks.empty());
  RC_ASSERT(env.arena.live_bytes() == 0U);
}

// Of up to sixteen, those that come before are gone; a slot that has a mark among more of them gets another, and that is all.
RC_GTEST_PROP(MarkMap, a_mark_follows_those_before_it, ()) {
  const auto steps = *any_steps();
  OfflineEnv env;
  MarkMap<OfflineEnv> marks;
  std::map<uint32_t, Step> model;
  for (const auto& [slot, clock, site] : steps) {
    const auto limit = *rc::gen::weightedElement<uint32_t>({{5, 0U}, {2, 1U}, {1, 2U}, {1, 3U}});
    const auto is_before = [&, own = slot](Epoch e) { return index(e.slot()) == own || e.clock() <= limit; };
    const Mark<OfflineEnv> mark{{Slot{slot}, clock}, {SiteId{site}, kNoLocks, 0}};
    bool is_left = true;
    if (marks.empty()) {
      marks.put(mark, env);
    } else {
      if (model.size() <= 16 || !model.contains(slot))
        std::erase_if(model, [&](const auto& m) { return is_before({Slot{m.first}, m.second.clock}); });
      is_left = marks.follow(mark, is_before, env);
      RC_ASSERT(is_left != model.empty());
      RC_ASSERT(marks.empty() == model.empty());
    }
    if (is_left) model[slot] = {slot, clock, site};
    RC_ASSERT(contents(marks) == model);
  }
  marks.clear(env);
  RC_ASSERT(env.arena.live_bytes() == 0U);
}

TEST(MarkMap, takes_slots_that_go_on_for_one) {
  using NarrowEnv = BasicOfflineEnv<BasicEpoch<uint64_t, 3>>;
  NarrowEnv env;
  MarkMap<NarrowEnv> marks;
  const Slot first = env.fresh_slot(ThreadId{0}), other = env.fresh_slot(ThreadId{1});
  const Slot next = env.next_slot(first, ThreadId{0});
  for (const Slot s : {first, other, next}) marks.put({{s, 2}, {}}, env);
  EXPECT_FALSE(marks.has({first, 2})) << "the later one is in its place";
  EXPECT_TRUE(marks.has({next, 2}) && marks.has({other, 2}));
  marks.remove(first, env);
  unsigned left = 0;
  marks.for_each([&](const Mark<NarrowEnv>& m) { left += m.epoch.slot() == other ? 1 : 100; });
  EXPECT_EQ(left, 1U);
  marks.clear(env);
}

}  // namespace
}  // namespace pf
