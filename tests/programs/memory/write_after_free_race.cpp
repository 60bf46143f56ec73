// A block that one thread deletes and another writes later: a race with the free.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

struct Node {
  long words[5];
};
Node* node;
// CHECK: race: free-write on freed heap block of 40 bytes at offset 16
int main() {
  node = new Node();
  use(node);
  in_turn([] { delete node; },          // CHECK: [[FILE]]:[[#@LINE]]
          [] { node->words[2] = 1; });  // CHECK: [[FILE]]:[[#@LINE]]
}
