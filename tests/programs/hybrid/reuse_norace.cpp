// A block is freed by one thread and its address given to another: what the first did is not the second's.
// RUN: %cxx -O1 %s -o %t && %with "simplelock simplelock,q=0 multilock acculock eraser" %norace %t
#include "order.h"
#include <stdlib.h>

static void churn() {
  for (int i = 0; i < 100; i++) {
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
