// Codes of who touched which byte (runtime/groups.h) against the bytes themselves: whatever is combined, in whichever form it comes out, each byte
// must name the access that touched it last.
//
// PF_SEED=S sets the first seed; a failure prints its seed.
#include "runtime/groups.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <random>
#include <set>
#include <thread>
#include <vector>

namespace pf::rt::groups {
namespace {

uint64_t first_seed() {
  const char* text = std::getenv("PF_SEED");
  return text == nullptr ? 1 : std::strtoull(text, nullptr, 10);
}

// A mark as compact.h has it, and what it stands for.
struct Told {
  Code code = 0;
  uint8_t bytes = 0;
  std::array<depot::Id, 8> access{};

  Told() = default;
  Told(depot::Id id, uint8_t of) : code(code_of(id)), bytes(of) {
    for (unsigned i = 0; i < 8; ++i) access[i] = (of >> i & 1) != 0 ? id : 0;
  }
  void add(const Told& other) {
    code = combine(code, bytes, other.code, other.bytes);
    bytes |= other.bytes;
    for (unsigned i = 0; i < 8; ++i) access[i] = (other.bytes >> i & 1) != 0 ? other.access[i] : access[i];
  }
  // Some of its bytes are another mark's from now on.
  void leave(uint8_t others) {
    if ((bytes & ~others) != 0) bytes = static_cast<uint8_t>(bytes & ~others);
  }
  bool is_right() const {
    for (unsigned i = 0; i < 8; ++i) {
      if ((bytes >> i & 1) != 0 && access_at(code, i) != access[i]) return false;
    }
    return true;
  }
  unsigned places() const {
    std::set<depot::Id> all;
    for (unsigned i = 0; i < 8; ++i) {
      if ((bytes >> i & 1) != 0) all.insert(access[i]);
    }
    return static_cast<unsigned>(all.size());
  }
};

class Groups : public testing::Test {
 protected:
  unsigned draw(unsigned below) { return static_cast<unsigned>(random_() % below); }
  uint8_t bytes() {
    const unsigned size = 1U << draw(4), first = draw(9 - size);
    return static_cast<uint8_t>(((1U << size) - 1) << first);
  }
  // A mark of a few accesses of these places.
  Told told(depot::Id first, unsigned places) {
    Told mark(first + draw(places), bytes());
    for (unsigned n = draw(4); n != 0; --n) {
      mark.add({first + draw(places), bytes()});
      if (draw(4) == 0) mark.leave(bytes());
    }
    return mark;
  }

  std::mt19937_64 random_;
};

TEST_F(Groups, EachByteNamesWhoTouchedItLast) {
  unsigned accesses = 0, duos = 0, patterns = 0;
  for (uint64_t seed = first_seed(), end = seed + 2000; seed != end; ++seed) {
    random_.seed(seed);
    const unsigned places = 1 + draw(5);
    for (unsigned i = 0; i < 100; ++i) {
      Told mark = told(10, places);
      const Told other = told(10, places);
      const Told before = mark;
      mark.add(other);
      ASSERT_TRUE(mark.is_right()) << "PF_SEED=" << seed << ", " << std::hex << before.code << " of " << +before.bytes
                                   << " and " << other.code << " of " << +other.bytes << " make " << mark.code;
      accesses += is_access(mark.code) ? 1 : 0;
      duos += is_duo(mark.code) ? 1 : 0;
      patterns += !is_access(mark.code) && !is_duo(mark.code) ? 1 : 0;
    }
  }
  EXPECT_GT(accesses, 1000U);
  EXPECT_GT(duos, 1000U);
  EXPECT_GT(patterns, 1000U);
}

// The same bytes of the same two places have one code, by whichever way they came there: so granules that were used alike are alike.
TEST_F(Groups, TwoPlacesHaveOneCode) {
  const Told low(20, 0x0F), high(21, 0xF0);
  Told one = low, other = high, third(21, 0xFF);
  one.add(high);
  other.add(low);
  third.add(low);
  EXPECT_TRUE(is_duo(one.code));
  EXPECT_EQ(one.code, other.code);
  EXPECT_EQ(one.code, third.code);
  third.add({21, 0xFF});
  EXPECT_EQ(third.code, code_of(21));
}

// There are numbers for a few thousand pairs; all others are patterns, which say the same.
TEST_F(Groups, MorePairsThanNumbers) {
  unsigned patterns = 0;
  for (depot::Id id = 1000; id < 1000 + (3U << kTwoBits); ++id) {
    Told mark(id, 0x0F);
    mark.add({id + 1, 0x3C});
    ASSERT_TRUE(mark.is_right()) << id;
    ASSERT_EQ(mark.places(), 2U);
    patterns += is_duo(mark.code) ? 0 : 1;
  }
  EXPECT_GT(patterns, 1U << kTwoBits);
}

// Threads that give numbers to the same pairs at once agree on them, and none sees a number before what it stands for.
TEST_F(Groups, Threads) {
  constexpr unsigned kThreads = 4, kPairs = 300;
  std::array<std::vector<Code>, kThreads> codes;
  std::array<bool, kThreads> right{};
  {
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        right[t] = true;
        for (unsigned i = 0; i < kPairs; ++i) {
          Told mark(1U << 20 | i, 0x0F);
          mark.add({1U << 20 | (i + 7), 0xF0});
          right[t] = right[t] && mark.is_right();
          codes[t].push_back(mark.code);
        }
      });
    }
  }
  for (unsigned t = 0; t < kThreads; ++t) {
    EXPECT_TRUE(right[t]);
    EXPECT_EQ(codes[t], codes[0]);
  }
}

}  // namespace
}  // namespace pf::rt::groups
