// __tsan_release and __tsan_acquire on an address make an order of their own.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"

extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);

int shared, channel;

int main() {
  in_turn(
      [] {
        shared = 1;
        __tsan_release(&channel);
      },
      [] {
        __tsan_acquire(&channel);
        shared++;
      });
  return shared - 2;
}
