// A block is freed by one thread and the same address is given to another: their accesses are to different objects.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <stdlib.h>

static void churn() {
  for (int i = 0; i < 200; i++) {
    int* block = static_cast<int*>(malloc(48));
    use(block);
    for (int k = 0; k < 12; k++) block[k] = i;
    use(block);
    free(block);
  }
}

int main() {
  for (int i = 0; i < 3; i++) in_turn(churn, churn);
}
