// What filters only traces is refused, not left out.
// RUN: %exits 2 %photofinish run -e tree,threads=2:multilock -- %t 2>&1 | %FileCheck %s
// CHECK: tree,threads=2 filters traces, not programs
