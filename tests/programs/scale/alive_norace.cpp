// Two thousand threads alive at once, far more than a mark in a cell can tell apart: each writes a byte of its own beside the
// others', they add under a lock, and hand a value on by release and acquire.
// RUN: %cxx -O1 %s -o %t && %norace %t
// RUN: %with "djit shb" %norace %t
#include "scale/alive.h"
#include <atomic>

constexpr int kThreads = 2000;
char own[kThreads];
long sum, handed;
std::atomic<int> turn;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void part(int number) {
  own[number] = 1;
  pthread_mutex_lock(&mutex);
  sum += number;
  pthread_mutex_unlock(&mutex);
  if (number < 1000) return;
  if (turn.load(std::memory_order_acquire) == number - 1000) handed++;
  turn.store(number - 999, std::memory_order_release);
  own[number]++;
}

int main() {
  if (alive_all(part, kThreads) != kThreads) return 1;
  return sum == 1999000 && handed == 1000 ? 0 : 2;
}
