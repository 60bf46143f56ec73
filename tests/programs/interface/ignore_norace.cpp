// Reads, writes, or all accesses of a thread are ignored between the marks.
// RUN: %cxx -O1 -DBEGIN=ReadsBegin -DEND=ReadsEnd -DACCESS="use(shared)" %s -o %t1 && %norace %t1
// RUN: %cxx -O1 -DBEGIN=WritesBegin -DEND=WritesEnd -DACCESS="shared=2" %s -o %t2 && %norace %t2
#include "order.h"

#define NAME(mark) NAME_OF(mark)
#define NAME_OF(mark) AnnotateIgnore##mark

extern "C" void NAME(BEGIN)(const char* file, int line);
extern "C" void NAME(END)(const char* file, int line);

int shared;

int main() {
  in_turn([] { shared = 1; },
          [] {
            NAME(BEGIN)(__FILE__, __LINE__);
            ACCESS;
            NAME(END)(__FILE__, __LINE__);
          });
}
