// Objects that are looked at without their Line, by real threads: what a glance saw, and what the program did meanwhile, are of one moment.
#include "runtime/objects.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

// What objects.h needs of the runtime, for a program without one.
namespace pf::rt {
Area g_area;
const uintptr_t kCellBytes = 16;

static void* pages(std::size_t bytes) {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) std::abort();
  return p;
}
char* new_chunk(uintptr_t address) {
  auto* c = static_cast<char*>(pages(kLinesBytes));
  __atomic_store_n(&g_area.chunks[chunk_index(address)],
                   reinterpret_cast<uintptr_t>(c) - reinterpret_cast<uintptr_t>(g_area.zero_chunk), __ATOMIC_RELEASE);
  return c;
}
void* Arena::carve(std::size_t bytes) { return pages(bytes); }
void* map_or_die(std::size_t bytes, const char*) { return pages(bytes); }
}  // namespace pf::rt

namespace pf::rt {
namespace {

struct Counter : Object {
  static constexpr uint8_t kKind = kFirstOfDetector;
  uint64_t count;
};
struct Other : Object {
  static constexpr uint8_t kKind = kFirstOfDetector + 1;
};

constexpr uintptr_t kAddress = 0x7000'0000'0040;

// Without any memory of where objects are.
template <class T>
Glance<T> look(uintptr_t address) {
  Object* nowhere = nullptr;
  return {address, nowhere};
}

class GlanceTest : public testing::Test {
 protected:
  // Nobody's memory from here on.
  void SetUp() override { __atomic_store_n(&g_area.chunks[chunk_index(kAddress)], 0, __ATOMIC_RELAXED); }
  Arena arena_{};
};

TEST_F(GlanceTest, NothingIsKnownOfMemoryWithoutAChunk) { EXPECT_FALSE(look<Counter>(kAddress).is_clear()); }

TEST_F(GlanceTest, SeesThatThereIsNoneUntilThereIsOne) {
  {
    Line line(kAddress);
  }
  const Glance<Counter> glance = look<Counter>(kAddress);
  EXPECT_TRUE(glance.is_clear());
  EXPECT_EQ(glance.object(), nullptr);
  EXPECT_TRUE(glance.holds());
  {
    Line line(kAddress);
    EXPECT_FALSE(glance.holds()) << "somebody is about to add one";
    EXPECT_FALSE(look<Counter>(kAddress).is_clear());
    line.add<Counter>(kAddress, arena_);
  }
  EXPECT_FALSE(glance.holds());
}

TEST_F(GlanceTest, FindsItsKindAndAddressAmongOthers) {
  const Counter* counter = nullptr;
  {
    Line line(kAddress);
    line.add<Other>(kAddress, arena_);
    line.add<Counter>(kAddress + 8, arena_);
    counter = &line.add<Counter>(kAddress, arena_);
    line.add<Other>(kAddress + 16, arena_);
  }
  EXPECT_EQ(look<Counter>(kAddress).object(), counter);
  EXPECT_EQ(look<Counter>(kAddress + 16).object(), nullptr);
}

TEST_F(GlanceTest, ALongListIsNotSearched) {
  {
    Line line(kAddress);
    line.add<Counter>(kAddress, arena_);
    for (int i = 0; i < 20; ++i) line.add<Other>(kAddress, arena_);
  }
  EXPECT_FALSE(look<Counter>(kAddress).is_clear());
}

TEST_F(GlanceTest, DoesNotHoldOverAChange) {
  Counter* counter = nullptr;
  {
    Line line(kAddress);
    counter = &line.add<Counter>(kAddress, arena_);
  }
  const Glance<Counter> before = look<Counter>(kAddress);
  EXPECT_TRUE(before.is_clear());
  EXPECT_TRUE(before.holds());
  {
    Line line(kAddress);
    EXPECT_TRUE(before.holds()) << "who has the Line need not change anything";
    const Change<> change(*counter);
    EXPECT_FALSE(look<Counter>(kAddress).is_clear());
    EXPECT_FALSE(before.holds());
  }
  EXPECT_FALSE(before.holds());
  EXPECT_TRUE(look<Counter>(kAddress).is_clear());
}

// A writer counts in the object and in the program; readers compare the two.
TEST_F(GlanceTest, WhatWasSeenIsOfOneMoment) {
  std::atomic<uint64_t> in_program = 0;
  std::atomic<bool> over = false;
  {
    Line line(kAddress);
    line.add<Counter>(kAddress, arena_);
  }
  std::vector<std::thread> readers;
  std::atomic<uint64_t> held = 0, wrong = 0;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!over.load()) {
        const Glance<Counter> glance = look<Counter>(kAddress);
        if (!glance.is_clear()) continue;
        const uint64_t count = __atomic_load_n(&glance.object()->count, __ATOMIC_RELAXED);
        const uint64_t value = in_program.load(std::memory_order_relaxed);
        if (!glance.holds()) continue;
        ++held;
        wrong += count != value ? 1 : 0;
      }
    });
  }
  for (uint64_t i = 1; i <= 300'000 || held.load() < 1000; ++i) {
    Line line(kAddress);
    auto* counter = line.find<Counter>(kAddress);
    const Change<> change(*counter);
    in_program.store(i, std::memory_order_relaxed);
    __atomic_store_n(&counter->count, i, __ATOMIC_RELAXED);
  }
  over = true;
  for (std::thread& t : readers) t.join();
  EXPECT_EQ(wrong.load(), 0U);
}

TEST_F(GlanceTest, RemembersWhereItWasFound) {
  Object* remembered = nullptr;
  Counter* counter = nullptr;
  {
    Line line(kAddress);
    counter = &line.add<Counter>(kAddress, arena_);
    line.add<Counter>(kAddress + 8, arena_);
  }
  EXPECT_EQ(Glance<Counter>(kAddress, remembered).object(), counter);
  EXPECT_EQ(remembered, counter);
  EXPECT_EQ(Glance<Counter>(kAddress, remembered).object(), counter);
  EXPECT_NE(Glance<Counter>(kAddress + 8, remembered).object(), counter) << "that is another's address";
  EXPECT_EQ(Glance<Other>(kAddress, remembered).object(), nullptr) << "and another kind";
}

// It is still remembered while its memory goes, and when another object is in its place.
TEST_F(GlanceTest, DoesNotTakeWhatIsGoneForAnObject) {
  Object* remembered = nullptr;
  Line line(kAddress);
  Counter& counter = line.add<Counter>(kAddress, arena_);
  remembered = &counter;
  const Glance<Counter> before(kAddress, remembered);
  EXPECT_TRUE(before.is_clear());
  Change<>::begin(counter);
  EXPECT_FALSE(before.holds());
  EXPECT_FALSE(Glance<Counter>(kAddress, remembered).is_clear());
  line.remove(&counter);
  arena_.deallocate_object(&counter, sizeof(Counter));
  EXPECT_NE(Glance<Counter>(kAddress, remembered).object(), &counter);
  remembered = &counter;
  ASSERT_EQ(&line.add<Counter>(kAddress + 8, arena_), &counter) << "no longer the same place: the test shows nothing";
  EXPECT_NE(Glance<Counter>(kAddress, remembered).object(), &counter);
  EXPECT_FALSE(before.holds());
}

TEST_F(GlanceTest, AHoldLeavesNoTrace) {
  {
    Line line(kAddress);
    line.add<Counter>(kAddress, arena_);
  }
  const Glance<Counter> before = look<Counter>(kAddress);
  {
    const Hold hold(before);
    EXPECT_TRUE(hold);
    EXPECT_FALSE(before.holds());
    EXPECT_FALSE(look<Counter>(kAddress).is_clear());
    EXPECT_FALSE(Hold(before)) << "it is held";
  }
  EXPECT_TRUE(before.holds());
  {
    Line line(kAddress);
    const Change<true> change(*line.find<Counter>(kAddress));
  }
  EXPECT_FALSE(Hold(before)) << "it has changed";
  EXPECT_TRUE(look<Counter>(kAddress).is_clear());
}

// Two parts of a change that a hold must not come between.
TEST_F(GlanceTest, AHoldAndAChangeExcludeEachOther) {
  std::atomic<bool> over = false;
  std::atomic<uint64_t> held = 0, wrong = 0;
  uint64_t in_program = 0;
  {
    Line line(kAddress);
    line.add<Counter>(kAddress, arena_);
  }
  std::vector<std::thread> holders;
  for (int i = 0; i < 2; ++i) {
    holders.emplace_back([&] {
      Object* remembered = nullptr;
      while (!over.load()) {
        const Glance<Counter> glance(kAddress, remembered);
        if (!glance.is_clear()) continue;
        const Hold hold(glance);
        if (!hold) continue;
        wrong += glance.object()->count != in_program ? 1 : 0;
        ++in_program;  // and not lost
        --in_program;
        ++held;
      }
    });
  }
  for (uint64_t i = 1; i <= 100'000 || held.load() < 1000; ++i) {
    Line line(kAddress);
    auto* counter = line.find<Counter>(kAddress);
    const Change<true> change(*counter);
    ++counter->count;
    ++in_program;
  }
  over = true;
  for (std::thread& t : holders) t.join();
  EXPECT_EQ(wrong.load(), 0U);
}

// As a walk sees it that stands at an object while that is gone, and used again elsewhere.
TEST_F(GlanceTest, AWalkThatWentAstrayTellsNothing) {
  constexpr uintptr_t kElsewhere = kAddress + 64;
  Counter *there = nullptr, *gone = nullptr;
  {
    Line line(kAddress);
    line.add<Counter>(kAddress, arena_);
    gone = &line.add<Counter>(kAddress + 8, arena_);
    line.add<Counter>(kAddress + 16, arena_);
    Line elsewhere(kElsewhere);
    there = &elsewhere.add<Counter>(kElsewhere, arena_);
  }
  EXPECT_NE(look<Counter>(kAddress).object(), nullptr);
  gone->address = kElsewhere + 8;
  gone->next = there;
  EXPECT_EQ(look<Counter>(kAddress).object(), nullptr);
  EXPECT_FALSE(look<Counter>(kAddress).is_clear()) << "there is one";
}

TEST_F(GlanceTest, AGripIsAChange) {
  {
    Line line(kAddress);
    line.add<Counter>(kAddress, arena_);
  }
  const Glance<Counter> before = look<Counter>(kAddress);
  {
    const Grip<Counter> grip(before);
    EXPECT_TRUE(grip);
    EXPECT_FALSE(before.holds());
    EXPECT_FALSE(look<Counter>(kAddress).is_clear());
    EXPECT_FALSE(Grip<Counter>(before)) << "it is held";
    EXPECT_FALSE(Hold(before));
  }
  EXPECT_FALSE(before.holds());
  EXPECT_FALSE(Grip<Counter>(before)) << "it has changed";
  EXPECT_TRUE(Grip<Counter>(look<Counter>(kAddress)));
}

// By any of the three, and nothing is lost.
TEST_F(GlanceTest, GripsAndChangesExcludeEachOther) {
  constexpr uint64_t kEach = 50'000;
  uint64_t in_program = 0;
  {
    Line line(kAddress);
    line.add<Counter>(kAddress, arena_);
  }
  const auto count = [&](Counter& counter) {
    ++counter.count;
    ++in_program;
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      Object* remembered = nullptr;
      for (uint64_t n = 0; n < kEach;) {
        const Glance<Counter> glance(kAddress, remembered);
        if (!glance.is_clear()) continue;
        const Grip<Counter> grip(glance);
        if (!grip) continue;
        count(grip.object());
        ++n;
      }
    });
  }
  for (uint64_t n = 0; n < kEach; ++n) {
    Line line(kAddress);
    auto* counter = line.find<Counter>(kAddress);
    const Change<true> change(*counter);
    count(*counter);
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(in_program, 3 * kEach);
  EXPECT_EQ(look<Counter>(kAddress).object()->count, 3 * kEach);
}

// Objects of one kind take each other's place, also while somebody looks: it is always some object that is looked at.
TEST_F(GlanceTest, WhatIsGoneIsStillAnObject) {
  std::atomic<bool> over = false;
  {
    Line line(kAddress);
  }
  std::thread reader([&] {
    while (!over.load()) {
      const Glance<Counter> glance = look<Counter>(kAddress);
      if (!glance.is_clear() || glance.object() == nullptr) continue;
      const bool is_counter = glance.object()->kind == Counter::kKind;
      if (glance.holds() && !is_counter) std::abort();
    }
  });
  for (int i = 0; i < 200'000; ++i) {
    {
      Line line(kAddress);
      line.add<Counter>(kAddress, arena_);
      line.add<Counter>(kAddress + 8, arena_);
    }
    Line line(kAddress);
    for (Object* o = line.first(); o != nullptr;) {
      Object* next = o->next;
      line.remove(o);
      arena_.deallocate_object(static_cast<Counter*>(o), sizeof(Counter));
      o = next;
    }
  }
  over = true;
  reader.join();
}

}  // namespace
}  // namespace pf::rt
