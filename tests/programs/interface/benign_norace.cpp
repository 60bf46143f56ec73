// A race that the program declares benign is not reported.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"

extern "C" void AnnotateBenignRaceSized(const char* file, int line, const volatile void* address, long size,
                                        const char* why);

int statistics[4];

int main() {
  AnnotateBenignRaceSized(__FILE__, __LINE__, statistics, sizeof statistics, "approximate on purpose");
  in_turn([] { statistics[1] = 1; }, [] { statistics[1] = 2; });
}
