// Under LiteRace all synchronization is seen, of hot functions, too: no alarm, whichever accesses are left.
// RUN: %cxx -O1 %s -o %t && %with "literace:fasttrack literace,burst=1:fasttrack literace,burst=1:djit literace,burst=3:generic literace,burst=2:shb literace,burst=1:pacer,rate=50%%,period=5" %norace %t | %FileCheck %s
// CHECK: with literace:fasttrack:
// CHECK: filters dropped {{[0-9,]+}} of {{[0-9,]+}} accesses
// CHECK: sampled {{[0-9.e-]+}}% of the work; {{[0-9,]+}} of {{[0-9,]+}} accesses; histories of {{.*}} are live
#include "common_norace.h"
