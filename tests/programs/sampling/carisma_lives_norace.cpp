// Memory that is allocated again is decided again: of many lives of one address about half are sampled.
// RUN: %cxx -O1 %s -o %t && %with "carisma,rate=50%%,strategy=cls:fasttrack carisma,rate=50%%,strategy=fls:multilock" %norace %t | %FileCheck %s
// CHECK: sampled {{[45][0-9](\.[0-9]+)?}}% of the work, asked for 50%
// CHECK: sampled {{[45][0-9](\.[0-9]+)?}}% of the work, asked for 50%
#include <cstdlib>

#include "order.h"

int main() {
  for (int i = 0; i < 4000; ++i) {
    auto* p = static_cast<volatile long*>(malloc(sizeof(long)));
    *p = i;
    use(p);
    free(const_cast<long*>(p));
  }
}
