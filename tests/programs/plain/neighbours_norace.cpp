// Neighbouring bytes of one word are different variables, whatever the size of the detector's cells.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"

alignas(8) char bytes[8];
alignas(8) short halves[4];

int main() {
  in_turn(
      [] {
        bytes[0] = bytes[2] = bytes[7] = 1;
        halves[0] = halves[2] = 1;
      },
      [] {
        bytes[1] = bytes[3] = bytes[6] = 2;
        halves[1] = halves[3] = 2;
      });
  return bytes[7] - bytes[0];
}
