// More accesses from different places than a mark in a cell has numbers for: those that come later are told exactly.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <atomic>

constexpr int kDepth = 12;  // of calls, each from one of two places
int filled[304];
std::atomic<int> tick;
int written, read_before;
struct {
  char a, b, c, d;
} parts;

#define ONE(N) filled[at + (N)] = (N);
#define FOUR(N) ONE(N) ONE((N) + 1) ONE((N) + 2) ONE((N) + 3)
#define SIXTEEN(N) FOUR(N) FOUR((N) + 4) FOUR((N) + 8) FOUR((N) + 12)
#define MANY(N) SIXTEEN(N) SIXTEEN((N) + 16) SIXTEEN((N) + 32) SIXTEEN((N) + 48) SIXTEEN((N) + 64) SIXTEEN((N) + 80)

__attribute__((noinline)) static void leaf(int at) {
  MANY(0) MANY(96) MANY(192) tick.store(1, std::memory_order_release);
}
__attribute__((noinline)) static void branch(int depth) {
  if (depth == 0) {
    leaf(0);
  } else {
    branch(depth - 1);
    branch(depth - 1);
  }
  use(depth);
}

int main() {
  use(&parts);  // all of it
  in_turn(
      [] {
        branch(kDepth);
        written = 1;       // CHECK: race: write-write on global written of 4 bytes
                           // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE-1]]
        use(read_before);  // CHECK: race: read-write on global read_before of 4 bytes
                           // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE-1]]
        parts.a = 1;
        parts.b = 1;  // CHECK: race: write-write on global parts of 4 bytes at offset 1
                      // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE-1]]
        parts.c = 1;  // CHECK: race: write-read on global parts of 4 bytes at offset 2
                      // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE-1]]
      },
      [] {
        written = 2;
        read_before = 1;
        parts.b = 2;
        use(parts.c);
        parts.d = 2;
      });
}  // CHECK: 4 races in
