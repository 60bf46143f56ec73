// Parent and child have memory of their own after the fork; the child's clocks go on from the thread that forked, and
// the locks of atfork handlers are free in both.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <sys/wait.h>
#include <unistd.h>

int shared;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void work() {
  pthread_mutex_lock(&mutex);
  shared++;
  pthread_mutex_unlock(&mutex);
}
static void* fork_here(void*) {
  shared = 10;
  pid_t child = fork();
  if (child == 0) {
    shared++;
    together(work, work);
    _exit(shared == 13 ? 0 : 1);
  }
  shared = 20;
  int status = 1;
  waitpid(child, &status, 0);
  shared += status;
  return nullptr;
}

int main() {
  pthread_atfork([] { pthread_mutex_lock(&mutex); }, [] { pthread_mutex_unlock(&mutex); },
                 [] { pthread_mutex_unlock(&mutex); });
  pthread_t thread;
  pthread_create(&thread, nullptr, fork_here, nullptr);
  pthread_join(thread, nullptr);
  return shared - 20;
}
