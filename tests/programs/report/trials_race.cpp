// Run again and again: one race shows every time, the other in every fourth run. Each run is loaded at other addresses, and still
// they are the same two races.
// RUN: %cxx -O1 %s -o %t && %exits 66 %photofinish run --trials 8 -- %t | %FileCheck %s --implicit-check-not=race:
#include <cstdlib>

#include "order.h"

int always, seldom;
bool unlucky;

int main() {
  unlucky = std::atoi(std::getenv("PHOTOFINISH_TRIAL")) % 4 == 0;
  in_turn(
      [] {
        always = 1;
        if (unlucky) seldom = 1;
      },
      [] {
        always = 2;
        if (unlucky) seldom = 2;
      });
}
// CHECK: race: write-write on global always of 4 bytes
// CHECK: race: write-write on global seldom of 4 bytes
// CHECK: 8 trials; found in (95% interval), and how many more runs find it with 95%:
// CHECK-NEXT: 8 of 8, 100.0% (67.6% to 100.0%), 1 more run: write-write on global always of 4 bytes
// CHECK-NEXT: 2 of 8, 25.0% (7.1% to 59.1%), 11 more runs: write-write on global seldom of 4 bytes
