// Threads that wait for a condition while others have rest, and tell nobody what they release: a notification is told all the same, so
// all of this is ordered. Some of them fall asleep in a period; memory is freed and used again meanwhile.
// RUN: %cxx -O1 %s -o %t
// RUN: %with pacer,rate=0,period=1 %norace %t
// RUN: %with pacer,rate=20%%,period=50 %norace %t drawn
// RUN: %with pacer,rate=2%%,period=1000 %norace %t drawn
#include <pthread.h>

#include <memory>
#include <vector>

#include "sampling/sampled.h"

constexpr int kRounds = 40, kSleepers = 3, kWords = 300;

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, busy = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t wake = PTHREAD_COND_INITIALIZER, slept = PTHREAD_COND_INITIALIZER;
int round_now, asleep;
long by_busy, sums[kSleepers];
std::unique_ptr<std::vector<long>> news;  // written before its round is told
bool draws;

void sample(bool on) {
  if (!draws) AnnotateSampling(__FILE__, __LINE__, on);
}

void count(int times) {
  for (int i = 0; i < times; ++i) {
    pthread_mutex_lock(&busy);
    ++by_busy;
    pthread_mutex_unlock(&busy);
    const std::vector<long> scratch(kWords, i);  // from where the others' were
  }
}

void* sleep_and_read(void* p) {
  long& sum = *static_cast<long*>(p);
  for (int round = 1; round <= kRounds; ++round) {
    pthread_mutex_lock(&mutex);
    if (++asleep == kSleepers) pthread_cond_signal(&slept);
    while (round_now < round) pthread_cond_wait(&wake, &mutex);
    for (const long n : *news) sum += n;
    pthread_mutex_unlock(&mutex);
  }
  return nullptr;
}

void* work(void*) {
  count(3000);
  return nullptr;
}

int main(int argc, char**) {
  draws = argc > 1;
  std::vector<pthread_t> sleepers(kSleepers);
  for (int i = 0; i < kSleepers; ++i) pthread_create(&sleepers[i], nullptr, &sleep_and_read, &sums[i]);
  pthread_t worker;
  pthread_create(&worker, nullptr, &work, nullptr);
  for (int round = 1; round <= kRounds; ++round) {
    sample(round % 3 != 0);
    pthread_mutex_lock(&mutex);
    while (asleep < kSleepers) pthread_cond_wait(&slept, &mutex);
    asleep = 0;
    pthread_mutex_unlock(&mutex);
    auto fresh = std::make_unique<std::vector<long>>(kWords, round);
    sample(false);
    count(200);  // until there is rest, most likely
    pthread_mutex_lock(&mutex);
    news = std::move(fresh);
    round_now = round;
    pthread_mutex_unlock(&mutex);
    pthread_cond_broadcast(&wake);
  }
  for (const pthread_t& t : sleepers) pthread_join(t, nullptr);
  pthread_join(worker, nullptr);
}
