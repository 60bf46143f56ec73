// Everything that orders, with every access sampled: no false alarm, whatever the moment that a breakpoint is set and traps.
// RUN: %cxx -O1 %s -o %t
// RUN: %with "clockrace,rate=100%%,overhead=100%% clockrace,rate=100%%,overhead=100%%,symmetric" %norace %t 800
// RUN: %with "collision,rate=100%%,delay=200us,overhead=100%%" %norace %t 30
// RUN: env PHOTOFINISH_OPTIONS=breakpoints=0 %with "clockrace,rate=100%%,overhead=100%% clockrace,rate=100%%,overhead=100%%,symmetric" %norace %t 3000
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

int rounds;
int plain[16];  // of each test its own

void run(void (*body)(int)) {
  std::thread one(body, 0), two(body, 1);
  one.join();
  two.join();
}

void with_mutex(int) {
  static std::mutex lock;
  for (int i = 0; i < rounds; ++i) {
    const std::lock_guard guard(lock);
    ++plain[0];
  }
}

void with_shared_mutex(int own) {
  static std::shared_mutex lock;
  for (int i = 0; i < rounds; ++i) {
    if (i % 4 == own) {
      const std::lock_guard guard(lock);
      ++plain[1];
    } else {
      const std::shared_lock guard(lock);
      if (plain[1] < 0) abort();
    }
  }
}

void with_spin_lock(int) {
  static std::atomic<bool> taken;
  for (int i = 0; i < rounds; ++i) {
    while (taken.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
    ++plain[2];
    taken.store(false, std::memory_order_release);
  }
}

void with_fences(int own) {
  static std::atomic<int> turn;
  for (int i = 0; i < rounds / 10; ++i) {
    while (turn.load(std::memory_order_relaxed) % 2 != own) std::this_thread::yield();
    std::atomic_thread_fence(std::memory_order_acquire);
    ++plain[3];
    std::atomic_thread_fence(std::memory_order_release);
    turn.store(turn.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
}

void with_condition(int own) {
  static std::mutex lock;
  static std::condition_variable changed;
  static int turn;
  for (int i = 0; i < rounds / 10; ++i) {
    {
      std::unique_lock guard(lock);
      changed.wait(guard, [own] { return turn % 2 == own; });
    }
    ++plain[4];  // the turn is mine
    const std::lock_guard guard(lock);
    ++turn;
    changed.notify_all();
  }
}

pthread_barrier_t barrier;
void with_barrier(int own) {
  for (int i = 0; i < rounds / 10; ++i) {
    if (i % 2 == own) ++plain[5];
    pthread_barrier_wait(&barrier);
  }
}

// One producer, one consumer; what is handed over is changed by both.
void with_queue(int own) {
  constexpr int kSize = 8;
  static int* slots[kSize];
  static std::atomic<unsigned> head, tail;
  static int items[kSize * 2];
  for (int i = 0; i < rounds; ++i) {
    if (own == 0) {
      while (tail.load(std::memory_order_relaxed) - head.load(std::memory_order_acquire) == kSize)
        std::this_thread::yield();
      const unsigned at = tail.load(std::memory_order_relaxed);
      items[at % (kSize * 2)] = i;
      slots[at % kSize] = &items[at % (kSize * 2)];
      tail.store(at + 1, std::memory_order_release);
    } else {
      while (head.load(std::memory_order_relaxed) == tail.load(std::memory_order_acquire)) std::this_thread::yield();
      const unsigned at = head.load(std::memory_order_relaxed);
      *slots[at % kSize] += 1;
      head.store(at + 1, std::memory_order_release);
    }
  }
}

// Memory goes from thread to thread by way of the allocator alone.
void with_heap(int own) {
  for (int i = 0; i < rounds; ++i) {
    auto* p = static_cast<int*>(malloc(64));
    p[0] = own;
    p[5] = i;
    if (p[0] != own) abort();
    free(p);
  }
}

sem_t full, empty;
void with_semaphore(int own) {
  for (int i = 0; i < rounds / 10; ++i) {
    sem_wait(own == 0 ? &empty : &full);
    ++plain[6];
    sem_post(own == 0 ? &full : &empty);
  }
}

int pipes[2][2];
void with_pipe(int own) {
  char byte = 0;
  for (int i = 0; i < rounds / 10; ++i) {
    if (read(pipes[own][0], &byte, 1) != 1) abort();
    ++plain[7];
    if (write(pipes[1 - own][1], &byte, 1) != 1) abort();
  }
}

void with_once(int) {
  static std::once_flag flag;
  for (int i = 0; i < rounds; ++i) {
    std::call_once(flag, [] { plain[8] = 1; });
    if (plain[8] != 1) abort();
  }
}

void with_threads() {
  for (int i = 0; i < rounds / 30; ++i) {
    ++plain[9];
    std::thread([] { ++plain[9]; }).join();
    ++plain[9];
  }
}

// Neither of these is a race with an atomic access; and two atomic ones never are.
void with_atomics(int) {
  static std::atomic<int> counter;
  for (int i = 0; i < rounds; ++i) counter.fetch_add(1, std::memory_order_relaxed);
}

// A handler comes at any moment, also when a lock is about to be given up, and works on what the lock guards if its thread still has it.
std::atomic<int> owner;
thread_local int me;  // 0 until the thread has begun, as the owner of what nobody has
void work_on_signal(int) {
  if (me != 0 && owner.load(std::memory_order_relaxed) == me) ++plain[10];
}
void with_signals_on(int own) {
  me = own + 1;
  for (int i = 0; i < rounds; ++i) {
    for (int nobody = 0; !owner.compare_exchange_weak(nobody, me, std::memory_order_acquire); nobody = 0)
      std::this_thread::yield();
    ++plain[10];
    owner.store(0, std::memory_order_release);
  }
}
void with_signals() {
  signal(SIGUSR1, &work_on_signal);
  std::atomic<int> at_work = 2;
  const auto body = [&](int own) {
    with_signals_on(own);
    --at_work;
  };
  std::thread one(body, 0), two(body, 1);
  while (at_work != 0) {
    pthread_kill(one.native_handle(), SIGUSR1);
    pthread_kill(two.native_handle(), SIGUSR1);
    usleep(50);
  }
  one.join();
  two.join();
}

int main(int, char** arguments) {
  rounds = atoi(arguments[1]);
  pthread_barrier_init(&barrier, nullptr, 2);
  sem_init(&full, 0, 0);
  sem_init(&empty, 0, 1);
  if (pipe(pipes[0]) != 0 || pipe(pipes[1]) != 0 || write(pipes[0][1], "", 1) != 1) abort();
  for (const auto body :
       {&with_mutex, &with_shared_mutex, &with_spin_lock, &with_fences, &with_condition, &with_barrier, &with_queue,
        &with_heap, &with_semaphore, &with_pipe, &with_once, &with_atomics}) {
    run(body);
  }
  with_threads();
  with_signals();
}
