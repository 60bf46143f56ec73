// vfork with exec, posix_spawn, system and popen start programs that are not instrumented, from a thread.
// RUN: %cc -O1 %s -o %t && %norace %t
#include "order.h"
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;
int codes;

static void first(void) {
  int status = 0;
  pid_t child = vfork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", "exit 1", NULL);
    _exit(100);
  }
  waitpid(child, &status, 0);
  codes += WEXITSTATUS(status);
  char* arguments[] = {"sh", "-c", "exit 2", NULL};
  if (posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ) == 0) waitpid(child, &status, 0);
  codes += WEXITSTATUS(status);
}
static void second(void) {
  int status = system("exit 3");
  FILE* pipe = popen("exit 4", "r");
  status += pclose(pipe);
  use(status);
}

int main(void) {
  in_turn(first, second);
  return codes - 3;
}
