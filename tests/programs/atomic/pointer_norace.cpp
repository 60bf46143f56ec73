// A lock-free stack: nodes are pushed with release and taken with acquire.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <atomic>

struct Node {
  int value;
  Node* next;
};
std::atomic<Node*> top;
int sum;

int main() {
  in_turn(
      [] {
        for (int i = 1; i <= 4; i++) {
          Node* node = new Node{i, top.load(std::memory_order_relaxed)};
          while (!top.compare_exchange_weak(node->next, node, std::memory_order_release)) continue;
        }
      },
      [] {
        for (Node* node = top.exchange(nullptr, std::memory_order_acquire); node;) {
          sum += node->value;
          Node* next = node->next;
          delete node;
          node = next;
        }
      });
  return sum - 10;
}
