// x++ on one counter per thread, side by side in one cache line: false sharing is slow but no race.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"

int counters[2];

int main() {
  in_turn([] { counters[0]++; }, [] { counters[1]++; });
  return counters[0] - counters[1];
}
