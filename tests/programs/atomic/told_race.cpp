// In one epoch, an atomic is told again only where its memory has seen something else since (runtime/online_host.h, tell_once). What comes in
// between must be met all the same, and so must the same atomic of the next epoch.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s --implicit-check-not=race:
#include "order.h"

alignas(64) long flag;
alignas(64) long loaded, stored, counted;
alignas(64) long loaded_later, stored_later, counted_later;

int main() {
  together(
      [] {
        for (int i = 0; i < 100; ++i) {
          use(__atomic_load_n(&loaded, __ATOMIC_RELAXED));
          __atomic_store_n(&stored, 1, __ATOMIC_RELAXED);
          use(__atomic_fetch_add(&counted, 1, __ATOMIC_RELAXED));
          use(__atomic_load_n(&loaded_later, __ATOMIC_RELAXED));
          __atomic_store_n(&stored_later, 1, __ATOMIC_RELAXED);
          use(__atomic_fetch_add(&counted_later, 1, __ATOMIC_RELAXED));
        }
        order_done(1);
        order_wait(2);
        use(__atomic_load_n(&loaded, __ATOMIC_RELAXED));         // CHECK-DAG: race: write-read on global loaded of
        __atomic_store_n(&stored, 1, __ATOMIC_RELAXED);          // CHECK-DAG: race: write-write on global stored of
        use(__atomic_fetch_add(&counted, 1, __ATOMIC_RELAXED));  // CHECK-DAG: race: write-write on global counted of
        __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
        use(__atomic_load_n(&loaded_later, __ATOMIC_RELAXED));
        __atomic_store_n(&stored_later, 1, __ATOMIC_RELAXED);
        use(__atomic_fetch_add(&counted_later, 1, __ATOMIC_RELAXED));
        order_done(3);
      },
      [] {
        order_wait(1);
        loaded = 1;   // CHECK-DAG: race: read-write on global loaded of
        stored = 1;   // CHECK-DAG: race: write-write on global stored of
        counted = 1;  // CHECK-DAG: race: write-write on global counted of
        order_done(2);
        order_wait(3);
        use(__atomic_load_n(&flag, __ATOMIC_ACQUIRE));  // after all that was done before it was set
        loaded_later = 1;                               // CHECK-DAG: race: read-write on global loaded_later of
        use(stored_later);                              // CHECK-DAG: race: write-read on global stored_later of
        use(counted_later);                             // CHECK-DAG: race: write-read on global counted_later of
      });
}
// CHECK: 9 races in
