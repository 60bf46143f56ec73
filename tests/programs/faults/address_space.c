// Too little address space for the detector's tables: the loader says so. A little more is enough.
// RUN: %cc -O1 %s -o %t && %exits 127 bash -c "ulimit -v 300000; exec %run %t" | %FileCheck %s
// CHECK: libphotofinish.so: failed to map segment
// RUN: %exits 0 bash -c "ulimit -v 600000; exec %run %t"
int shared;
int main(void) { return shared; }
