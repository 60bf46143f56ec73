// A 16-byte vector store overlaps a 4-byte lane in its upper half.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

typedef int Vector __attribute__((vector_size(16)));
union Both {
  Vector all;
  int lanes[4];
} shared;  // CHECK: race: write-write on global shared of 16 bytes

int main() {
  in_turn([] { shared.all = Vector{1, 2, 3, 4}; },  // CHECK: [[FILE]]:[[#@LINE]]
          [] { shared.lanes[3] = 1; });             // CHECK: [[FILE]]:[[#@LINE]]
}
