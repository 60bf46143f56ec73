// Histories of all kinds, sampled by two threads in one period, then known to both: there is rest, and they are forgotten (rest.h).
#pragma once
#include <pthread.h>

#include "order.h"
#include "sampling/sampled.h"

constexpr int kBytes = 1 << 16, kCounters = 64;

alignas(4096) inline unsigned char written[kBytes];
inline volatile long shared[kCounters];
inline long counters[kCounters];
inline pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

inline void end_epoch() {
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
}

// Granules with more marks than fit in place.
inline void write_bytes_in_many_epochs() {
  for (int byte = 0; byte < 8; ++byte) {
    for (int i = byte; i < kBytes; i += 8) written[i] = 1;
    end_epoch();
  }
}
inline void read_and_count() {
  for (int i = 0; i < kCounters; ++i) {
    use(shared[i]);
    use(__atomic_fetch_add(&counters[i], 1, __ATOMIC_RELAXED));
  }
}

inline void synchronize() {
  for (int i = 0; i < 1000; ++i) end_epoch();
}

// In turns: each leaves the period, and hears of the other.
inline void first_of_two() {
  AnnotateSampling(__FILE__, __LINE__, 1);
  order_done(1);
  write_bytes_in_many_epochs();
  read_and_count();
  order_wait(2);
  AnnotateSampling(__FILE__, __LINE__, 0);
  synchronize();
  order_done(3);
  order_wait(4);
  synchronize();
  order_done(5);
}
inline void second_of_two() {
  order_wait(1);
  read_and_count();
  order_done(2);
  order_wait(3);
  synchronize();
  order_done(4);
  order_wait(5);
}

// The main thread is the first: on its way to pthread_join it would be in the way of rest.
inline void with_another(Body first, Body second) {
  pthread_t other;
  const auto run = [](void* body) -> void* { return reinterpret_cast<Body>(body)(), nullptr; };
  pthread_create(&other, nullptr, run, reinterpret_cast<void*>(second));
  first();
  pthread_join(other, nullptr);
}
