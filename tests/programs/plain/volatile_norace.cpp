// Volatile accesses under a mutex are ordered like any other.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"

volatile int flag;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void touch() {
  pthread_mutex_lock(&mutex);
  flag = flag + 1;
  pthread_mutex_unlock(&mutex);
}

int main() { in_turn(touch, touch); }
