// An atomic at memory with a history, between periods, that leaves it as it is: the next one like it is not looked at. What is sampled there
// in between must be met all the same, though it changes the history in its place.
// RUN: %cxx -O1 %s -o %t && %with pacer,rate=0 %race %t | %FileCheck %s --implicit-check-not=race:
#include "order.h"
#include "sampling/sampled.h"

alignas(4096) long loaded, stored, counted;

// Each of these meets what the other thread samples in the meantime.
void load() { use(__atomic_load_n(&loaded, __ATOMIC_RELAXED)); }  // CHECK-DAG: race: write-read on global loaded
void store() { __atomic_store_n(&stored, 1, __ATOMIC_RELAXED); }  // CHECK-DAG: race: read-write on global stored
void count() {
  use(__atomic_fetch_add(&counted, 1, __ATOMIC_RELAXED));
}  // CHECK-DAG: race: read-write on global counted
void all_three() {
  load();
  store();
  count();
}

int main() {
  // Histories that they leave as they are: who loads replaces no store, who stores no load.
  sampled([] {
    __atomic_store_n(&loaded, 1, __ATOMIC_RELAXED);
    use(__atomic_load_n(&stored, __ATOMIC_RELAXED));
    use(__atomic_load_n(&counted, __ATOMIC_RELAXED));
  });
  together(
      [] {
        for (int i = 0; i < 100; ++i) all_three();
        order_done(1);
        order_wait(2);
        all_three();
      },
      [] {
        order_wait(1);
        sampled([] {
          loaded = 1;
          use(stored);
          use(counted);
        });
        order_done(2);
      });
}
// CHECK: 3 races in
