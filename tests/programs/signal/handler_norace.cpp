// A signal handler and the code it interrupts are one thread: they never race with each other.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <signal.h>
#include <string.h>
#include <unistd.h>

volatile int shared;

static void handle(int, siginfo_t* info, void*) {
  if (info->si_pid == getpid()) shared = shared + 1;
}

int main() {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGUSR1, &action, nullptr);
  for (int i = 0; i < 50; i++) {
    shared = shared + 1;
    kill(getpid(), SIGUSR1);
  }
  return shared - 100;
}
