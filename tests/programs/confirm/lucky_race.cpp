// The run is lucky: the second thread comes late, and a lock orders the two accesses to `plain`. mc predicts the race from a
// trace of it, and confirm brings both threads there at once.
// RUN: %cxx -O1 %s -o %t && %exits 0 %photofinish run -- %t
// RUN: %photofinish -q record -o %t.pft -- %t
// RUN: %exits 66 %photofinish analyze %t.pft -e mc --json > %t.json
// RUN: %exits 66 %photofinish analyze %t.pft -e mc | %FileCheck --check-prefix=WITNESS %s
// RUN: %exits 66 %photofinish confirm %t.json -- %t | %FileCheck %s
// RUN: %exits 66 %photofinish confirm --json --attempts 20 %t.json:1 %t | %FileCheck --check-prefix=JSON %s
#include <pthread.h>
#include <unistd.h>

#include "order.h"

int plain, guarded;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void enter(int value) {
  pthread_mutex_lock(&mutex);  // WITNESS: acq({{.*}}) at enter {{.*}}lucky_race.cpp:[[@LINE]]
  guarded = value;
  pthread_mutex_unlock(&mutex);
}

void* early(void*) {
  order_done(1);
  plain = 1;  // CHECK: race: {{.*}} on global plain
  enter(1);   // CHECK: (confirm, confirmed;
  return nullptr;
}

void* late(void*) {
  order_wait(1);
  usleep(30'000);
  enter(2);
  return plain == 1 ? nullptr : &plain;
}

int main() {
  pthread_t threads[2];
  pthread_create(&threads[0], nullptr, &early, nullptr);
  pthread_create(&threads[1], nullptr, &late, nullptr);
  for (pthread_t t : threads) pthread_join(t, nullptr);
}
// CHECK: confirmed {{[0-9a-f]+}} in attempt {{[0-9]+}}: both threads were there at once
// JSON: {"type":"race",{{.*}}"engine":"confirm",{{.*}}"verdict":"confirmed"
// JSON: {"attempts":{{[0-9]+}},"id":"{{[0-9a-f]+}}","type":"confirmation","verdict":"confirmed"}
