// What is wrong is told in one line, and nothing runs.
// RUN: %cc -O1 %s -o %t && %exits 66 %photofinish run -r json:%t.json -- %t
// RUN: %exits 2 %photofinish confirm %t.json:ffffffffffffffff -- %t | %FileCheck --check-prefix=ID %s
// ID: no race 'ffffffffffffffff' in {{.*}}.json, which has 2
// RUN: %exits 2 %photofinish confirm %t.json -- %t | %FileCheck --check-prefix=WHICH %s
// WHICH: .json has 2 races: say which as
// RUN: %exits 2 %photofinish confirm %t.none:1 -- %t | %FileCheck --check-prefix=FILE %s
// FILE: cannot read {{.*}}.none
// RUN: %exits 2 %photofinish confirm %s -- %t | %FileCheck --check-prefix=LINES %s
// LINES: is no report in JSON lines
// RUN: %exits 2 %photofinish confirm %t.json:1 | %FileCheck --check-prefix=PROGRAM %s
// PROGRAM: confirm: no program given
// RUN: %exits 2 %photofinish confirm %t.json:1 -- %t.absent | %FileCheck --check-prefix=ABSENT %s
// ABSENT: cannot find
// RUN: %exits 2 %photofinish confirm --delay soon %t.json:1 -- %t | %FileCheck --check-prefix=DELAY %s
// DELAY: --delay takes a time such as 100ms, not 'soon'
// The program is another one by now: there is nothing in the lines of its races.
// RUN: mkdir -p %t.dir && %cc -O1 -DMOVED %s -o %t.dir/%basename_t.tmp
// RUN: %exits 2 %photofinish confirm %t.json:1 -- %t.dir/%basename_t.tmp | %FileCheck --check-prefix=MOVED %s
// MOVED: is not in {{.*}} (any more): report the race again
// RUN: %plaincc -g %s -o %t.dir/%basename_t.tmp
// RUN: %exits 2 %photofinish confirm %t.json:1 -- %t.dir/%basename_t.tmp | %FileCheck --check-prefix=PLAIN %s
// PLAIN: is not instrumented: build it with pf-c++ or pf-cc
#include <pthread.h>

int a, b;

void* work(void* unused) {
#ifndef MOVED
  a = 1;
  b = 1;
#endif
  return unused;
}

int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], 0, &work, 0);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
  return 0;
}
