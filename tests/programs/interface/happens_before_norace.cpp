// AnnotateHappensBefore and AnnotateHappensAfter, the names that Valgrind's tools began with.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"

extern "C" void AnnotateHappensBefore(const char* file, int line, unsigned long address);
extern "C" void AnnotateHappensAfter(const char* file, int line, unsigned long address);

int shared;

int main() {
  in_turn(
      [] {
        shared = 1;
        AnnotateHappensBefore(__FILE__, __LINE__, 1234);
      },
      [] {
        AnnotateHappensAfter(__FILE__, __LINE__, 1234);
        shared++;
      });
  return shared - 2;
}
