// Too little address space for the detector: said in one line, with an exit code of its own.
// RUN: %cc -O1 %s -o %t && %exits 70 bash -c "ulimit -v 300000; exec %run %t" | %FileCheck %s
// CHECK: photofinish: out of memory for
int shared;
int main(void) { return shared; }
