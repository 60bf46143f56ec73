// C11 mutexes: a mtx_trylock that fails orders nothing.
// RUN: %cc -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <threads.h>

int shared;  // CHECK: race: write-write on global shared of 4 bytes
mtx_t mutex;

static void first(void) {
  mtx_lock(&mutex);
  shared = 1;  // CHECK: #0 first {{.*}}[[FILE]]:[[#@LINE]]
  order_done(1);
  order_wait(2);
  mtx_unlock(&mutex);
}
static void second(void) {
  order_wait(1);
  if (mtx_trylock(&mutex) == thrd_busy) shared = 2;  // CHECK: #0 second {{.*}}[[FILE]]:[[#@LINE]]
  order_done(2);
}

int main(void) {
  mtx_init(&mutex, mtx_plain);
  together(first, second);
}
