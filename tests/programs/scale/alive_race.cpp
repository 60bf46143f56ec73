// Races between threads far beyond the number that a mark in a cell can tell apart: each is found, and nothing else.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
// RUN: %with "djit shb" %race %t | %FileCheck --check-prefix=COUNT %s
#include "scale/alive.h"

constexpr int kThreads = 1100;
int written, read_before, read_after, guarded;
char bytes[8];
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void part(int number) {
  pthread_mutex_lock(&mutex);
  guarded++;
  pthread_mutex_unlock(&mutex);
  if (number == 600) written = 1;
  if (number == 1000) written = 2;
  if (number >= 700 && number < 800) use(read_before);
  if (number == 1001) read_before = 1;
  if (number == 1002) read_after = 1;
  if (number == 1003) use(read_after);
  if (number >= 900 && number < 908) bytes[number - 900] = 1;
  if (number == 1004) bytes[5] = 2;
}

int main() { return alive_all(part, kThreads) == kThreads ? 0 : 1; }

// CHECK: race: write-write on global written of 4 bytes
// CHECK-NEXT: first  write of 4 bytes by thread 601, no lock held
// CHECK: second write of 4 bytes by thread 1001, no lock held
// CHECK: race: read-write on global read_before of 4 bytes
// CHECK-NEXT: first  read  of 4 bytes by thread {{7..|800}}, no lock held
// CHECK: second write of 4 bytes by thread 1002, no lock held
// CHECK: race: write-read on global read_after of 4 bytes
// CHECK-NEXT: first  write of 4 bytes by thread 1003, no lock held
// CHECK: second read  of 4 bytes by thread 1004, no lock held
// CHECK: race: write-write on global bytes of 8 bytes at offset 5
// CHECK-NEXT: first  write of 1 byte by thread 906, no lock held
// CHECK: second write of 1 byte by thread 1005, no lock held
// CHECK: 4 races {{.*}}in
// COUNT-COUNT-2: 4 races {{.*}}in
