// A lock of the program's own that nobody described: the detector cannot know it.
// RUN: %cxx -O1 -DUNANNOTATED %s -o %t && %race %t | %FileCheck %s
#include "custom_lock.h"
#include "order.h"

int shared;  // CHECK: race: write-{{read|write}} on global shared of 4 bytes
CustomLock lock;

static void work() {
  lock.lock();
  shared++;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
  lock.unlock();
}

int main() { in_turn(work, work); }
