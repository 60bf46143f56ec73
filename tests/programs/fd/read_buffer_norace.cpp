// read() writes as many bytes as it returns, not as many as it was offered.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <unistd.h>

char buffer[64];
int ends[2];

int main() {
  if (pipe(ends) || write(ends[1], "12345", 5) != 5) return 1;
  in_turn([] { use(read(ends[0], buffer, sizeof buffer)); }, [] { buffer[5] = 1; });
}
