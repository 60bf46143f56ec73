// Two threads write from one buffer: it is only read. A failed write reads nothing.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <fcntl.h>
#include <unistd.h>

char buffer[64];
int null;

int main() {
  null = open("/dev/null", O_WRONLY);
  buffer[0] = 1;
  in_turn([] { use(write(null, buffer, 40)); }, [] { use(write(null, buffer, 40)); });
}
