// One race of each kind, always in the same order: the first access is sampled, its thread neither goes on nor synchronizes.
// RUN: %cxx -O1 %s -o %t
// RUN: %with "clockrace,rate=100%%,overhead=100%%,limit=10s" %race %t write-write | %FileCheck %s -DTO=write_it -DFIRST=write -DSECOND=write
// RUN: %with "clockrace,rate=100%%,overhead=100%%,limit=10s" %race %t write-read | %FileCheck %s -DTO=read_it -DFIRST=write -DSECOND=read
// RUN: %with "clockrace,rate=100%%,overhead=100%%,limit=10s" %race %t read-write | %FileCheck %s -DTO=write_it -DFIRST=read -DSECOND=write
// RUN: %with "clockrace,rate=100%%,overhead=100%%,limit=10s" %race %t write-atomic | %FileCheck %s -DTO=add_atomically -DFIRST=write "-DSECOND=atomic write"
// RUN: %with "clockrace,rate=100%%,overhead=100%%,limit=10s" %race %t write-copy | %FileCheck %s -DTO=copy -DFIRST=write -DSECOND=write
// RUN: %with "clockrace,rate=100%%,overhead=100%%,limit=10s" %race %t write-free | %FileCheck %s -DTO=release -DFIRST=write -DSECOND=free
// RUN: %with "clockrace,rate=100%%,overhead=100%%,limit=10s,symmetric" %race %t lock-write | %FileCheck %s -DTO=write_it -DFIRST=write -DSECOND=write
// RUN: %with "clockrace,rate=100%%,overhead=100%%,limit=10s" %norace %t lock-write
// RUN: %with "clockrace,rate=100%%,overhead=100%%,limit=10s" %norace %t read-read
// RUN: %with "clockrace,rate=100%%,overhead=100%%,limit=10s" %norace %t read-exchange
// Whatever way the calls to the runtime go.
// RUN: env PHOTOFINISH_OPTIONS=near=0 %with "clockrace,rate=100%%,overhead=100%%,limit=10s" %race %t write-read | %FileCheck %s -DTO=read_it -DFIRST=write -DSECOND=read
// RUN: %cxx -O1 -c %s -o %t.o && %plainxx %t.o %runtime -o %t
// RUN: %with "clockrace,rate=100%%,overhead=100%%,limit=10s" %race %t write-read | %FileCheck %s -DTO=read_it -DFIRST=write -DSECOND=read
#include <stdlib.h>
#include <string.h>

#include <mutex>

#include "order.h"

int value, source[2];
int volatile none;
std::mutex lock;

// All that is instrumented, and so sampled:
void first_read(int* p) { use(*p); }
void first_write(int* p) { *p = 1; }
void first_locks_later(int* p) {
  *p = 1;
  std::lock_guard{lock};
}
void write_it(int* p) { *p = 2; }
void read_it(int* p) { use(*p); }
void add_atomically(int* p) { __atomic_fetch_add(p, 1, __ATOMIC_RELAXED); }
void copy(int* p) { memcpy(p, source, sizeof *p + static_cast<size_t>(none)); }
void release(int* p) { free(p); }
void fail_to_exchange(int* p) {
  int other = 77;
  __atomic_compare_exchange_n(p, &other, 5, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

const struct Kind {
  const char* name;
  void (*first)(int*);
  void (*second)(int*);
} kKinds[] = {{"write-write", first_write, write_it},
              {"write-read", first_write, read_it},
              {"read-write", first_read, write_it},
              {"write-atomic", first_write, add_atomically},
              {"write-copy", first_write, copy},
              {"write-free", first_write, release},
              {"lock-write", first_locks_later, write_it},
              {"read-read", first_read, read_it},
              {"read-exchange", first_read, fail_to_exchange}};
const Kind* kind;
int* shared = &value;

INVISIBLE bool is_same(const char* a, const char* b) {  // strcmp would be sampled
  for (; *a == *b && *a != 0; ++a, ++b) {
  }
  return *a == *b;
}
INVISIBLE void first_thread() {
  order_wait(1);  // both are there
  kind->first(shared);
  order_done(2);
  order_wait(3);
}
INVISIBLE void second_thread() {
  order_done(1);
  order_wait(2);
  kind->second(shared);
  order_done(3);
}
// CHECK: race: [[FIRST]]
// CHECK: first  [[FIRST]]{{ +}}of 4 bytes by thread 1
// CHECK-NEXT: #0 first_
// CHECK: second [[SECOND]]{{.*}} by thread 2
// CHECK: [[TO]]{{.*}}[[FILE]]

INVISIBLE int main(int, char** arguments) {
  for (const Kind& k : kKinds) {
    if (is_same(k.name, arguments[1])) kind = &k;
  }
  if (kind->second == release) shared = static_cast<int*>(malloc(sizeof *shared));
  together(&first_thread, &second_thread);
}
