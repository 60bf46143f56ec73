// One process is recorded: what it forks goes on without, and so does what these execute; its own trace is whole.
// RUN: %cxx -O1 %s -o %t && %photofinish -q record -o %t.pft -- %t parent && %photofinish trace check %t.pft
// RUN: %photofinish analyze %t.pft && %photofinish trace cat %t.pft | %FileCheck %s
// CHECK: call(before)
// CHECK-NOT: call(child)
// CHECK: call(after)
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

int value;
extern "C" {
[[gnu::noinline]] void before() { value = 1; }
[[gnu::noinline]] void child() { value = 2; }
[[gnu::noinline]] void after() { value = 3; }
}

int main(int, char** arguments) {
  if (strcmp(arguments[1], "parent") != 0) {
    child();
    return 5;
  }
  before();
  const pid_t pid = fork();
  if (pid == 0) {
    child();
    std::thread(&child).join();
    execl(arguments[0], arguments[0], "child", nullptr);
    _exit(6);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  after();
  return WEXITSTATUS(status) == 5 ? 0 : 1;
}
