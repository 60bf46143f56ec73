// What was recorded before a kill, a crash, an _exit or a Ctrl-C is there, up to the last event.
// RUN: %cxx -O1 %s -o %t
// RUN: %exits 137 %photofinish record -o %t.pft -- %t kill && %photofinish trace check %t.pft
// RUN: %exits 66 %photofinish analyze %t.pft | %FileCheck %s
// RUN: %exits 139 %photofinish record -o %t.pft -- %t crash && %exits 66 %photofinish analyze %t.pft | %FileCheck %s
// RUN: %exits 3 %photofinish record -o %t.pft -- %t exit && %exits 66 %photofinish analyze %t.pft | %FileCheck %s
// RUN: %exits 130 %photofinish record -o %t.pft -- %t wait
// RUN: %exits 66 %photofinish analyze %t.pft | %FileCheck %s
// RUN: not ls %t.pft.recording-*
// RUN: not ls %t.pft.partial
// Photofinish itself is killed: its program goes on recording, and the trace can be made later, once it has ended.
// RUN: %exits 137 %photofinish record -o %t.pft -- %t parent
// RUN: timeout 60 bash -c 'until %photofinish record --recover %t.pft.recording-*; do sleep 0.1; done'
// RUN: %exits 66 %photofinish analyze %t.pft | %FileCheck %s
// RUN: not ls %t.pft.recording-*
// RUN: %exits 2 %photofinish record --recover %t.pft | %FileCheck --check-prefix=NONE %s
// NONE: is no folder of a recording
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <thread>
#include <unistd.h>

#include "order.h"

int busy[1000];
int racy;

int main(int, char** arguments) {
  std::thread([] {
    racy = 1;
    order_done(1);
  }).detach();
  for (int round = 0; round < 2000; ++round)
    for (int& b : busy) ++b;
  order_wait(1);
  racy = 2;  // CHECK: race: write-write on racy
  if (strcmp(arguments[1], "parent") == 0) kill(getppid(), SIGKILL), _exit(0);
  if (strcmp(arguments[1], "kill") == 0) kill(getpid(), SIGKILL);
  if (strcmp(arguments[1], "exit") == 0) _exit(3);
  if (strcmp(arguments[1], "wait") == 0) kill(getppid(), SIGINT), pause();
  *static_cast<volatile int*>(nullptr) = busy[0];
}
