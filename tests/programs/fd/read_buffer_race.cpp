// read() writes its buffer: that races with an access of another thread, and the report leads to the call.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <fcntl.h>
#include <unistd.h>

char buffer[64];  // CHECK: race: write-write on global buffer of 64 bytes
int zero;

int main() {
  zero = open("/dev/zero", O_RDONLY);
  in_turn([] { use(read(zero, buffer, 40)); },  // CHECK: [[FILE]]:[[#@LINE]]
          [] { buffer[39] = 1; });              // CHECK: [[FILE]]:[[#@LINE]]
}
