// A thread that reads beside a value which others read is not one of that value's readers: its own read of such a value
// counts later.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

struct alignas(8) Pair {
  int left, right;
};
Pair pairs[2];  // CHECK: race: read-write on global pairs of 16 bytes at offset 12

void* read_right(void* step) {
  order_wait(*static_cast<int*>(step));
  for (Pair& p : pairs) use(p.right);
  order_done(*static_cast<int*>(step) + 1);
  return nullptr;
}

void* read_left_then_right(void*) {
  order_wait(2);
  use(pairs[0].left);
  use(pairs[1].right);  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
  order_done(3);
  return nullptr;
}

int main() {
  static int steps[] = {0, 1};
  pthread_t threads[3];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], nullptr, read_right, &steps[i]);
  pthread_create(&threads[2], nullptr, read_left_then_right, nullptr);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], nullptr);
  order_wait(3);
  pairs[1].right = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
  pthread_join(threads[2], nullptr);
}
// CHECK-NOT: race:
