// More that cannot be attached to: what is debugged already, has ended, is stopped, or is a thread only.
// RUN: %plainxx -g %s -o %t
// RUN: %attached %t %t -- 'photofinish attach $(cat %t.traced)' 'photofinish attach $(cat %t.ended)' 'photofinish attach $(cat %t.stopped)' 'photofinish attach $(cat %t.thread)' | %FileCheck %s
// CHECK: photofinish: process [[#]] is being debugged by process [[#]]
// CHECK-NEXT: photofinish: exit code 2
// CHECK-NEXT: photofinish: process [[#]] has ended
// CHECK-NEXT: photofinish: exit code 2
// CHECK-NEXT: photofinish: process [[#]] is stopped: let it go on first (kill -CONT)
// CHECK-NEXT: photofinish: exit code 2
// CHECK-NEXT: photofinish: [[#THREAD:]] is a thread of process [[#]]: attach to that one
// CHECK-NEXT: photofinish: exit code 2
// CHECK-NEXT: ready
// CHECK-NEXT: program: exit code 0
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <thread>

static int traced[2];  // a pipe

static void wait_for_the_end() {
  sigset_t last;
  sigemptyset(&last);
  sigaddset(&last, SIGUSR1);
  int number = 0;
  sigwait(&last, &number);
}

static pid_t child(const std::string& name, void (*live)()) {
  const pid_t pid = fork();
  if (pid == 0) {
    live();
    _exit(0);
  }
  std::ofstream(name) << pid;
  return pid;
}

int main(int, char** arguments) {
  const std::string path = arguments[1];
  sigset_t last;
  sigemptyset(&last);
  sigaddset(&last, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &last, nullptr);
  if (pipe(traced) != 0) return 1;
  const pid_t children[] = {child(path + ".traced",
                                  [] {
                                    ptrace(PTRACE_TRACEME);
                                    if (write(traced[1], "", 1) != 1) _exit(1);
                                    wait_for_the_end();
                                  }),
                            child(path + ".ended", [] {}), child(path + ".stopped", [] { raise(SIGSTOP); })};
  siginfo_t info;
  waitid(P_PID, children[1], &info, WEXITED | WNOWAIT);
  waitid(P_PID, children[2], &info, WSTOPPED | WNOWAIT);
  char nothing;
  if (read(traced[0], &nothing, 1) != 1) return 1;
  std::thread([&] {
    std::ofstream(path + ".thread") << gettid();
    puts("ready");
    fflush(stdout);
    wait_for_the_end();
  }).join();
  for (const pid_t pid : children) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
}
