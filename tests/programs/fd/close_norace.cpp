// Descriptors are closed after their users were joined, and their numbers are reused by other files.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <fcntl.h>
#include <unistd.h>

int file, shared;

static void work() {
  char byte = 0;
  use(pwrite(file, &byte, 1, 0));
  int own = dup(file);
  close(own);
}

int main() {
  for (int i = 0; i < 3; i++) {
    file = open("/dev/null", O_WRONLY);
    in_turn(work, work);
    close(file);
    shared++;
  }
}
