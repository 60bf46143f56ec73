// Where the kernel refuses breakpoints, or others have them, that is said, and what is left finds the race: fewer breakpoints, or comparing every access.
// RUN: %cxx -O1 %s -o %t
// RUN: %refusing errno 13 %with "clockrace,rate=100%%,overhead=50%% collision,rate=100%%,delay=1ms,overhead=50%%" %race %t | %FileCheck %s --check-prefixes=RIGHT,SOFT
// RUN: %refusing errno 1 %with "clockrace,rate=100%%,overhead=50%%" %race %t | %FileCheck %s --check-prefixes=RIGHT,SOFT
// RUN: %refusing errno 38 %with "clockrace,rate=100%%,overhead=50%%" %race %t | %FileCheck %s --check-prefixes=OLD,SOFT
// RUN: %refusing slots 4 %with "clockrace,rate=100%%,overhead=50%%" %race %t | %FileCheck %s --check-prefixes=TAKEN,SOFT
// RUN: %refusing slots 2 %with "clockrace,rate=100%%,overhead=50%% collision,rate=100%%,delay=1ms,overhead=50%%" %race %t | %FileCheck %s --check-prefix=FEWER
// RIGHT: no hardware breakpoints: every access is compared instead, which is slower: no permission for perf events; see perf_event_paranoid
// OLD: no hardware breakpoints: every access is compared instead, which is slower: the kernel has none that raise a signal
// TAKEN: no hardware breakpoints: every access is compared instead, which is slower: others use them, such as a debugger
// SOFT: on global counter
// SOFT: without breakpoints
// FEWER: fewer than four hardware breakpoints: others use them, such as a debugger
// FEWER: on global counter
// FEWER-NOT: without breakpoints
#include <thread>

#include "order.h"

int counter;

void count() {
  for (int i = 0; i < 20000000; ++i) {
    ++counter;
    use(&counter);
  }
}

int main() {
  std::thread one(count), two(count);
  one.join();
  two.join();
}
