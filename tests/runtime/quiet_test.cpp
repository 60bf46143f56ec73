// Which memory may have history (runtime/quiet.h), with no runtime around it.
#include "runtime/quiet.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <initializer_list>
#include <thread>
#include <vector>

#include "runtime/registry.h"

namespace pf::rt {

// What quiet.cpp and chunks.cpp ask of the runtime.
namespace {
Thread g_only{};
}  // namespace
constexpr uintptr_t kCellOfTest = 16;
extern const uintptr_t kCellBytes = kCellOfTest;
void deliver_pending_signals(Thread&) {}
namespace registry {
void for_each(void (*f)(Thread&, void*), void* argument) { f(g_only, argument); }
}  // namespace registry

namespace quiet {
namespace {

constexpr uintptr_t kAddress = uintptr_t{1} << 40;

bool is_searched(uintptr_t address, bool has_history) {
  if (!begin_search(address)) return false;
  end_search(address, has_history);
  return true;
}

class Quiet : public testing::Test {
 protected:
  void SetUp() override { set_period(true); }
  void TearDown() override {
    sweep(g_only, {[](Thread&, uintptr_t) {}, [](uintptr_t block) { is_searched(block, false); }}, true);
    set_period(false);
  }
};

TEST_F(Quiet, HistoryStaysUntilASearchFindsNone) {
  begin_recording();
  disturb(kAddress);
  end_recording();
  set_period(false);
  EXPECT_FALSE(is_quiet(g_only, kAddress));
  EXPECT_TRUE(is_searched(kAddress, true));
  EXPECT_FALSE(is_quiet(g_only, kAddress));
  EXPECT_TRUE(is_searched(kAddress, false));
  EXPECT_TRUE(is_quiet(g_only, kAddress));
}

TEST_F(Quiet, AnAccessMayEndInTheNextBlock) {
  begin_recording();
  disturb(kAddress + kLongestAccess - 1);
  end_recording();
  set_period(false);
  EXPECT_FALSE(is_quiet(g_only, kAddress - 1));
  EXPECT_TRUE(is_searched(kAddress - 1, false));
  EXPECT_TRUE(is_searched(kAddress, false));
}

// Who records looks for the flag without a fence.
TEST_F(Quiet, NoFlagIsTakenAwayWhileSomebodyRecords) {
  begin_recording();
  begin_recording();
  disturb(kAddress);
  EXPECT_FALSE(is_searched(kAddress, true));
  end_recording();
  EXPECT_FALSE(is_searched(kAddress, true));
  end_recording();
  EXPECT_TRUE(is_searched(kAddress, false));
}

TEST_F(Quiet, NobodyBeginsToRecordDuringASearch) {
  begin_recording();
  disturb(kAddress);
  end_recording();
  ASSERT_TRUE(begin_search(kAddress));
  std::atomic<bool> records = false;
  std::thread other([&] {
    begin_recording();
    records = true;
    disturb(kAddress);
    end_recording();
  });
  // Who does not wait records by then; who does never has, however long this takes.
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(records);
  end_search(kAddress, false);
  other.join();
  set_period(false);
  EXPECT_FALSE(is_quiet(g_only, kAddress));
  EXPECT_TRUE(is_searched(kAddress, false));
}

// After a fork, the others are gone.
TEST_F(Quiet, AChildRecordsAlone) {
  begin_recording();
  begin_recording();
  disturb(kAddress);
  start_in_child(true);
  EXPECT_FALSE(is_searched(kAddress, true));
  end_recording();
  EXPECT_TRUE(is_searched(kAddress, false));
}

// --- all of it at once ---

std::vector<uintptr_t> g_met;
bool g_is_forgotten = true;
std::function<void()> g_meanwhile = [] {};

bool is_swept(bool gives_back = false) {
  g_met.clear();
  return sweep(g_only,
               {[](Thread&, uintptr_t block) {
                  g_met.push_back(block);
                  g_meanwhile();
                },
                [](uintptr_t block) { is_searched(block, !g_is_forgotten); }},
               gives_back);
}

void sample(std::initializer_list<uintptr_t> addresses) {
  begin_recording();
  for (const uintptr_t at : addresses) disturb(at);
  end_recording();
}

using Blocks = std::vector<uintptr_t>;
constexpr uintptr_t kFirst = kAddress + 20 * kBlock, kInside = kFirst + 64;
constexpr uintptr_t kOtherChunk = kAddress + 5 * (kInChunk + 1);

TEST_F(Quiet, ASweepMeetsAllBlocksWithHistory) {
  const Blocks all = {kFirst, kFirst + 9 * kBlock, kOtherChunk + kBlock};
  sample({kInside, kInside + 8, kInside + 9 * kBlock, kOtherChunk + kBlock + 64});
  g_is_forgotten = false;
  EXPECT_TRUE(is_swept());
  EXPECT_EQ(g_met, all);
  g_is_forgotten = true;
  EXPECT_TRUE(is_swept());
  EXPECT_EQ(g_met, all);
  set_period(false);
  for (const uintptr_t block : all) EXPECT_TRUE(is_quiet(g_only, block));
  EXPECT_TRUE(is_swept());
  EXPECT_TRUE(g_met.empty());
  sample({kInside});  // again
  EXPECT_TRUE(is_swept());
  EXPECT_EQ(g_met, Blocks({kFirst}));
}

// Each block has the history of the first bytes behind it, too.
TEST_F(Quiet, ASweepForgetsAllBeforeItSearches) {
  sample({kInside, kInside + kBlock, kOtherChunk + 64});
  static unsigned forgotten = 0;
  const auto forget = [](Thread&, uintptr_t) { ++forgotten; };
  const auto search = [](uintptr_t block) {
    EXPECT_EQ(forgotten, 3U);
    is_searched(block, false);
  };
  EXPECT_TRUE(sweep(g_only, {forget, search}, false));
}

TEST_F(Quiet, OneSweepsAtATime) {
  sample({kInside});
  bool does_another = true;
  g_meanwhile = [&] { does_another = sweep(g_only, {[](Thread&, uintptr_t) {}, [](uintptr_t) {}}, false); };
  EXPECT_TRUE(is_swept());
  EXPECT_FALSE(does_another);
  g_meanwhile = [] {};
  EXPECT_TRUE(is_swept());
}

char* cell_of(uintptr_t address) { return chunk(address) + kLinesBytes + granule_index(address) * kCellOfTest; }
bool is_resident(uintptr_t address) {
  char* cell = cell_of(address);
  return TouchedPages(cell - reinterpret_cast<uintptr_t>(cell) % kPage, 1)[0];
}

TEST_F(Quiet, PagesWithoutHistoryAreGivenBackIfAskedFor) {
  be_touched(g_only, cell_of(kInside), kInside);
  sample({kInside});
  g_is_forgotten = false;
  EXPECT_TRUE(is_swept(true));
  EXPECT_TRUE(is_resident(kInside)) << "it has history";
  g_is_forgotten = true;
  EXPECT_TRUE(is_swept());
  EXPECT_TRUE(is_resident(kInside)) << "not asked for";
  begin_recording();
  EXPECT_TRUE(is_swept(true));
  EXPECT_TRUE(is_resident(kInside)) << "somebody may have recorded there, and is about to say so";
  end_recording();
  EXPECT_TRUE(is_swept(true));
  EXPECT_FALSE(is_resident(kInside));
  EXPECT_EQ(look(g_only, kInside), kUntouched);
  be_touched(g_only, cell_of(kInside), kInside);
  EXPECT_TRUE(is_resident(kInside));
}

// What is recorded is the number of the period; the last but one is known to all.
uint64_t& period_in(uintptr_t address) { return *reinterpret_cast<uint64_t*>(cell_of(address)); }
uint64_t load(const uint64_t& number) { return __atomic_load_n(&number, __ATOMIC_ACQUIRE); }
uint64_t g_known = 0;

// One thread samples, another sweeps all the time, and gives back pages.
TEST_F(Quiet, NothingIsLostBesideASweep) {
  const auto blocks = [](auto f) {
    for (uintptr_t i = 0; i < 40; ++i) f(kInside + i * kBlock);
  };
  std::atomic<bool> is_over = false;
  std::atomic<unsigned> sweeps = 0;
  const Forgetting histories = {[](Thread&, uintptr_t block) {
                                  uint64_t number = load(period_in(block + 64));
                                  if (number <= load(g_known))
                                    __atomic_compare_exchange_n(&period_in(block + 64), &number, 0, false,
                                                                __ATOMIC_RELAXED, __ATOMIC_RELAXED);
                                },
                                [](uintptr_t block) {
                                  if (begin_search(block)) end_search(block, load(period_in(block + 64)) != 0);
                                }};
  std::thread sweeper([&] {
    for (; !is_over; ++sweeps) sweep(g_only, histories, true);
  });
  unsigned lost = 0;
  constexpr uint64_t kPeriods = 4000;
  for (uint64_t number = 1; number <= kPeriods; ++number) {
    begin_recording();
    blocks([&](uintptr_t at) { __atomic_store_n(&period_in(at), number, __ATOMIC_RELAXED); });
    blocks(&disturb);
    end_recording();
    if (number % 16 == 0) {
      for (const unsigned before = sweeps; sweeps < before + 2;) std::this_thread::yield();
    }
    blocks([&](uintptr_t at) { lost += load(period_in(at)) != number || !may_have_history(at) ? 1 : 0; });
    __atomic_store_n(&g_known, number, __ATOMIC_RELEASE);
  }
  is_over = true;
  sweeper.join();
  EXPECT_EQ(lost, 0U);
  sweep(g_only, histories, true);
  set_period(false);
  blocks([](uintptr_t at) { EXPECT_TRUE(is_quiet(g_only, at)); });
  EXPECT_FALSE(is_resident(kInside));
}

long faults() {
  rusage used{};
  getrusage(RUSAGE_THREAD, &used);
  return used.ru_minflt;
}

// Read, then written: of a page that was touched neither is a fault, and what was there stays.
TEST_F(Quiet, WhatIsTouchedIsMappedOnce) {
  constexpr std::size_t kBytes = 4096;
  auto* cell = static_cast<char*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(cell, MAP_FAILED);
  constexpr uintptr_t kFar = kAddress + (uintptr_t{1} << 20);
  EXPECT_EQ(look(g_only, kFar), kUntouched);
  EXPECT_FALSE(is_quiet(g_only, kFar));
  be_touched(g_only, cell, kFar);
  EXPECT_NE(look(g_only, kFar), kUntouched);
  EXPECT_FALSE(is_quiet(g_only, kFar));
  const long before = faults();
  EXPECT_EQ(__atomic_load_n(cell, __ATOMIC_RELAXED), 0);
  __atomic_store_n(cell, 7, __ATOMIC_RELAXED);
  EXPECT_EQ(faults(), before);
  touch(cell, kFar);
  EXPECT_EQ(__atomic_load_n(cell, __ATOMIC_RELAXED), 7);
  munmap(cell, kBytes);
}

}  // namespace
}  // namespace quiet
}  // namespace pf::rt
