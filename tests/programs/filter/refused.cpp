// What filters only traces is refused, not left out.
// RUN: %exits 2 %photofinish run -e tree,threads=2:multilock -- %t 2>&1 | %FileCheck %s
// CHECK: tree,threads=2 filters traces, not programs
// RUN: %exits 2 %photofinish run -e tree:literace:fasttrack -- %t 2>&1 | %FileCheck %s --check-prefix=TWO
// TWO: one filter works inside programs, not several: 'tree:literace:fasttrack'
