// Threads that were given names carry them in the report.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

int shared;
// CHECK: first {{ *}}write of 4 bytes by thread 1 (producer)
// CHECK: second {{ *}}write of 4 bytes by thread 2 (consumer)
int main() {
  in_turn(
      [] {
        pthread_setname_np(pthread_self(), "producer");
        shared = 1;
      },
      [] {
        pthread_setname_np(pthread_self(), "consumer");
        shared = 2;
      });
}
