// The memory of threads (runtime/memory.h).
#include "runtime/memory.h"

#include <gtest/gtest.h>

#include <set>

namespace pf::rt {
namespace {

constexpr std::size_t kBytes = 48;

TEST(Arena, WhatIsHandedOverIsForTheFirstWhoNeedsIt) {
  Arena one, other, third;
  std::set<void*> pieces, again;
  for (int i = 0; i < 5; ++i) pieces.insert(one.allocate(kBytes));
  for (void* p : pieces) other.deallocate(p, kBytes);
  void* larger = one.allocate(2 * kBytes);
  one.deallocate(larger, 2 * kBytes);
  other.hand_over();
  one.hand_over();
  for (int i = 0; i < 5; ++i) again.insert(third.allocate(kBytes));
  EXPECT_EQ(again, pieces);
  EXPECT_EQ(third.allocate(2 * kBytes), larger);
  EXPECT_FALSE(pieces.contains(other.allocate(kBytes))) << "it is another's by now";
}

TEST(Arena, SeveralMayHandOver) {
  Arena one, other, third;
  void* first = one.allocate(kBytes);
  void* second = other.allocate(kBytes);
  one.deallocate(first, kBytes);
  one.hand_over();
  other.deallocate(second, kBytes);
  other.hand_over();
  EXPECT_EQ(third.allocate(kBytes), second);
  EXPECT_EQ(third.allocate(kBytes), first);
}

// Who looks at an object while it goes must find it, or another one.
TEST(Arena, ObjectsStayWhereTheyAre) {
  Arena one, other;
  void* object = one.allocate_object(kBytes);
  one.deallocate_object(object, kBytes);
  one.hand_over();
  EXPECT_NE(other.allocate(kBytes), object);
  EXPECT_NE(other.allocate_object(kBytes), object);
  EXPECT_EQ(one.allocate_object(kBytes), object);
}

}  // namespace
}  // namespace pf::rt
