// The parent's own memory is not copied: its other threads race on as ever, and so do the child's among themselves.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <sys/wait.h>
#include <unistd.h>

int in_parent, in_child;
// CHECK-DAG: race: write-write on global in_parent of 4 bytes
// CHECK-DAG: race: write-write on global in_child of 4 bytes

static void* live(void*) {
  in_parent = 1;
  in_child = 1;
  order_done(1);
  order_wait(2);
  return nullptr;
}

int main() {
  pthread_t thread;
  pthread_create(&thread, nullptr, live, nullptr);
  order_wait(1);
  const pid_t child = fork();
  if (child == 0) {
    in_turn([] { in_child = 2; }, [] { in_child = 3; });
    _exit(0);
  }
  in_parent = 2;
  waitpid(child, nullptr, 0);
  order_done(2);
  pthread_join(thread, nullptr);
}  // CHECK: 2 races in
