// Writes under the write side, reads under either.
// RUN: %cxx -O1 %s -o %t && %with "simplelock simplelock,q=0 multilock acculock eraser" %norace %t
#include "order.h"

int shared;
pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void work() {
  for (int i = 0; i < 50; i++) {
    pthread_rwlock_wrlock(&lock);
    shared++;
    pthread_rwlock_unlock(&lock);
    pthread_rwlock_rdlock(&lock);
    use(shared);
    pthread_rwlock_unlock(&lock);
  }
}

int main() {
  in_turn(work, work);
  together(work, work);
}
