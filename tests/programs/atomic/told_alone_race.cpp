// A thread keeps its atomics to itself while nobody asks (runtime/told.h). Whoever asks must learn of the last one: of a thread that goes on, of
// more threads than a granule names, of one that had no room left for it, of one that has ended; and after it was asked, the thread must
// meet what came in between.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s --implicit-check-not=race:
#include <pthread.h>

#include "order.h"

constexpr int kThreads = 12, kMany = 3 * 4096;

alignas(64) long own, of_many, ended, in_between, handed;
long many[kMany];
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int thread_id;

INVISIBLE long call(long number, long a, long b, long c) {
  __asm__ volatile("syscall" : "+a"(number) : "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
  return number;
}
INVISIBLE void tell_id() {
  __asm__ volatile("movl %1, %0" : "=m"(thread_id) : "r"(static_cast<int>(call(186, 0, 0, 0))));
}
INVISIBLE void wait_until_gone() {
  constexpr long kYield = 24, kGetPid = 39, kTgkill = 234, kNoSuch = -3;
  const long process = call(kGetPid, 0, 0, 0);
  while (thread_id == 0 || call(kTgkill, process, thread_id, 0) != kNoSuch) call(kYield, 0, 0, 0);
}

// Each in an epoch of its own.
template <class F>
void often(F f) {
  for (int i = 0; i < 50; ++i) {
    f();
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
}

int main() {
  together(
      [] {
        often([] {
          __atomic_store_n(&own, 1, __ATOMIC_RELAXED);  // CHECK-DAG: race: write-read on global own of
          __atomic_store_n(&in_between, 1, __ATOMIC_RELAXED);
          __atomic_store_n(&handed, 1, __ATOMIC_RELAXED);
        });
        for (int round = 0; round < 3; ++round) {
          for (long& x : many)
            use(__atomic_fetch_add(&x, 1, __ATOMIC_RELAXED));  // CHECK-DAG: race: write-write on global many of
          pthread_mutex_lock(&mutex);
          pthread_mutex_unlock(&mutex);
        }
        pthread_mutex_lock(&mutex);
        order_done(1);
        order_wait(2);
        __atomic_store_n(&in_between, 2, __ATOMIC_RELAXED);  // CHECK-DAG: race: write-write on global in_between of
        pthread_mutex_unlock(&mutex);
        order_done(3);
      },
      [] {
        order_wait(1);
        use(own);
        many[5] = many[kMany - 1] = 1;
        in_between = 1;  // CHECK-DAG: race: write-write on global in_between of
        order_done(2);
        order_wait(3);
        pthread_mutex_lock(&mutex);  // after all of the other thread
        handed = 1;
        pthread_mutex_unlock(&mutex);
      });

  pthread_t threads[kThreads];
  for (pthread_t& t : threads) {
    pthread_create(
        &t, nullptr,
        [](void*) -> void* {
          often([] {
            use(__atomic_fetch_add(&of_many, 1, __ATOMIC_RELAXED));
          });  // CHECK-DAG: race: write-write on global of_many of
          order_arrive();
          order_wait(4 + kThreads);
          return nullptr;
        },
        nullptr);
  }
  order_wait(3 + kThreads);
  of_many = 0;
  order_done(4 + kThreads);
  for (const pthread_t t : threads) pthread_join(t, nullptr);

  pthread_t last;
  pthread_create(
      &last, nullptr,
      [](void*) -> void* {
        tell_id();
        often(
            [] { __atomic_store_n(&ended, 1, __ATOMIC_RELAXED); });  // CHECK-DAG: race: write-write on global ended of
        return nullptr;
      },
      nullptr);
  wait_until_gone();
  ended = 2;
  pthread_join(last, nullptr);
}
// CHECK: 7 races ({{[0-9]+}} times) in
