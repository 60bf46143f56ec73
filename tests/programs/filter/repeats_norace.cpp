// Repeats in one context are dropped, and only those: a loop over its own data with a lock around each round.
// RUN: %cxx -O1 %s -o %t && %with "tree:simplelock tree:multilock tree,exact:fasttrack" %norace %t | %FileCheck %s
// CHECK: with tree:simplelock:
// CHECK: filters dropped {{[0-9,]+}} of {{[0-9,]+}} accesses
// CHECK: with tree:multilock:
// CHECK: filters dropped {{[0-9,]+}} of {{[0-9,]+}} accesses
#include <mutex>
#include <thread>

std::mutex lock;
volatile int own[2][16], shared;

void work(int mine) {
  for (int round = 0; round < 1000; ++round) {
    const std::lock_guard guard(lock);
    for (volatile int& x : own[mine]) x = x + 1;
    shared = shared + 1;
  }
}

int main() {
  std::thread one(work, 0), two(work, 1);
  one.join();
  two.join();
}
