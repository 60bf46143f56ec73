// One thread writes to a descriptor, another closes it, ordered by nothing: next time the write may meet another file.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <fcntl.h>
#include <unistd.h>

char byte;
int null;  // CHECK: race:

int main() {
  null = open("/dev/null", O_WRONLY);
  in_turn([] { use(write(null, &byte, 1)); },  // CHECK: [[FILE]]:[[#@LINE]]
          [] { close(null); });                // CHECK: [[FILE]]:[[#@LINE]]
}
