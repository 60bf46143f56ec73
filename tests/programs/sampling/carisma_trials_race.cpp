// Trials carry what they have seen: a race in a context of one location, among thousands of another, is seldom sampled by the first
// trials and nearly always by later ones. Without a state file, within one --trials.
// RUN: %cxx -O1 %s -o %t && %exits 66 %photofinish run --trials 60 -e carisma,strategy=cls,rate=10%%,seed=3:fasttrack -- %t | %FileCheck %s
// CHECK: race: write-write on global rare
// CHECK: sampled in about {{.*}}% of runs, by its rate (not measured):
// CHECK: asked for 10%; {{.*}} accesses
// CHECK: 60 trials
// CHECK: {{(3[5-9]|[45][0-9]|60)}} of 60, {{.*}}: write-write on global rare
#include "order.h"

int rare, common[8192];

[[gnu::noinline]] void fill() {
  for (int& x : common) x = 1;
}

int main() {
  fill();
  in_turn([] { rare = 1; }, [] { rare = 2; });
}
