// What the programs of this suite share: an order in time that no detector can see, and threads that run in it.
//
// The steps are kept by moves in inline assembly and waited for by raw system calls, which neither compiler instruments
// and no interceptor meets: they make an execution repeatable and create no happens-before. x86-64 only.
#pragma once
#include <pthread.h>
#include <stddef.h>

#ifdef __clang__
#define INVISIBLE __attribute__((disable_sanitizer_instrumentation, noinline, unused))
#else
#define INVISIBLE __attribute__((no_sanitize("thread"), noinline, unused))
#endif

// Keeps a value, and all memory it may point to, from being optimized away.
#define use(value) __asm__ volatile("" : : "r"(value) : "memory")

static int order_step;

// Says that step n is over. Steps only grow.
INVISIBLE static void order_done(int n) { __asm__ volatile("movl %1, %0" : "=m"(order_step) : "r"(n) : "memory"); }

// Says that one more of several threads has come this far.
INVISIBLE static void order_arrive(void) { __asm__ volatile("lock incl %0" : "+m"(order_step) : : "memory"); }

// Waits until step n is over, or n threads have arrived.
INVISIBLE static void order_wait(int n) {
  for (;;) {
    int step;
    __asm__ volatile("movl %1, %0" : "=r"(step) : "m"(order_step) : "memory");
    if (step >= n) return;
    long yield = 24;  // SYS_sched_yield
    __asm__ volatile("syscall" : "+a"(yield) : : "rcx", "r11", "memory");
  }
}

// Sets and awaits a flag of the program's own in the same invisible way.
INVISIBLE static void raise_flag(int* flag) { __asm__ volatile("movl $1, %0" : "=m"(*flag) : : "memory"); }
INVISIBLE static int is_raised(const int* flag) {
  int value;
  __asm__ volatile("movl %1, %0" : "=r"(value) : "m"(*flag) : "memory");
  return value;
}

typedef void (*Body)(void);

static Body order_bodies[2];
static int order_first_over;

INVISIBLE static void* order_run_first(void* in_turn) {
  order_bodies[0]();
  if (in_turn != NULL) raise_flag(&order_first_over);
  return NULL;
}

INVISIBLE static void* order_run_second(void* in_turn) {
  while (in_turn != NULL && !is_raised(&order_first_over)) {
    long yield = 24;  // SYS_sched_yield
    __asm__ volatile("syscall" : "+a"(yield) : : "rcx", "r11", "memory");
  }
  order_bodies[1]();
  return NULL;
}

INVISIBLE static void order_run(Body first, Body second, void* in_turn) {
  pthread_t one, two;
  order_bodies[0] = first;
  order_bodies[1] = second;
  pthread_create(&one, NULL, order_run_first, in_turn);
  pthread_create(&two, NULL, order_run_second, in_turn);
  pthread_join(one, NULL);
  pthread_join(two, NULL);
}

// Thread 1 runs first; when that is over, thread 2 runs second. Only time orders the two.
INVISIBLE static void in_turn(Body first, Body second) { order_run(first, second, &order_step); }

// Thread 1 runs first, thread 2 runs second, and only they know in which order.
INVISIBLE static void together(Body first, Body second) { order_run(first, second, NULL); }
