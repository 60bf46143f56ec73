// Breakpoint slots: what fires, what does not, and what is left of a sample that is over. Each test has the slots to itself.
#include <gtest/gtest.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <semaphore>
#include <thread>
#include <vector>

#include "watch/slots.h"
#include "watch/turns.h"

namespace pf::watch {
namespace {

// What the handler of the process does; a thread has its clock, as in a host.
thread_local Clock* volatile my_clock = nullptr;  // for the handler
std::atomic<int> races, traps;
std::atomic<uint64_t> last_access;

void on_trap(int, siginfo_t* info, void*) {
  Trap trap{};
  if (breakpoints::decode(*info, trap) != breakpoints::Signal::Now) return;
  ++traps;
  Sample with{};
  if (my_clock == nullptr) return slots::miss(trap);
  if (!slots::hit(*my_clock, trap, with)) return;
  last_access = with.access;
  ++races;
}

volatile uint64_t watched[8];
uintptr_t at(int i) { return reinterpret_cast<uintptr_t>(&watched[i]); }

// Runs f on a thread with a clock of its own, and waits for its end.
template <class F>
void on_other_thread(F f) {
  std::thread([&] {
    Clock clock;
    clock.seen = g_samples_taken;
    my_clock = &clock;
    f(clock);
    my_clock = nullptr;
  }).join();
}

class Slots : public testing::Test {
 protected:
  void SetUp() override {
    struct sigaction action{};
    action.sa_sigaction = &on_trap;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    ASSERT_EQ(sigaction(SIGTRAP, &action, nullptr), 0);
    races = traps = 0;
    my_clock = &mine;
    begin({});
  }
  void TearDown() override { breakpoints::close(); }

  void begin(slots::Settings settings) {
    breakpoints::close();
    const slots::Started started = slots::start(settings);
    if (settings.hardware && !started.hardware) GTEST_SKIP() << "no breakpoints here: " << std::strerror(started.why);
    before = slots::statistics();
  }
  // Past the pause that follows an arming.
  uint64_t arm(int i, bool write) {
    for (int tries = 0; tries < 10000; ++tries) {
      if (const uint64_t ticket = slots::arm({&mine, at(i), 8, write, 100 + static_cast<uint64_t>(i), 0}); ticket != 0)
        return ticket;
      usleep(100);
    }
    return 0;
  }
  uint64_t more(uint64_t slots::Statistics::* field) const { return slots::statistics().*field - before.*field; }

  Clock mine;
  slots::Statistics before{};
};

using S = slots::Statistics;

TEST_F(Slots, WriteOfAnotherThreadMeetsASampledRead) {
  ASSERT_NE(arm(1, false), 0U);
  on_other_thread([](Clock&) { watched[1] = 1; });
  EXPECT_EQ(races, 1);
  EXPECT_EQ(last_access, 101U);
  EXPECT_EQ(more(&S::fired), 1U);
  on_other_thread([](Clock&) { watched[1] = 2; });
  EXPECT_EQ(races, 1) << "a sample is reported once";
}

TEST_F(Slots, ReadsMeetOnlyASampledWrite) {
  const auto read = [](Clock&) { [[maybe_unused]] const uint64_t x = watched[2]; };
  ASSERT_NE(arm(2, false), 0U);
  on_other_thread(read);
  EXPECT_EQ(races, 0);
  slots::forget(at(2), 8);
  ASSERT_NE(arm(2, true), 0U);
  on_other_thread(read);
  EXPECT_EQ(races, 1);
}

TEST_F(Slots, OwnAccessesDoNotCountAndAreGivenUpAfterAFew) {
  ASSERT_NE(arm(3, true), 0U);
  watched[3] = 1;
  EXPECT_EQ(traps, 1);
  for (int i = 0; i < 100; ++i) watched[3] = 1;
  EXPECT_EQ(races, 0);
  EXPECT_EQ(more(&S::own), 1U);
  EXPECT_LT(traps, 20);
  EXPECT_FALSE(slots::any());
}

TEST_F(Slots, OneTrapSpeaksForAllThatWatchTheSame) {
  std::atomic<int> step = 0;
  Clock clock;  // outlives the thread, as its sample may
  std::thread other([&] {
    my_clock = &clock;
    while (slots::arm({&clock, at(3), 8, true, 7, 0}) == 0) usleep(100);
    step = 1;
    while (step != 2) usleep(100);
    watched[3] = 1;
  });
  while (step != 1) usleep(100);
  ASSERT_NE(arm(3, true), 0U);
  step = 2;
  other.join();
  EXPECT_EQ(races, 1);
  EXPECT_EQ(last_access, 103U);
}

TEST_F(Slots, NoRaceOnceTheSamplerHasSynchronized) {
  ASSERT_NE(arm(1, true), 0U);
  tick(mine);
  on_other_thread([](Clock&) { watched[1] = 1; });
  EXPECT_EQ(races, 0);
  EXPECT_EQ(more(&S::stale), 1U);
}

TEST_F(Slots, SymmetricRuleAsksTheOtherThreadToo) {
  begin({.symmetric = true});
  std::binary_semaphore armed{0};
  std::thread other([&] {
    Clock clock;
    my_clock = &clock;
    clock.seen = g_samples_taken;
    armed.acquire();  // unseen by the clock
    watched[1] = 1;
  });
  usleep(20000);
  ASSERT_NE(arm(1, true), 0U);
  tick(mine);
  armed.release();
  other.join();
  EXPECT_EQ(races, 1);
  ASSERT_NE(arm(1, true), 0U);
  tick(mine);
  on_other_thread([](Clock& clock) {
    tick(clock);
    watched[1] = 1;
  });
  EXPECT_EQ(races, 1) << "both have synchronized";
}

TEST_F(Slots, AnExpiredSampleGivesItsSlotAway) {
  begin({.limit = 1'000'000});
  for (int i = 0; i < 4; ++i) ASSERT_NE(arm(i, true), 0U);
  ASSERT_NE(arm(5, true), 0U);
  EXPECT_GE(more(&S::expired), 1U);
  on_other_thread([](Clock&) { watched[5] = 1; });
  EXPECT_EQ(last_access, 105U);
}

TEST_F(Slots, ASampleWhoseTimeIsNotUpKeepsItsSlot) {
  begin({.limit = 3'600'000'000'000});
  for (int i = 0; i < 4; ++i) ASSERT_NE(arm(i, true), 0U);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(slots::arm({&mine, at(5), 8, true, 0, 0}), 0U);
  EXPECT_GE(more(&S::busy), 100U);
  EXPECT_EQ(more(&S::expired), 0U);
}

TEST_F(Slots, ASampleOfAThreadThatWentOnGivesItsSlotAwayAtOnce) {
  begin({.limit = 3'600'000'000'000});
  for (int i = 0; i < 4; ++i) ASSERT_NE(arm(i, true), 0U);
  tick(mine);
  ASSERT_NE(arm(5, true), 0U);
  EXPECT_EQ(more(&S::stale), 1U);
}

TEST_F(Slots, ATrapOfAnOlderSampleIsNotTakenForTheNewOne) {
  const uint64_t first = arm(1, true);
  ASSERT_NE(first, 0U);
  ASSERT_TRUE(slots::finish(first));
  ASSERT_NE(arm(1, true), 0U);
  Clock other;
  Sample with{};
  EXPECT_FALSE(slots::hit(other, {first, at(1)}, with));
  EXPECT_FALSE(slots::hit(other, {first + kBreakpoints, at(2)}, with)) << "the new tag, with the address of before";
  EXPECT_EQ(more(&S::late), 2U);
  EXPECT_TRUE(slots::hit(other, {first + kBreakpoints, at(1)}, with));
}

// A trap gives a slot up, and another thread takes it at once: what waits for that one's bytes was not hit.
TEST_F(Slots, ATrapIsNotTakenForOneOfWhoHasItsSlotNext) {
  begin({.hardware = false, .limit = 3'600'000'000'000});
  std::atomic<bool> stop = false;
  Clock clock;
  for (int i = 0; i < 3; ++i) ASSERT_NE(slots::arm({&clock, at(0), 8, true, 1, 0}), 0U);
  std::thread other([&] {
    while (!stop) {
      if (const uint64_t ticket = slots::arm({&clock, at(0), 8, true, 1, 0}); ticket != 0) slots::finish(ticket);
    }
  });
  bool taken = false;
  for (int round = 0; round < 200'000 && !taken; ++round) {
    uint64_t ticket = 0;
    while (ticket == 0) ticket = slots::arm({&mine, at(1), 8, true, 2, 0});
    Sample with{};
    for (int trap = 0; trap < 8; ++trap) taken |= slots::hit(mine, {ticket, at(1)}, with);
  }
  stop = true;
  other.join();
  EXPECT_FALSE(taken);
}

TEST_F(Slots, ATrapThatHadToWaitIsLate) {
  ASSERT_NE(arm(1, true), 0U);
  on_other_thread([](Clock&) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTRAP);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    watched[1] = 1;
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  });
  EXPECT_EQ(races, 0);
}

TEST_F(Slots, AThreadThatIsThereAlreadyAndItsChildrenAreWatched) {
  std::atomic<bool> armed = false;
  std::thread other([&] {
    while (!armed) usleep(1000);
    on_other_thread([](Clock&) { watched[6] = 1; });
  });
  usleep(1000);
  ASSERT_NE(arm(6, false), 0U);
  armed = true;
  other.join();
  EXPECT_EQ(races, 1);
}

TEST_F(Slots, AThreadFromBeforeCanBeAdopted) {
  breakpoints::close();
  std::atomic<int> id = 0;
  std::atomic<bool> armed = false;
  std::thread older([&] {
    Clock clock;
    my_clock = &clock;
    id = gettid();
    while (!armed) usleep(1000);
    watched[6] = 1;
  });
  while (id == 0) usleep(1000);
  begin({});
  ASSERT_TRUE(breakpoints::adopt(id));
  ASSERT_NE(arm(6, false), 0U);
  armed = true;
  older.join();
  EXPECT_EQ(races, 1);
}

TEST_F(Slots, ThreadsBornWhileSlotsChangeSeeTheLastOne) {
  std::atomic<bool> stop = false;
  Clock clock;  // outlives the thread, as its samples do
  std::thread changes([&] {
    while (!stop) slots::arm({&clock, at(7), 8, true, 1, 0}), tick(clock);
  });
  for (int round = 0; round < 200; ++round) on_other_thread([](Clock&) { watched[0] = 1; });
  stop = true;
  changes.join();
  EXPECT_EQ(races, 0);
  ASSERT_NE(arm(0, true), 0U);
  on_other_thread([](Clock&) { watched[0] = 1; });
  EXPECT_EQ(races, 1);
}

TEST_F(Slots, ManyThreadsOneRaceEach) {
  constexpr int kThreads = 200;
  std::atomic<int> round = 0, done = 0;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      Clock clock;
      my_clock = &clock;
      while (round <= i) usleep(500);
      watched[1] = 1;
      ++done;
    });
  }
  for (int i = 0; i < kThreads; i += 20) {
    ASSERT_NE(arm(1, true), 0U);
    round = i + 20;
    while (done < i + 20) usleep(500);
    EXPECT_EQ(races, i / 20 + 1);
  }
  for (auto& t : threads) t.join();
}

TEST_F(Slots, AForkedChildHasItsOwn) {
  ASSERT_NE(arm(1, true), 0U);
  const pid_t child = fork();
  if (child == 0) {
    const slots::Started started = slots::start_in_child();
    if (!started.hardware || slots::any()) _exit(1);
    if (arm(2, true) == 0) _exit(2);
    on_other_thread([](Clock&) { watched[1] = 1; });  // the parent's
    if (races != 0) _exit(3);
    on_other_thread([](Clock&) { watched[2] = 1; });
    _exit(races == 1 ? 0 : 4);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  on_other_thread([](Clock&) { watched[2] = 1; });
  EXPECT_EQ(races, 0);
  on_other_thread([](Clock&) { watched[1] = 1; });
  EXPECT_EQ(races, 1) << "the child changed the parent's";
}

TEST_F(Slots, SomebodyElsesBreakpointsLeaveFewer) {
  breakpoints::close();
  const breakpoints::Opened all = breakpoints::open();
  ASSERT_EQ(all.count, kBreakpoints);
  std::thread([&] {
    // This thread has copies of the four; another set for it cannot be had.
    EXPECT_FALSE(breakpoints::adopt(gettid()));
  }).join();
}

TEST_F(Slots, LostDescriptorsAreNoticed) {
  for (int fd = 900; fd < 920; ++fd) ::close(fd);
  ASSERT_NE(arm(1, true), 0U);
  EXPECT_FALSE(slots::is_hardware());
}

TEST_F(Slots, WithoutBreakpointsAccessesAreAskedFor) {
  begin({.hardware = false});
  ASSERT_NE(arm(1, false), 0U);
  Clock other;
  Sample with{};
  EXPECT_FALSE(slots::take(mine, at(1), 8, true, ~uint64_t{0}, with)) << "its own";
  EXPECT_FALSE(slots::take(other, at(1), 8, false, ~uint64_t{0}, with)) << "two reads";
  EXPECT_FALSE(slots::take(other, at(1) + 8, 8, true, ~uint64_t{0}, with));
  EXPECT_FALSE(slots::take(other, at(1), 8, true, g_samples_taken - 1, with)) << "taken since";
  EXPECT_TRUE(slots::take(other, at(1) + 7, 1, true, ~uint64_t{0}, with));
  EXPECT_EQ(with.access, 101U);
  EXPECT_FALSE(slots::any());
}

TEST_F(Slots, ForgottenMemoryIsNotWatched) {
  ASSERT_NE(arm(1, true), 0U);
  slots::forget(at(1) + 4, 1);
  on_other_thread([](Clock&) { watched[1] = 1; });
  EXPECT_EQ(traps, 0);
}

TEST_F(Slots, AWaitEndsWithTheSample) {
  const uint64_t ticket = arm(1, true);
  ASSERT_NE(ticket, 0U);
  std::thread other([] {
    Clock clock;
    my_clock = &clock;
    usleep(1000);
    watched[1] = 1;
  });
  slots::wait(ticket, 3'600'000'000'000);
  EXPECT_FALSE(slots::finish(ticket));
  other.join();
  EXPECT_EQ(races, 1);
  const uint64_t again = arm(1, true);
  slots::wait(again, 1'000'000);
  EXPECT_TRUE(slots::finish(again));
}

TEST_F(Slots, OnlyWatchedBytesMayBeWatched) {
  const uint64_t ticket = arm(1, true);
  ASSERT_NE(ticket, 0U);
  EXPECT_TRUE(slots::may_be_watched(at(1)));
  EXPECT_FALSE(slots::may_be_watched(at(2)));
  EXPECT_TRUE(slots::finish(ticket));
  EXPECT_FALSE(slots::may_be_watched(at(1)));
}

// Ticks of a thread and of a handler that comes at any of its instructions.
Clock interrupted;
std::atomic<uint64_t> interruptions;
void tick_too(int) {
  g_samples_taken = g_samples_taken + 1;
  tick(interrupted);
  ++interruptions;
}

TEST(Clock, NoTickIsLostToAHandler) {
  struct sigaction action{}, before{};
  action.sa_handler = &tick_too;
  ASSERT_EQ(sigaction(SIGALRM, &action, &before), 0);
  const itimerval often{{0, 20}, {0, 20}}, never{};
  ASSERT_EQ(setitimer(ITIMER_REAL, &often, nullptr), 0);
  uint64_t ticks = 0;
  for (bool late = false; !late && (interruptions < 2000 || ticks < 1'000'000); ++ticks) {
    tick(interrupted);
    const uint64_t so_far = interruptions;
    const bool differ = interrupted.seen != g_samples_taken;
    late = differ && interruptions == so_far;
    EXPECT_FALSE(late) << "what the handler saw was forgotten";
  }
  ASSERT_EQ(setitimer(ITIMER_REAL, &never, nullptr), 0);
  sigaction(SIGALRM, &before, nullptr);
  EXPECT_EQ(interrupted.ticks, ticks + interruptions);
}

// Two instructions, one that runs a thousand times as often, take the time of a program in turns.
TEST(Turns, RareCodeHasItsShareAndTheTimeIsSeldomLookedAt) {
  constexpr uint64_t kLongest = 10'000'000, kHot = 100, kCold = 100'000, kEnd = 2'000'000'000;  // nanoseconds
  Turn turns[2];
  Rest rests[2];
  uint64_t samples[2] = {}, looks = 0;
  const auto execute = [&](int i, uint64_t now) {
    if (!turns[i].is_up()) return;
    ++looks;
    if (now >= rests[i].until()) {
      rests[i].begin(now, kLongest);
      ++samples[i];
    }
    turns[i].wait(now, rests[i].until());
  };
  for (uint64_t now = 1; now < kEnd; now += kHot) {
    execute(0, now);
    if (now % kCold < kHot) execute(1, now);
  }
  EXPECT_GE(samples[0], kEnd / kLongest / 2);
  EXPECT_LE(samples[0], kEnd / kLongest + 10);
  EXPECT_GE(samples[1], kEnd / kLongest / 2);
  EXPECT_LT(looks, kEnd / kHot / 1000);
}

TEST(Part, IsWhatOneBreakpointCanWatch) {
  for (uintptr_t address = 64; address < 96; ++address) {
    for (const uintptr_t size : {1U, 2U, 3U, 4U, 7U, 8U, 16U, 100U}) {
      const Part p = part_of(address, size);
      EXPECT_EQ(p.address, address);
      EXPECT_LE(p.length, size);
      EXPECT_EQ(address % p.length, 0U);
      EXPECT_TRUE(p.length == 1 || p.length == 2 || p.length == 4 || p.length == 8);
    }
  }
}

}  // namespace
}  // namespace pf::watch
