// A lock-free stack that publishes its nodes with relaxed order: their contents race.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <atomic>

struct Node {
  long value;
  Node* next;
};
std::atomic<Node*> top;
// CHECK: race: write-read on heap block of 16 bytes
int main() {
  in_turn(
      [] {
        Node* node = new Node;
        node->value = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        top.store(node, std::memory_order_relaxed);
      },
      [] {
        Node* node = top.load(std::memory_order_acquire);
        use(node->value);  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
      });
}
