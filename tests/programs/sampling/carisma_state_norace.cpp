// What trials have seen adds up in the state, wherever the program is loaded: the same contexts, each time the same samples.
// RUN: %cxx -O1 %s -o %t && rm -f %t.one %t.many %t.dead %t.crowd
// RUN: %with carisma,strategy=fls,rate=100%%,state=%t.one:fasttrack %norace %t && %S/state.py %t.one > %t.sums
// RUN: %exits 0 %photofinish run --trials 5 -e carisma,strategy=fls,rate=100%%,state=%t.many:fasttrack -- %t && %S/state.py %t.many >> %t.sums

// So it is with runs of which the program is killed, sixteen at once.
// RUN: bash -c '%photofinish run -e carisma,strategy=fls,rate=100%%,state=%t.dead:fasttrack -- %t x; %S/state.py %t.dead' >> %t.sums
// RUN: bash -c 'for i in {1..16}; do %photofinish run -q -e carisma,strategy=fls,rate=100%%,state=%t.crowd:fasttrack -- %t x & done; wait; %S/state.py %t.crowd' >> %t.sums
// RUN: %FileCheck %s < %t.sums
// CHECK: trials 1, contexts [[#N:]], partly 0, samples [[#ONE:]]
// CHECK: trials 5, contexts [[#N]], partly 0, samples [[#mul(ONE,5)]]
// CHECK: trials 1, contexts [[#N]], partly 0, samples [[#DEAD:]]
// CHECK: trials 16, contexts [[#N]], partly 0, samples [[#mul(DEAD,16)]]

// A state that is none is told before the program starts, and stays as it is.
// RUN: echo no > %t.bad && %exits 2 %photofinish run -e carisma,state=%t.bad:fasttrack -- %t | %FileCheck %s --check-prefix=BAD && grep -x no %t.bad
// BAD: photofinish: {{.*}}.bad is no state of carisma
#include <signal.h>

#include <cstdlib>
#include <memory>
#include <thread>

#include "order.h"

struct Pair {
  long first, second;
};
int variable, array[4096];

[[gnu::noinline]] void touch(Pair* pair, long* large) {
  int local[32];
  for (int i = 0; i < 32; ++i) local[i] = i;
  use(local);
  pair->first = 1;
  pair->second = 2;
  for (int i = 0; i < 4096; ++i) large[i] = array[i] = i;
  variable = 1;
}
[[gnu::noinline]] void work() {
  const auto pair = std::make_unique<Pair>();
  const std::unique_ptr<long[]> large(new long[100000]);
  touch(pair.get(), large.get());
  std::thread([&] { touch(pair.get(), large.get()); }).join();
  std::thread([&] { std::thread(touch, pair.get(), large.get()).join(); }).join();
}

int main(int count, char**) {
  work();
  if (count > 1) raise(SIGKILL);
}
