// write() reads its buffer: a later write to it by another thread is a race.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <fcntl.h>
#include <unistd.h>

char buffer[64];  // CHECK: race: read-write on global buffer of 64 bytes
int null;

int main() {
  null = open("/dev/null", O_WRONLY);
  in_turn([] { use(write(null, buffer, 40)); },  // CHECK: [[FILE]]:[[#@LINE]]
          [] { buffer[39] = 1; });               // CHECK: [[FILE]]:[[#@LINE]]
}
