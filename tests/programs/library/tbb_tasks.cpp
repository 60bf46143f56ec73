// oneTBB: its templates are instrumented with the program, its scheduler is not. What it hands over is no race, two tasks at the same time may be.
// RUN: %cxx -O1 %s -ltbb -o %t && %cxx -O1 -DRACE %s -ltbb -o %t.race
// RUN: %with fasttrack,libs=barrier %norace %t && %with fasttrack,libs=barrier %race %t.race | %FileCheck %s
// RUN: %photofinish -q record -o %t.pft -- %t && %photofinish analyze -e rdit %t.pft
// RUN: %photofinish -q record -o %t.race.pft -- %t.race && %exits 66 %photofinish analyze -e rdit %t.race.pft | %FileCheck %s
// CHECK: race: write-write on {{(global )?}}racy
#include "order.h"
#include <oneapi/tbb.h>

using Range = oneapi::tbb::blocked_range<int>;
int values[1000];
int racy;

#ifdef RACE
static void together(int value) {
  order_arrive();
  order_wait(2);
  racy = value;
  order_arrive();
  order_wait(4);
}
#endif

int main() {
  const oneapi::tbb::global_control threads(oneapi::tbb::global_control::max_allowed_parallelism, 3);
  oneapi::tbb::task_arena arena(3);
  long sum = 0;
  arena.execute([&] {
    oneapi::tbb::parallel_for(Range(0, 1000, 50), [](const Range& r) {
      for (int i = r.begin(); i != r.end(); ++i) values[i] += i;
    });
    sum = oneapi::tbb::parallel_reduce(
        Range(0, 1000, 50), 0L,
        [](const Range& r, long part) {
          for (int i = r.begin(); i != r.end(); ++i) part += values[i];
          return part;
        },
        [](long a, long b) { return a + b; });
    oneapi::tbb::task_group group;
#ifdef RACE
    group.run([] { together(1); });
    group.run([] { together(2); });
#endif
    group.run([&] { sum++; });
    group.wait();
  });
  return static_cast<int>(sum - 499501);
}
