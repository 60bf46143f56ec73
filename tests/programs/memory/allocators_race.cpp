// Every way to get a heap block makes one that the report knows by size and offset.
// RUN: %cxx -O1 -DALLOCATE="calloc(8,8)" %s -o %t1 && %race %t1 | %FileCheck %s
// RUN: %cxx -O1 -DALLOCATE="realloc(malloc(8),64)" %s -o %t2 && %race %t2 | %FileCheck %s
// RUN: %cxx -O1 -DALLOCATE="new(Block)" %s -o %t3 && %race %t3 | %FileCheck %s
// RUN: %cxx -O1 -DALLOCATE="new(long[8])" %s -o %t4 && %race %t4 | %FileCheck %s
// RUN: %cxx -O1 -DALLOCATE="new(std::nothrow)Block" %s -o %t5 && %race %t5 | %FileCheck %s
// RUN: %cxx -O1 -DALLOCATE="new(Wide)" %s -o %t6 && %race %t6 | %FileCheck %s
// RUN: %cxx -O1 -DALLOCATE="aligned_alloc(64,64)" %s -o %t7 && %race %t7 | %FileCheck %s
// RUN: %cxx -O1 -DALLOCATE="memalign(64,64)" %s -o %t8 && %race %t8 | %FileCheck %s
// RUN: %cxx -O1 -DALLOCATE="by_posix_memalign()" %s -o %t9 && %race %t9 | %FileCheck %s
// RUN: %cxx -O1 -DALLOCATE="reallocarray(nullptr,8,8)" %s -o %t10 && %race %t10 | %FileCheck %s
#include "order.h"
#include <malloc.h>
#include <new>
#include <stdlib.h>

struct Block {
  long words[8];
};
struct alignas(64) Wide {
  long words[8];
};
[[maybe_unused]] static void* by_posix_memalign() {
  void* result = nullptr;
  return posix_memalign(&result, 64, 64) == 0 ? result : nullptr;
}

long* block;
// CHECK: race: write-write on heap block of 64 bytes at offset 56
int main() {
  void* allocated = ALLOCATE;
  block = static_cast<long*>(allocated);
  use(block);
  in_turn([] { block[7] = 1; },   // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
          [] { block[7] = 2; });  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
}
// CHECK: allocated by main thread
// CHECK: main {{.*}}[[FILE]]:[[#@LINE-7]]
