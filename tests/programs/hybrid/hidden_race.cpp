// Which lock hid a potential race: the report names a release and an acquire that put its accesses in order, as far back as the thread of the
// second remembers its acquires.
// RUN: %cxx -O1 %s -o %t
// RUN: %with "multilock acculock simplelock simplelock,q=0" %race %t reader | %FileCheck %s --check-prefix=READER
// RUN: %with multilock %race %t readers | %FileCheck %s --check-prefix=READERS
// RUN: %with multilock %race %t third | %FileCheck %s --check-prefix=THIRD
// RUN: %exits 66 %photofinish run -e multilock -r json -- %t third | %FileCheck %s --check-prefix=JSON
// RUN: %with multilock %race %t wait | %FileCheck %s --check-prefix=WAIT
// RUN: %with multilock %race %t block | %FileCheck %s --check-prefix=BLOCK
// RUN: %with multilock %race %t forgotten | %FileCheck %s --check-prefix=UNNAMED
// RUN: %with "multilock simplelock" %race %t parent | %FileCheck %s --check-prefix=PARENT
// RUN: %with multilock %race %t posted | %FileCheck %s --check-prefix=UNNAMED
#include <semaphore.h>

#include <mutex>
#include <string_view>
#include <thread>

#include "order.h"

int shared;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void pass(pthread_mutex_t& m) {
  pthread_mutex_lock(&m);
  pthread_mutex_unlock(&m);
}

// The read side of an rwlock is told apart.
static void reader() {
  in_turn(
      [] {
        shared = 1;
        pthread_rwlock_rdlock(&rwlock);
        pthread_rwlock_unlock(&rwlock);  // READER: thread 1 released rwlock (read) at {{.*}}[[FILE]]:[[#@LINE]]
      },
      [] {
        pthread_rwlock_wrlock(&rwlock);  // READER-NEXT: thread 2 acquired rwlock at {{.*}}[[FILE]]:[[#@LINE]]
        pthread_rwlock_unlock(&rwlock);
        shared = 2;
      });
}

// Of several readers the one that made the first access, whoever was first or last.
// READERS: thread 2 released rwlock (read) at
// READERS-NEXT: thread 4 acquired rwlock at
static void readers() {
  static constexpr auto read = [](int turn) {
    order_wait(turn - 1);
    if (turn == 2) shared = 1;
    pthread_rwlock_rdlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
    order_done(turn);
  };
  std::thread one(read, 1), two(read, 2), three(read, 3);
  std::thread writer([] {
    order_wait(3);
    pthread_rwlock_wrlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
    shared = 2;
  });
  for (std::thread* t : {&one, &two, &three, &writer}) t->join();
}

// Two locks, one after the other, by way of a third thread: the last edge.
// JSON: "hidden_by":{"lock":"second","release":{"thread":{"id":2,
// JSON-SAME: "acquire":{"thread":{"id":3,
static void third() {
  std::thread one([] {
    shared = 1;
    pass(mutex);
    order_done(1);
  });
  std::thread two([] {
    order_wait(1);
    pthread_mutex_lock(&mutex);
    pthread_mutex_lock(&second);
    pthread_mutex_unlock(&second);  // THIRD: thread 2 released second at {{.*}}[[FILE]]:[[#@LINE]]
    pthread_mutex_unlock(&mutex);
    order_done(2);
  });
  std::thread three([] {
    order_wait(2);
    pthread_mutex_lock(&second);  // THIRD-NEXT: thread 3 acquired second at {{.*}}[[FILE]]:[[#@LINE]]
    shared = 2;
    pthread_mutex_unlock(&second);
  });
  one.join();
  two.join();
  three.join();
}

// A wait takes its mutex again.
static void wait() {
  static int woken;
  std::thread one([] {
    order_wait(1);
    shared = 1;
    pass(mutex);  // WAIT: thread 1 released mutex at pass
    order_done(2);
  });
  std::thread two([] {
    pthread_mutex_lock(&mutex);
    order_done(1);
    while (!is_raised(&woken)) pthread_cond_wait(&condition, &mutex);  // WAIT-NEXT: acquired mutex at {{.*}}[[#@LINE]]
    pthread_mutex_unlock(&mutex);
    shared = 2;
  });
  order_wait(2);
  raise_flag(&woken);
  pthread_cond_signal(&condition);
  one.join();
  two.join();
}

// A lock that has no name.
// BLOCK: thread 1 released 0x[[#%x,LOCK:]] at
// BLOCK-NEXT: thread 2 acquired 0x[[#%x,LOCK]] at
static void block() {
  static auto* const lock = new std::mutex;
  in_turn(
      [] {
        shared = 1;
        const std::lock_guard guard(*lock);
      },
      [] {
        {
          const std::lock_guard guard(*lock);
        }
        shared = 2;
      });
}

// UNNAMED: race: write-write on global shared
// UNNAMED: hidden in this run: nothing but lock order put the first before the second
// UNNAMED-NOT: released

// After many acquires that taught of another thread, the one that taught of the first access is not kept any more.
static void forgotten() {
  static pthread_mutex_t many[100];
  for (pthread_mutex_t& m : many) pthread_mutex_init(&m, nullptr);
  std::thread one([] {
    shared = 1;
    pass(mutex);
    order_done(1);
  });
  std::thread two([] {
    order_wait(1);
    for (pthread_mutex_t& m : many) pass(m);
    order_done(2);
  });
  std::thread three([] {
    order_wait(2);
    pass(mutex);
    for (pthread_mutex_t& m : many) pass(m);
    shared = 2;
  });
  one.join();
  two.join();
  three.join();
}

// It was not the thread itself that acquired, but its parent.
static void parent() {
  std::thread one([] {
    shared = 1;
    pass(mutex);  // PARENT: thread 1 released mutex at pass
    order_done(1);
  });
  order_wait(1);
  pass(mutex);  // PARENT-NEXT: main thread acquired mutex at pass
  std::thread two([] { shared = 2; });
  one.join();
  two.join();
}

// Another thread, which told it by a semaphore.
static void posted() {
  static sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  std::thread one([] {
    shared = 1;
    pass(mutex);
    order_done(1);
  });
  std::thread two([] {
    order_wait(1);
    pass(mutex);
    sem_post(&semaphore);
  });
  std::thread three([] {
    sem_wait(&semaphore);
    shared = 2;
  });
  one.join();
  two.join();
  three.join();
}

int main(int, char** arguments) {
  const std::string_view what = arguments[1];
  what == "reader"      ? reader()
  : what == "readers"   ? readers()
  : what == "third"     ? third()
  : what == "wait"      ? wait()
  : what == "block"     ? block()
  : what == "forgotten" ? forgotten()
  : what == "posted"    ? posted()
                        : parent();
}
