// Different sets of mutexes with one in common, taken in different orders.
// RUN: %cxx -O1 %s -o %t && %with "simplelock simplelock,q=0 multilock acculock eraser" %norace %t
#include "order.h"

int shared;
pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER, three = PTHREAD_MUTEX_INITIALIZER;

static void work(pthread_mutex_t* outer, pthread_mutex_t* inner) {
  pthread_mutex_lock(outer);
  pthread_mutex_lock(inner);
  shared++;
  pthread_mutex_unlock(outer);  // not in the order of a stack
  if (inner == &two) shared++;
  pthread_mutex_unlock(inner);
}

int main() {
  together(
      [] {
        for (int i = 0; i < 50; i++) work(&one, &two);
      },
      [] {
        for (int i = 0; i < 50; i++) work(&three, &two);
      });
}
