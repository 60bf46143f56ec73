// What is written after the timer was set is not ordered with the thread that it starts.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <signal.h>
#include <time.h>

int shared;  // CHECK: race: write-write on global shared of 4 bytes

void tick(sigval) {
  order_wait(1);
  shared = 2;  // CHECK: #0 main {{.*}}[[FILE]]:[[#@LINE+12]]
               // CHECK: #0 tick {{.*}}[[FILE]]:[[#@LINE-1]]
  order_done(2);
}

int main() {
  sigevent how = {};
  how.sigev_notify = SIGEV_THREAD;
  how.sigev_notify_function = tick;
  timer_t timer;
  const itimerspec soon = {{0, 0}, {0, 1000000}};
  if (timer_create(CLOCK_MONOTONIC, &how, &timer) || timer_settime(timer, 0, &soon, nullptr)) return 1;
  shared = 1;
  order_done(1);
  order_wait(2);
}  // CHECK: 1 race in
