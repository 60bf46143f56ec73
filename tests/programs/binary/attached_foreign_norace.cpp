// A process of another user is left alone.
// REQUIRES: root
// RUN: %plainxx -g %s -o %t
// RUN: %attached %t -- 'setpriv --reuid=65534 --regid=65534 --clear-groups "$tool" attach $pid 2>&1; echo "exit code $?"' | %FileCheck %s
// CHECK: photofinish: no right to attach to process [[#]]: be its user or root
// CHECK-NEXT: exit code 2
// CHECK-NEXT: ready
// CHECK-NEXT: program: exit code 0
#include <signal.h>
#include <stdio.h>

int main() {
  sigset_t last;
  sigemptyset(&last);
  sigaddset(&last, SIGUSR1);
  sigprocmask(SIG_BLOCK, &last, nullptr);
  puts("ready");
  fflush(stdout);
  int number = 0;
  sigwait(&last, &number);
}
