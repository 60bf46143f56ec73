// Who sets a timer comes before what it starts: a thread of libc's, or a handler in another thread. A signal comes before
// who reads of it from a signalfd.
// RUN: %cxx -O1 %s -o %t && %norace %t
// RUN: %with "djit shb multilock" %norace %t
#include "order.h"
#include <semaphore.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

int shared, handled;
sem_t done;

void tick(sigval) {
  shared++;
  sem_post(&done);
}
void handler(int) {
  shared++;
  handled = 1;
  sem_post(&done);
}
void* be_interrupted(void*) {
  sigset_t none;
  sigemptyset(&none);
  while (handled == 0) sigsuspend(&none);
  return nullptr;
}
void* read_signal(void* fd) {
  signalfd_siginfo info;
  if (read(*static_cast<int*>(fd), &info, sizeof info) == sizeof info) shared++;
  return nullptr;
}

int main() {
  sem_init(&done, 0, 0);
  sigevent how = {};
  how.sigev_notify = SIGEV_THREAD;
  how.sigev_notify_function = tick;
  timer_t timer;
  if (timer_create(CLOCK_MONOTONIC, &how, &timer)) return 1;
  shared = 1;
  const itimerspec soon = {{0, 0}, {0, 1000000}};
  if (timer_settime(timer, 0, &soon, nullptr)) return 2;
  sem_wait(&done);

  signal(SIGALRM, handler);
  sigset_t both;
  sigemptyset(&both);
  sigaddset(&both, SIGALRM);
  sigaddset(&both, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &both, nullptr);  // in the main thread for ever
  int fd = signalfd(-1, &both, 0);
  pthread_t interrupted, reader;
  pthread_create(&interrupted, nullptr, be_interrupted, nullptr);
  shared++;
  const itimerval once = {{0, 0}, {0, 20000}};
  if (setitimer(ITIMER_REAL, &once, nullptr)) return 3;
  sem_wait(&done);
  pthread_join(interrupted, nullptr);

  pthread_create(&reader, nullptr, read_signal, &fd);
  shared++;
  kill(getpid(), SIGUSR2);
  pthread_join(reader, nullptr);
  return shared == 6 ? 0 : 4;
}
