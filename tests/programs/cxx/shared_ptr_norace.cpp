// The last shared_ptr to go deletes the object, ordered after all other owners by the reference count alone.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <memory>
#include <thread>

struct Node {
  int words[4] = {};
  ~Node() {
    for (int& word : words) word = -1;
    use(this);
  }
};

int main() {
  auto node = std::make_shared<Node>();
  std::weak_ptr<Node> weak = node;
  std::thread one([node]() mutable {
    node->words[1] = 1;
    node.reset();
    order_done(1);
  });
  std::thread two([weak] {
    if (auto strong = weak.lock()) strong->words[2] = 1;
    order_wait(1);
  });
  node->words[0] = 1;
  node.reset();
  one.join();
  two.join();
  return weak.expired() ? 0 : 1;
}
