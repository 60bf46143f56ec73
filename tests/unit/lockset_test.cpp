// Interned locksets against multisets: equal sets, and only those, have equal numbers.
#include "core/lockset.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>

#include "offline/env.h"

namespace pf {
namespace {

using Model = std::multiset<HeldLock>;

Model members(const LocksetTable<OfflineEnv>& table, LocksetId set) {
  Model m;
  table.for_each(set, [&](const HeldLock& l) { m.insert(l); });
  return m;
}

RC_GTEST_PROP(LocksetTable, is_a_multiset, ()) {
  constexpr unsigned kThreads = 3;
  using Choice = std::tuple<unsigned, bool, uint64_t, bool>;
  const auto lock = rc::gen::oneOf(rc::gen::inRange<uint64_t>(0, 6), rc::gen::arbitrary<uint64_t>());
  const auto choices = *rc::gen::container<std::vector<Choice>>(
      rc::gen::tuple(rc::gen::inRange(0U, kThreads), rc::gen::weightedElement<bool>({{2, true}, {1, false}}), lock,
                     rc::gen::arbitrary<bool>()));
  OfflineEnv env;
  LocksetTable<OfflineEnv> table;
  LocksetId sets[kThreads] = {};
  Model models[kThreads];
  std::map<Model, LocksetId> ids = {{Model{}, kNoLocks}};
  for (const auto& [thread, take, id, reads] : choices) {
    const HeldLock l{id, reads ? LockMode::Read : LockMode::Write};
    LocksetId& set = sets[thread];
    Model& model = models[thread];
    set = take ? table.with(set, l, env) : table.without(set, l, env);
    if (take) model.insert(l);
    if (const auto it = model.find(l); !take && it != model.end()) model.erase(it);
    RC_ASSERT(members(table, set) == model);
    RC_ASSERT(table.count_for(set, false) == model.size());
    RC_ASSERT(ids.emplace(model, set).first->second == set);
  }
  RC_ASSERT(table.interned() + 1 >= ids.size());
}

// More transitions than its cache holds, and more sets than its first buckets.
TEST(LocksetTable, grows) {
  OfflineEnv env;
  LocksetTable<OfflineEnv> table;
  constexpr uint64_t kLocks = 200;
  std::set<LocksetId> sets;
  for (uint64_t a = 0; a < kLocks; ++a) {
    for (uint64_t b = a; b < kLocks; ++b) {
      const HeldLock first{a, LockMode::Write}, second{b, LockMode::Write};
      const LocksetId both = table.with(table.with(kNoLocks, first, env), second, env);
      EXPECT_TRUE(sets.insert(both).second) << a << ", " << b;
      EXPECT_EQ(table.with(table.with(kNoLocks, second, env), first, env), both) << a << ", " << b;
      EXPECT_EQ(members(table, both), (Model{first, second}));
      // Steps that differ in one thing only may meet in the cache.
      const HeldLock reads{a, LockMode::Read};
      EXPECT_EQ(members(table, table.with(both, first, env)), (Model{first, first, second}));
      EXPECT_EQ(members(table, table.without(both, first, env)), (Model{second}));
      EXPECT_EQ(members(table, table.without(both, reads, env)), (Model{first, second}));
      EXPECT_EQ(members(table, table.with(both, reads, env)), (Model{first, reads, second}));
      EXPECT_EQ(members(table, table.with(both, first, env)), (Model{first, first, second}));
    }
  }
}

}  // namespace
}  // namespace pf
