// Ten thousand mutexes, each guarding a variable of its own, all held at once by one thread and then by the other.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"

constexpr int count = 10000;
int shared[count];
pthread_mutex_t mutexes[count];

static void work() {
  for (pthread_mutex_t& mutex : mutexes) pthread_mutex_lock(&mutex);
  for (int& word : shared) word++;
  for (pthread_mutex_t& mutex : mutexes) pthread_mutex_unlock(&mutex);
}

int main() {
  for (pthread_mutex_t& mutex : mutexes) pthread_mutex_init(&mutex, nullptr);
  in_turn(work, work);
  for (pthread_mutex_t& mutex : mutexes) pthread_mutex_destroy(&mutex);
  return shared[count - 1] - 2;
}
