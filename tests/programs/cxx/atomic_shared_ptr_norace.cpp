// std::atomic<std::shared_ptr> hands an object from thread to thread; its lock is inside of the library's header.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <atomic>
#include <memory>

std::atomic<std::shared_ptr<int>> shared;

int main() {
  in_turn([] { shared.store(std::make_shared<int>(41)); },
          [] {
            std::shared_ptr<int> mine = shared.load();
            *mine += 1;
            shared.exchange(nullptr);
          });
}
