// A signal handler runs in the thread that got the signal: its write races with that of another thread.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <signal.h>

static void handle(int number);

int shared;  // CHECK: race: write-write on global shared of 4 bytes

int main() {
  signal(SIGUSR1, handle);
  in_turn([] { shared = 1; },  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
          [] { raise(SIGUSR1); });
}

static void handle(int number) {
  shared = number;  // CHECK: #0 handle{{.*}}[[FILE]]:[[#@LINE]]
}
