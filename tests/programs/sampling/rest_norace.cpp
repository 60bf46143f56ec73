// A thread samples and waits in pthread_join before it has told anybody: meanwhile the others have rest, and what they release is told to
// nobody. When it wakes up, what it did is news, and what they did is known to it: all of this is ordered. So is what a thread
// does that was born, or whose operations were under way, when the rest began or ended.
// RUN: %cxx -O1 %s -o %t
// RUN: %with pacer,rate=0,period=1 %norace %t
// RUN: %with pacer,rate=20%%,period=50 %norace %t drawn
// RUN: %with pacer,rate=2%%,period=1000 %norace %t drawn
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "sampling/sampled.h"

constexpr int kRounds = 30, kThreads = 2;

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
std::atomic<bool> locked{false};
long by_mutex, by_exchange;
long news[kRounds];  // whose number is told under the mutex
int told = -1;
bool draws;

void sample(bool on) {
  if (!draws) AnnotateSampling(__FILE__, __LINE__, on);
}

void count(long times) {
  for (long i = 0; i < times; ++i) {
    pthread_mutex_lock(&mutex);
    ++by_mutex;
    pthread_mutex_unlock(&mutex);
    while (locked.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
    ++by_exchange;
    locked.store(false, std::memory_order_release);
  }
}

void* stay(void*) {
  long sum = 0;
  for (int latest = 0; latest < kRounds - 1;) {
    count(10);
    pthread_mutex_lock(&mutex);
    latest = told;
    pthread_mutex_unlock(&mutex);
    if (latest >= 0) sum += news[latest];
  }
  return reinterpret_cast<void*>(sum);
}
void* go(void*) {
  usleep(2000);  // until it is waited for, most likely
  sample(false);
  count(500);
  usleep(2000);  // until all know of each other, most likely
  return nullptr;
}

int main(int argc, char**) {
  draws = argc > 1;
  std::vector<pthread_t> staying(kThreads);
  for (pthread_t& t : staying) pthread_create(&t, nullptr, &stay, nullptr);
  for (int round = 0; round < kRounds; ++round) {
    pthread_t going;
    sample(true);
    count(1);
    pthread_create(&going, nullptr, &go, nullptr);
    news[round] = 1;
    pthread_join(going, nullptr);
    pthread_mutex_lock(&mutex);
    told = round;
    pthread_mutex_unlock(&mutex);
    usleep(2000);  // until somebody has read it, most likely
  }
  for (const pthread_t& t : staying) pthread_join(t, nullptr);
}
