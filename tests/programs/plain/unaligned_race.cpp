// An unaligned word that crosses into the next 8-byte cell: the overlap is only in its last bytes.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"

struct __attribute__((packed)) Odd {
  char head[5];
  long word;
  char tail[3];
};
alignas(16) Odd shared;  // CHECK: race: write-write on global shared of 16 bytes at offset {{5|12}}

int main() {
  in_turn([] { shared.word = -1; },                           // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
          [] { reinterpret_cast<char*>(&shared)[12] = 1; });  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
}
