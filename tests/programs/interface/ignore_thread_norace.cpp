// __tsan_ignore_thread_begin and _end leave all accesses of the thread out.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"

extern "C" void __tsan_ignore_thread_begin();
extern "C" void __tsan_ignore_thread_end();

int shared;

int main() {
  in_turn([] { shared = 1; },
          [] {
            __tsan_ignore_thread_begin();
            shared++;
            __tsan_ignore_thread_end();
          });
}
