// Release fence, relaxed store; relaxed load, acquire fence: the fences synchronize (ThreadSanitizer does not know this).
// RUN: %cxx -O1 -DFIRST=release -DSECOND=acquire %s -o %t1 && %norace %t1
// RUN: %cxx -O1 -DFIRST=seq_cst -DSECOND=seq_cst %s -o %t2 && %norace %t2
// RUN: %cxx -O1 -DFIRST=acq_rel -DSECOND=acq_rel %s -o %t3 && %norace %t3
#include "order.h"
#include <atomic>

#define ORDER(name) ORDER_OF(name)
#define ORDER_OF(name) std::memory_order_##name

int data;
std::atomic<int> ready;

int main() {
  in_turn(
      [] {
        data = 1;
        std::atomic_thread_fence(ORDER(FIRST));
        ready.store(1, std::memory_order_relaxed);
      },
      [] {
        int seen = ready.load(std::memory_order_relaxed);
        std::atomic_thread_fence(ORDER(SECOND));
        if (seen == 1) data++;
      });
  return data - 2;
}
