// LiteRace sees cold code whole: its race is found, one between functions that have long been hot is not.
// RUN: %cxx -O1 %s -o %t && %with "literace,seed=0:fasttrack literace,seed=0:multilock literace,seed=0:pacer,rate=100%%" %race %t | %FileCheck %s --implicit-check-not="race: {{.*}} on global hot"
// CHECK: with literace,seed=0:fasttrack:
// CHECK: race: write-write on global cold
// CHECK: with literace,seed=0:multilock:
// CHECK: race: write-write on global cold
// CHECK: with literace,seed=0:pacer,rate=100%:
// CHECK: race: write-write on global cold

// A burst that is longer than the program is no filter at all.
// RUN: %with literace,burst=100000:fasttrack %race %t | %FileCheck %s --check-prefix=ALL
// ALL-DAG: race: write-write on global cold
// ALL-DAG: race: write-write on global hot
// ALL: sampled 100% of the work; [[N:[0-9,]+]] of [[N]] accesses
#include "order.h"

int cold, hot, own[2];

// 1,000 calls are over, and the pause after the second burst is 990 long.
template <int kThread>
[[gnu::noinline]] void call(int i) {
  own[kThread] = i;
  if (i == 999) hot = i;
}
template <int kThread>
void work() {
  for (int i = 0; i < 1000; ++i) call<kThread>(i);
  cold = 1;
}

int main() { in_turn(work<0>, work<1>); }
