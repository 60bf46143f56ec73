// Repeats in one context are dropped, and only those: a loop over its own data with a lock around each round.
// RUN: %cxx -O1 %s -o %t && %with "tree:simplelock tree:multilock tree,exact:fasttrack" %norace %t | %FileCheck %s
// CHECK: with tree:simplelock:
// CHECK: filters dropped {{[0-9,]+}} of {{[0-9,]+}} accesses
// CHECK: with tree:multilock:
// CHECK: filters dropped {{[0-9,]+}} of {{[0-9,]+}} accesses
// What it made of the accesses, in data.
// RUN: %photofinish run -e tree,memory=1:simplelock -r json -- %t | %FileCheck %s --check-prefix=JSON
// JSON: "filters":[{"name":"tree","events":{{[0-9]+}},"dropped":[[#DROPPED:]],"bytes":{{[0-9]+}},
// JSON-SAME: "rules":{"first in its context":{{[0-9]+}},"dropped: seen by this thread":[[#DROPPED]],
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
