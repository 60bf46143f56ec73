// How simplelock keeps what threads did in few words: sets of readers, lists, and pieces when there are many; and in each the count of locks.
// RUN: %cxx -O1 %s -o %t
// RUN: %with "simplelock tree:simplelock" %race %t readers | %FileCheck %s --check-prefix=MANY
// RUN: %with "simplelock tree:simplelock" %race %t writers | %FileCheck %s --check-prefix=MANY
// RUN: %with simplelock %race %t bytes | %FileCheck %s --check-prefix=BYTES
// RUN: %with simplelock %race %t again | %FileCheck %s --check-prefix=AGAIN
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include "order.h"

union {
  long all;
  char bytes[8];
} shared;
std::mutex mine[12], other;

// Twelve threads, one after the other in time alone, each at a place of its own; what the last one does meets them all.
template <int... places>
static void each(auto body, auto last, std::integer_sequence<int, places...>) {
  std::thread threads[] = {std::thread([body] {
    order_wait(places);
    body(std::integral_constant<int, places>{});
    order_done(places + 1);
  })...};
  std::thread one_more([last] {
    order_wait(sizeof...(places));
    last();
  });
  for (std::thread& t : threads) t.join();
  one_more.join();
}
constexpr std::make_integer_sequence<int, 12> kTwelve;

template <int place>
[[gnu::noinline]] static void read() {
  use(shared.all + place);
}
template <int place>
[[gnu::noinline]] static void write() {
  shared.all = place;
}

// MANY: simplelock: 12 races
// MANY: tree:simplelock: 12 races
static void readers() {
  each([](auto place) { read<place>(); },
       [] {
         const std::lock_guard guard(other);
         shared.all = 100;
       },
       kTwelve);
}
static void writers() {
  each(
      [](auto place) {
        const std::lock_guard guard(mine[place]);
        write<place>();
      },
      [] { shared.all = 100; }, kTwelve);
}

// In one epoch, without a lock and with one: only the first meets a writer that has another.
// BYTES: race: write-write on global shared
// BYTES-NEXT: first write of 1 byte by thread 1, no lock held
// BYTES-NOT: race:
// BYTES: simplelock: 1 race
static void bytes() {
  in_turn(
      [] {
        shared.bytes[0] = 1;
        const std::lock_guard guard(mine[0]);
        shared.bytes[1] = 1;
      },
      [] {
        const std::lock_guard guard(other);
        shared.bytes[1] = 2;
        shared.bytes[0] = 2;
      });
}

// What is done again after a lock was let go of is another access in the full order, and the same in the weak one: with fewer locks, it
// stands for both; with more, it does not.
// AGAIN: simplelock: 1 race
static void again() {
  in_turn(
      [] {
        {
          const std::lock_guard guard(mine[0]);
          shared.bytes[0] = 1;
          shared.bytes[1] = 1;
        }
        shared.bytes[0] = 2;
        const std::lock_guard guard(mine[0]);
        shared.bytes[0] = 3;
      },
      [] {
        const std::lock_guard guard(other);
        shared.bytes[1] = 4;
        shared.bytes[0] = 4;
      });
}

int main(int, char** arguments) {
  const std::string_view what = arguments[1];
  what == "readers" ? readers() : what == "writers" ? writers() : what == "bytes" ? bytes() : again();
}
