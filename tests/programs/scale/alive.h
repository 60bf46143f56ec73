// Threads that stay: each does its part in turn, and then waits in the kernel, unseen, until the program ends.
#pragma once
#include "order.h"
#include <limits.h>
#include <unistd.h>

static int alive_ends[2];
static void (*alive_part)(int number);

INVISIBLE static void alive_wait(void) {
  char byte;
  long call = 0;  // SYS_read
  __asm__ volatile("syscall" : "+a"(call) : "D"(alive_ends[0]), "S"(&byte), "d"(1L) : "rcx", "r11", "memory");
}
INVISIBLE static void* alive_run(void* number) {
  alive_part((int)(long)number);
  order_arrive();
  alive_wait();
  return NULL;
}

// Runs part(0), part(1), ..., each in a thread of its own that outlives all of them; only time orders them. The number of threads
// that could be made.
INVISIBLE static int alive_all(void (*part)(int), int count) {
  static pthread_t threads[4096];
  pthread_attr_t small;
  int made = 0;
  alive_part = part;
  if (pipe(alive_ends) != 0) return 0;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, PTHREAD_STACK_MIN + 65536);
  while (made < count && pthread_create(&threads[made], &small, alive_run, (void*)(long)made) == 0) order_wait(++made);
  close(alive_ends[1]);
  for (int i = 0; i < made; i++) pthread_join(threads[i], NULL);
  return made;
}
