// Words that begin in one 8-byte cell and end in the next: what another thread does to the first byte races with them, and to the last.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "across.h"
#include "order.h"

// CHECK-DAG: race: write-write on global written_short of 16 bytes at offset 7
alignas(16) Across<short> written_short;
// CHECK-DAG: race: read-write on global read_int of 16 bytes at offset 9
alignas(16) Across<int> read_int;
// CHECK-DAG: race: write-read on global written_long of 16 bytes at offset 4
alignas(16) Across<long> written_long;
// CHECK-DAG: race: read-write on global read_long of 16 bytes at offset 11
alignas(16) Across<long> read_long;
// CHECK-DAG: race: write-write on global written_last of 16 bytes at offset 9
alignas(16) Across<long> written_last;
volatile long sink;

int main() {
  in_turn(
      [] {
        written_short.word = -1;
        sink = read_int.word;
        written_long.word = -1;
        sink = read_long.word;
        reinterpret_cast<char*>(&written_last)[9] = 1;
      },
      [] {
        reinterpret_cast<char*>(&written_short)[7] = 1;
        reinterpret_cast<char*>(&read_int)[9] = 1;
        sink = reinterpret_cast<char*>(&written_long)[4];
        reinterpret_cast<char*>(&read_long)[11] = 1;
        written_last.word = -1;
      });
}
