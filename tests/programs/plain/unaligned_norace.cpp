// Unaligned words whose neighbours belong to another thread: only the bytes they cover are theirs.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"

struct __attribute__((packed)) Odd {
  char head[5];
  long word;
  char tail[3];
};
alignas(16) Odd shared;

int main() {
  in_turn([] { shared.word = -1; },
          [] {
            shared.head[4] = 1;
            shared.tail[0] = 1;
          });
  return shared.head[4] - shared.tail[0];
}
