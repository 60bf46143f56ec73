// std::call_once: the winner's writes are ordered before all callers; a call that throws lets the next one try.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <mutex>

int shared, tries;
std::once_flag once;

static void work() {
  std::call_once(once, [] {
    tries++;
    shared = 7;
  });
  use(shared);
}

int main() {
  in_turn(work, work);
  return shared == 7 && tries == 1 ? 0 : 1;
}
