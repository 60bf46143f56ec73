// C11 thread-specific storage: its destructors run in the thread, before the join returns.
// RUN: %cc -O1 %s -o %t && %norace %t
#include "order.h"
#include <stdlib.h>
#include <threads.h>

int counts[2];
tss_t key;

static void destroy(void* value) {
  ++**(int**)value;
  free(value);
}
static int work(void* count) {
  int** value = malloc(sizeof *value);
  *value = count;
  tss_set(key, value);
  return tss_get(key) == value ? 0 : 1;
}

int main(void) {
  thrd_t threads[2];
  int code = 0, all = 0;
  tss_create(&key, destroy);
  for (int i = 0; i < 2; i++) thrd_create(&threads[i], work, &counts[i]);
  for (int i = 0; i < 2; i++) {
    thrd_join(threads[i], &code);
    all += code + counts[i];
  }
  tss_delete(key);
  return all - 2;
}
