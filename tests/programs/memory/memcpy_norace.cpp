// memcpy of a variable size touches exactly its bytes: the one after the end belongs to another thread.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"
#include <string.h>

char source[64], target[64];
volatile size_t size = 40, none = 0;

int main() {
  in_turn([] { memcpy(target, source, size); },
          [] {
            target[40] = 1;
            memcpy(target, source, none);
          });
}
