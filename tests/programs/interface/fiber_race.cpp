// A switch between fibers that is told not to synchronize leaves them unordered, like threads.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

extern "C" void* __tsan_get_current_fiber();
extern "C" void* __tsan_create_fiber(unsigned flags);
extern "C" void __tsan_destroy_fiber(void* fiber);
extern "C" void __tsan_switch_to_fiber(void* fiber, unsigned flags);

int shared;  // CHECK: race: write-write on global shared of 4 bytes

__attribute__((noinline)) static void on_fiber() {
  shared = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
  use(0);
}

int main() {
  const unsigned no_sync = 1;
  void* main_fiber = __tsan_get_current_fiber();
  void* fiber = __tsan_create_fiber(0);
  __tsan_switch_to_fiber(fiber, no_sync);
  on_fiber();
  __tsan_switch_to_fiber(main_fiber, no_sync);
  shared = 2;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
  __tsan_destroy_fiber(fiber);
}
