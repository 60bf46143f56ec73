// The report tells where a heap block was allocated, and in which thread, through the program's own allocator.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <stdlib.h>

struct Item {
  int first, second;
};
Item* item;

__attribute__((noinline)) static Item* make_item() {
  Item* made = static_cast<Item*>(calloc(3, sizeof(Item)));
  use(made);
  return made;
}
// CHECK: race: write-write on heap block of 24 bytes at offset 20
int main() {
  item = make_item() + 2;
  in_turn([] { item->second = 1; }, [] { item->second = 2; });
}
// CHECK: allocated by main thread
// CHECK: make_item{{.*}}[[FILE]]:[[#@LINE-10]]
// CHECK-NEXT: main{{.*}}[[FILE]]:[[#@LINE-5]]
