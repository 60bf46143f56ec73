// What cannot be attached to is told, and left alone.
// RUN: %plainxx -g %s -o %t
// RUN: %attached %t -- 'photofinish attach $pid' 'photofinish attach 4194305' 'photofinish attach $$ --for never' 'photofinish attach' | %FileCheck %s
// CHECK: has SIGTRAP blocked, so a breakpoint would end it
// CHECK-NEXT: photofinish: exit code 2
// CHECK-NEXT: photofinish: there is no process 4194305
// CHECK-NEXT: photofinish: exit code 2
// CHECK-NEXT: --for never: a time such as 30s or 10m expected
// CHECK-NEXT: photofinish: exit code 2
// CHECK-NEXT: PID is required
// CHECK-NEXT: photofinish: exit code 2
// CHECK-NEXT: ready
// CHECK-NEXT: program: exit code 0
// RUN: %plainxx -g -static %s -o %t
// RUN: %attached %t -- 'photofinish attach $pid' | %FileCheck %s --check-prefix=STATIC
// STATIC: has no glibc (linked statically?)
// STATIC-NEXT: photofinish: exit code 2
// STATIC-NEXT: ready
// STATIC-NEXT: program: exit code 0
#include <signal.h>
#include <stdio.h>

#include <thread>

int main() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  std::thread waiting([&] {
    int number = 0;
    while (sigwait(&all, &number) == 0 && number != SIGUSR1) {
    }
  });
  puts("ready");
  fflush(stdout);
  waiting.join();
}
