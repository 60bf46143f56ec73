// A forked child has memory of its own: whatever other threads of the parent did before the fork, alive or over, joined or
// not, is not at the same time as what the child does.
// RUN: %cxx -O1 %s -o %t && %norace %t
// RUN: %with "djit generic shb multilock" %norace %t
#include "order.h"
#include <sys/wait.h>
#include <unistd.h>

int by_live, by_ended, by_detached, read_by_live;

static void* live(void*) {
  by_live = 1;
  use(read_by_live);
  order_done(1);
  order_wait(4);
  return nullptr;
}
static void* end(void*) {
  by_ended = 1;
  order_done(2);
  return nullptr;
}
static void* detach(void*) {
  pthread_detach(pthread_self());
  by_detached = 1;
  order_done(3);
  return nullptr;
}

int main() {
  pthread_t threads[3];
  pthread_create(&threads[0], nullptr, live, nullptr);
  order_wait(1);
  pthread_create(&threads[1], nullptr, end, nullptr);
  order_wait(2);
  pthread_create(&threads[2], nullptr, detach, nullptr);
  order_wait(3);
  usleep(20000);  // until they are gone
  const pid_t child = fork();
  if (child == 0) {
    by_live++;
    by_ended++;
    by_detached++;
    read_by_live++;
    in_turn([] { by_live += read_by_live; }, [] { use(read_by_live); });
    _exit(by_live == 3 && by_ended == 2 && by_detached == 2 ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  order_done(4);
  pthread_join(threads[0], nullptr);
  pthread_join(threads[1], nullptr);
  return status;
}
