// A stack is found whichever way it is looked for: by its bucket, or among those that came after another (runtime/depot.h).
#include "runtime/depot.h"

#include <gtest/gtest.h>

#include <vector>

namespace pf::rt::depot {
namespace {

TEST(Depot, WhatCameAfterIsTheSameAndNoOther) {
  constexpr uint64_t kKey = 7;
  std::vector<Id> places, accesses;
  for (uint64_t pc = 100; pc < 120; ++pc) places.push_back(push(0, pc));
  for (const Id place : places) accesses.push_back(push(place, kKey));  // in a row, and alike but for their places
  for (std::size_t from = 0; from < accesses.size(); ++from) {
    for (std::size_t i = 0; i < accesses.size(); ++i) {
      EXPECT_EQ(push_after(accesses[from], places[i], kKey), accesses[i]);
    }
  }
  const Id other = push_after(accesses[0], places[1], kKey + 1);
  EXPECT_EQ(at(other).below, places[1]);
  EXPECT_EQ(at(other).key, kKey + 1);
  EXPECT_EQ(push(places[1], kKey + 1), other);
}

}  // namespace
}  // namespace pf::rt::depot
