// A lock of the program's own, invisible in its making, described to the detector by the __tsan_mutex annotations.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "custom_lock.h"
#include "order.h"

int shared;
CustomLock lock;

static void work() {
  for (int i = 0; i < 20; i++) {
    lock.lock();
    shared++;
    lock.unlock();
  }
}

int main() {
  together(work, work);
  return shared - 40;
}
