// errno is the program's: nothing the detector does at an access, a lock, an allocation or a signal may change it.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <atomic>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

int shared, faults;
std::atomic<int> counter;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void handle(int) {
  int saved = errno;
  if (saved != ERANGE) faults++;
  close(-1);
  errno = saved;
}

int main() {
  signal(SIGUSR1, handle);
  errno = ERANGE;
  shared++;
  counter++;
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  void* block = malloc(100);
  use(block);
  free(block);
  raise(SIGUSR1);
  in_turn([] { shared++; }, [] { counter++; });
  return errno == ERANGE && faults == 0 ? 0 : 1;
}
