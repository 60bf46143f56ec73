// Switching between fibers orders them, when the switch is not told otherwise.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"

extern "C" void* __tsan_get_current_fiber();
extern "C" void* __tsan_create_fiber(unsigned flags);
extern "C" void __tsan_destroy_fiber(void* fiber);
extern "C" void __tsan_switch_to_fiber(void* fiber, unsigned flags);
extern "C" void __tsan_set_fiber_name(void* fiber, const char* name);

int shared;

int main() {
  void* main_fiber = __tsan_get_current_fiber();
  void* fiber = __tsan_create_fiber(0);
  __tsan_set_fiber_name(fiber, "fiber");
  for (int i = 0; i < 10; i++) {
    shared++;
    __tsan_switch_to_fiber(fiber, 0);
    shared++;
    __tsan_switch_to_fiber(main_fiber, 0);
  }
  __tsan_destroy_fiber(fiber);
  return shared - 20;
}
