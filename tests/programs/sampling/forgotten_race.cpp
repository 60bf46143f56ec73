// Memory whose history was forgotten, since everybody knew of it, gets another one in the next period, and races with that are found.
// RUN: %cxx -O1 %s -o %t && %with pacer,rate=0,period=1 %race %t | %FileCheck %s --implicit-check-not=race:
#include "sampling/forgotten.h"

int main() {
  with_another(
      [] {
        first_of_two();
        order_wait(6);
        written[100] = 2;  // CHECK-DAG: race: write-write on global written of 65,536 bytes at offset 100
        shared[7] = 2;     // CHECK-DAG: race: read-write on global shared of 512 bytes at offset 56
        *(volatile long*)&counters[3] = 0;  // CHECK-DAG: race: write-write on global counters of 512 bytes at offset 24
      },
      [] {
        second_of_two();
        sampled([] {
          written[100] = 1;
          read_and_count();
        });
        order_done(6);
      });
}
// CHECK: 3 races in
