// Under CARISMA all synchronization is seen, whichever memory is left: no alarm.
// RUN: %cxx -O1 %s -o %t && %with "carisma,rate=0:fasttrack carisma,rate=1%%:fasttrack carisma,rate=50%%,strategy=cls:fasttrack carisma,rate=50%%,strategy=fls:djit carisma,rate=20%%,min=50%%:generic carisma,rate=50%%:shb carisma,rate=50%%:pacer,rate=50%%,period=5" %norace %t | %FileCheck %s
// CHECK: with carisma,rate=0:fasttrack:
// CHECK: sampled 0% of the work, asked for 0%; 0 of
// CHECK: with carisma,rate=1%:fasttrack:
// CHECK: sampled {{.*}}% of the work, asked for 1%; {{[0-9,]+}} of {{[0-9,]+}} accesses; histories of {{.*}} are live
#include "common_norace.h"
