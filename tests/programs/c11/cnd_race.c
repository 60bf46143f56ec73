// C11 conditions: a cnd_timedwait that timed out orders nothing.
// RUN: %cc -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <threads.h>

int shared;  // CHECK: race: write-read on global shared of 4 bytes
mtx_t mutex;
cnd_t condition;

static void first(void) {
  shared = 1;              // CHECK: #0 first {{.*}}[[FILE]]:[[#@LINE]]
  cnd_signal(&condition);  // nobody waits yet
}
static void second(void) {
  struct timespec past = {0, 1};
  mtx_lock(&mutex);
  cnd_timedwait(&condition, &mutex, &past);
  use(shared);  // CHECK: #0 second {{.*}}[[FILE]]:[[#@LINE]]
  mtx_unlock(&mutex);
}

int main(void) {
  mtx_init(&mutex, mtx_plain);
  cnd_init(&condition);
  in_turn(first, second);
}
