// A variable that is plain before the threads start and after they end, and atomic in between; and two atomic accesses
// of any order never race with each other.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"

int counter;

static void work() {
  __atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED);
  __atomic_store_n(&counter, 5, __ATOMIC_RELAXED);
  use(__atomic_load_n(&counter, __ATOMIC_RELAXED));
}

int main() {
  counter = 1;
  in_turn(work, work);
  return counter - 5;
}
