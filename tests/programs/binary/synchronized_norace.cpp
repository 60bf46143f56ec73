// All that orders threads in a program that is not instrumented, inlined atomics included: nothing is called a race.
// RUN: %plainxx -g %s -o %t
// RUN: %exits 0 %sample -- %t 4 2>&1 | %FileCheck %s
// CHECK-NOT: {{^}}race:
// CHECK: sums are equal
// CHECK-NOT: {{^}}race:
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include "until.h"

static struct {
  long locked, read_often, spun, turns, queue[64];
} shared;
static std::mutex mutex;
static std::shared_mutex rwlock;
static std::condition_variable changed;
static int whose_turn;
static std::atomic<unsigned> head, tail;
static std::atomic<long> relaxed;
static std::atomic_flag spin = ATOMIC_FLAG_INIT;

[[gnu::noinline]] static void add_locked() {
  const std::lock_guard guard(mutex);
  ++shared.locked;
}
[[gnu::noinline]] static void read_often(int i) {
  if (i % 8 == 0) {
    const std::unique_lock guard(rwlock);
    ++shared.read_often;
  } else {
    const std::shared_lock guard(rwlock);
    if (shared.read_often < 0) std::puts("negative");
  }
}
[[gnu::noinline]] static void add_spinning() {
  while (spin.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  ++shared.spun;
  spin.clear(std::memory_order_release);
}
[[gnu::noinline]] static void put(long x) {
  const unsigned t = tail.load(std::memory_order_relaxed);
  while (t - head.load(std::memory_order_acquire) == 64) std::this_thread::yield();
  shared.queue[t % 64] = x;
  tail.store(t + 1, std::memory_order_release);
}
[[gnu::noinline]] static long take() {
  const unsigned h = head.load(std::memory_order_relaxed);
  while (tail.load(std::memory_order_acquire) == h) std::this_thread::yield();
  const long x = shared.queue[h % 64];
  head.store(h + 1, std::memory_order_release);
  return x;
}
[[gnu::noinline]] static void take_turns(int me) {
  std::unique_lock guard(mutex);
  while (whose_turn != me) changed.wait(guard);
  ++shared.turns;
  whose_turn = 1 - me;
  changed.notify_all();
}

#ifdef UNTIL_SIGNAL
#include <signal.h>
static volatile sig_atomic_t done;
static auto until_end(char**) {
  signal(SIGUSR1, [](int) { done = 1; });
  std::puts("ready");
  std::fflush(stdout);
  return [] { return done != 0; };
}
#else
static auto until_end(char** argv) {
  return [start = start_time(), limit = std::atoi(argv[1])] { return seconds_since(&start) >= limit; };
}
#endif

int main(int, char** argv) {
  const auto is_over = until_end(argv);
  long given = 0, taken = 0;
  std::thread producer([&] {
    for (int i = 1; !is_over(); ++i) {
      add_locked(), read_often(i), add_spinning(), put(i);
      given += i;
      relaxed.store(relaxed.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      if (i % 64 == 0) take_turns(0);
    }
    put(0);
    take_turns(0);
  });
  std::thread consumer([&] {
    int i = 1;
    for (long x = take(); x != 0; x = take(), ++i) {
      add_locked(), read_often(i), add_spinning();
      taken += x;
      relaxed.store(i, std::memory_order_relaxed);
      if (i % 64 == 0) take_turns(1);
    }
    take_turns(1);
  });
  producer.join();
  consumer.join();
  std::puts(given == taken ? "sums are equal" : "sums differ");
}
