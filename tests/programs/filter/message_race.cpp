// The same access after a message is another one.
// RUN: %cxx -O1 %s -o %t && %with "tree:multilock tree,exact:fasttrack" %race %t | %FileCheck %s
// CHECK: with tree:multilock:
// CHECK: race: {{.*}} on global after_message
// CHECK: with tree,exact:fasttrack:
// CHECK: race: {{.*}} on global after_message
#include <atomic>

#include "order.h"

int after_message;
std::atomic<int> flag;

[[gnu::noinline]] void touch() { after_message = 1; }

int main() {
  in_turn(
      [] {
        for (int i = 0; i < 2; ++i) {
          touch();  // the second time after what was published: the other thread knows the first one only
          if (i == 0) flag.store(1, std::memory_order_release);
        }
      },
      [] {
        while (flag.load(std::memory_order_acquire) == 0) {
        }
        after_message = 2;
      });
}
