// Whoever owns a block, nothing that is done there gets lost (runtime/owners.h): threads count in blocks, without a lock where they are
// alone, and stay long enough to come to own what others want next.
#include "runtime/owners.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace pf::rt::owners {
namespace {

constexpr unsigned kThreads = 4, kBlocks = 64;
constexpr uint64_t kStays = 400, kLongestStay = 5000;
constexpr std::size_t kFar = std::size_t{4} << 20;

struct alignas(kGroup * sizeof(Block)) Blocks {
  Block at[kBlocks];
  uint64_t counts[kBlocks];
};

class Owners : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(sys::register_barrier_on_all_threads()); }
};

// Enlisted, so it stays: others look at it from then on.
Thread& new_thread() {
  static std::vector<std::unique_ptr<Thread>> all;
  all.push_back(std::make_unique<Thread>());
  enlist(*all.back());
  return *all.back();
}

// What a thread did, and how.
struct Work {
  uint64_t all = 0, alone = 0;
};

// Alone, as far as the thread knows. Now and then it takes its time, so that who does not wait for it is found out.
void count_alone(uint64_t& count, bool slowly) {
  const uint64_t before = __atomic_load_n(&count, __ATOMIC_RELAXED);
  if (slowly) std::this_thread::yield();
  __atomic_store_n(&count, before + 1, __ATOMIC_RELAXED);
}

Work work(Thread& t, Blocks& blocks, uint64_t seed) {
  Work done;
  std::mt19937_64 random(seed);
  std::vector<uint64_t> far(kFar);
  // What the thread writes next, others see later: the processor writes this first, and has to fetch it from afar.
  const auto write_far = [&] {
    for (unsigned i = 0; i < 16; ++i) __atomic_store_n(&far[random() % kFar], i, __ATOMIC_RELAXED);
  };
  for (uint64_t i = 0; i < kStays; ++i) {
    const uint64_t where = random() % kBlocks;
    Block& block = blocks.at[where];
    uint64_t& count = blocks.counts[where];
    for (uint64_t left = random() % kLongestStay; left > 0; --left, ++done.all) {
      bool is_own = false;
      const uint64_t draw = random();
      if (draw % 4 == 0) write_far();
      {
        const Visit visit(t, block);
        is_own = visit.is_own();
        if (is_own) {
          count_alone(count, draw % 64 == 0);
          ++done.alone;
        } else {
          __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
        }
      }
      if (!is_own) note_locked(t, block);
    }
  }
  return done;
}

// All threads at once: how they counted, and how often a block was owned and is everybody's again.
struct Round {
  uint64_t counted = 0, all = 0, alone = 0, changed_hands = 0;
};

Round play() {
  const auto blocks = std::make_unique<Blocks>();
  std::vector<Work> done(kThreads);
  std::vector<std::thread> running;
  for (unsigned i = 0; i < kThreads; ++i)
    running.emplace_back([&, i, &t = new_thread()] { done[i] = work(t, *blocks, i); });
  for (auto& r : running) r.join();

  Round round;
  for (const uint64_t c : blocks->counts) round.counted += c;
  for (const Block& b : blocks->at) round.changed_hands += b.since != 0 && b.owner == Block::kEverybody ? 1 : 0;
  for (const Work& w : done) {
    round.all += w.all;
    round.alone += w.alone;
  }
  return round;
}

// On a busy machine, who wants to own something may be told for long that it took too much time already.
TEST_F(Owners, NothingIsLost) {
  constexpr unsigned kPatience = 30;
  bool was_somebody_alone = false, has_changed_hands = false;
  for (unsigned i = 0; i < kPatience && !(was_somebody_alone && has_changed_hands); ++i) {
    const Round round = play();
    ASSERT_EQ(round.counted, round.all);
    EXPECT_LT(round.alone, round.all);
    was_somebody_alone |= round.alone > round.all / 100;
    has_changed_hands |= round.changed_hands > 0;
  }
  EXPECT_TRUE(was_somebody_alone);
  EXPECT_TRUE(has_changed_hands);
}

TEST_F(Owners, NobodyIsAloneWhileAnotherIsAtWork) {
  using namespace std::chrono_literals;
  const auto blocks = std::make_unique<Blocks>();
  Block& block = blocks->at[0];
  Thread &owner = new_thread(), &other = new_thread();
  const auto whose = [&] { return __atomic_load_n(&block.owner, __ATOMIC_ACQUIRE); };
  std::thread running;
  {
    const Visit visit(other, block);
    running = std::thread([&] {
      while (whose() == Block::kEverybody) consider(owner, block);
    });
    while (whose() == Block::kEverybody) std::this_thread::yield();
    // Who does not wait is alone by then; who does never is, however long this takes.
    std::this_thread::sleep_for(20ms);
    EXPECT_EQ(whose(), owner.number | Block::kChanging);
  }
  running.join();
  EXPECT_EQ(whose(), owner.number);
}

// The owner is at work all the time, and what it writes is seen late; another one wants the block, again and again.
TEST_F(Owners, WhoComesSeesTheOwnerAtWork) {
  constexpr unsigned kRounds = 400;
  const auto blocks = std::make_unique<Blocks>();
  Block& block = blocks->at[0];
  Thread &owner = new_thread(), &other = new_thread();
  uint64_t count = 0;
  std::atomic<unsigned> round = 0;
  uint64_t by_owner = 0;
  std::thread running([&] {
    std::vector<uint64_t> far(kFar);
    std::mt19937_64 random(1);
    const auto work = [&] {
      for (unsigned i = 0; i < 16; ++i) __atomic_store_n(&far[random() % kFar], i, __ATOMIC_RELAXED);
      const Visit visit(owner, block);
      if (visit.is_own()) {
        count_alone(count, false);
      } else {
        __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
      }
      ++by_owner;
      return visit.is_own();
    };
    while (round < kRounds) {
      block.in_vain = 0;
      for (unsigned i = 0; block.owner != owner.number && i < 10'000'000; ++i) consider(owner, block);
      ++round;
      while (work()) {
      }
    }
  });
  std::mt19937_64 random(2);
  uint64_t by_other = 0;
  for (unsigned seen = 0; seen < kRounds; ++by_other) {
    while (round == seen) __builtin_ia32_pause();
    seen = round;
    for (uint64_t wait = random() % 1000; wait > 0; --wait) __builtin_ia32_pause();
    const Visit visit(other, block);
    __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
  }
  running.join();
  EXPECT_EQ(count, by_owner + by_other);
}

}  // namespace
}  // namespace pf::rt::owners
