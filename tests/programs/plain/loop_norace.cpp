// Loops over the two halves of an array: no element is in both.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"

int array[100];

int main() {
  in_turn(
      [] {
        for (int i = 0; i < 50; i++) array[i] = i;
      },
      [] {
        for (int i = 50; i < 100; i++) array[i] = i;
      });
  return array[99] - 99;
}
