// realloc under the mutex that guards the block, while both threads use it in turn.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <stdlib.h>

char* block;
size_t size = 16;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void grow() {
  for (int i = 0; i < 10; i++) {
    pthread_mutex_lock(&mutex);
    block = static_cast<char*>(realloc(block, size *= 2));
    block[size - 1] = block[0] = 1;
    pthread_mutex_unlock(&mutex);
  }
}

int main() { together(grow, grow); }
