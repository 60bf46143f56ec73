// A library that orders by a lock of its own, which no argument leads to: by arguments alone nobody can know, unless the program says what is
// used inside. With the library's state (libs=barrier) it is known.
// RUN: %plainxx -shared -fPIC -DLIBRARY %s -o %t.so
// RUN: %cxx -O1 %s %t.so -o %t && %cxx -O1 -DSAYS -I%S/../../../include %s %t.so -o %t.says
// RUN: %with fasttrack,libs=barrier %norace %t && %with fasttrack,libs=arguments %race %t | %FileCheck %s
// RUN: %with "fasttrack,libs=barrier fasttrack,libs=arguments" %norace %t.says
// RUN: %exits 66 %photofinish run -e fasttrack,libs=barrier,stateless=uses* -- %t | %FileCheck %s
// RUN: %photofinish -q record --libs arguments -o %t.pft -- %t.says && %photofinish analyze -e rdit %t.pft
// RUN: %photofinish -q record --libs arguments -o %t.pft -- %t && %exits 66 %photofinish analyze -e rdit %t.pft | %FileCheck %s
// CHECK: race: write-{{(write|read)}} on {{(global )?}}shared
#ifdef LIBRARY
#include <atomic>
#include <sched.h>
static std::atomic<int> lock;
extern "C" void enter() {
  while (lock.exchange(1)) sched_yield();
}
extern "C" void leave() { lock.store(0); }
#else
#include "order.h"

extern "C" void enter();
extern "C" void leave();
int shared;

#ifdef SAYS
#include <photofinish/photofinish.h>
static char the_lock;
#define SAY PHOTOFINISH_USES(&the_lock, 1)
#else
#define SAY
#endif

static void add() {
  SAY;
  enter();
  shared++;
  SAY;
  leave();
}

int main() {
  in_turn(add, add);
  return shared - 2;
}
#endif
