// Which memory may have history (runtime/quiet.h), with no runtime around it.
#include "runtime/quiet.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <thread>

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

class Quiet : public testing::Test {
 protected:
  void SetUp() override { set_period(true); }
  void TearDown() override { set_period(false); }
};

bool is_searched(uintptr_t address, bool has_history) {
  if (!begin_search(address)) return false;
  end_search(address, has_history);
  return true;
}

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
