// Memory that two threads allocate and free at will is new each time: nothing of a block's last life counts in its next.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <malloc.h>
#include <new>
#include <stdlib.h>

struct alignas(64) Wide {
  long words[8];
};

static void fill(void* block) {
  for (int i = 0; i < 8; i++) static_cast<long*>(block)[i] = i;
  use(block);
}

static void churn() {
  for (int i = 0; i < 50; i++) {
    void* block = malloc(64);
    fill(block);
    block = realloc(block, 640);
    fill(block);
    free(block);
    long* words = new long[8];
    fill(words);
    delete[] words;
    Wide* wide = new Wide;
    fill(wide);
    delete wide;
    block = aligned_alloc(64, 64);
    fill(block);
    free(block);
    if (posix_memalign(&block, 64, 64) == 0) fill(block);
    free(block);
    free(calloc(0, 8));
    free(nullptr);
  }
}

int main() {
  in_turn(churn, churn);
  together(churn, churn);
}
