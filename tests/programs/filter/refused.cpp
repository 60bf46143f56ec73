// What does not work inside programs is refused, not left out.
// RUN: %exits 2 %photofinish run -e tree:literace:fasttrack -- %t 2>&1 | %FileCheck %s
// CHECK: one filter works inside programs, not several: 'tree:literace:fasttrack'
// RUN: %exits 2 %photofinish run -e tree:clockrace -- %t 2>&1 | %FileCheck %s --check-prefix=SAMPLES
// SAMPLES: 'clockrace' samples by itself: no filter works in front of it
