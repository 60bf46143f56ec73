// Words that begin in one 8-byte cell and end in the next, again and again: what another thread does to the bytes around them is no race.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "across.h"
#include "order.h"

alignas(16) Across<short> of_short;
alignas(16) Across<int> of_int;
alignas(16) Across<long> of_long;
volatile long sink;

void touch(auto& across) {
  across.word = static_cast<decltype(across.word)>(sink);
  sink = across.word;
}
void touch_around(auto& across) {
  for (char& c : across.head) c = 1;
  for (char& c : across.tail) c = 1;
}

int main() {
  in_turn(
      [] {
        touch(of_short);
        touch(of_int);
        touch(of_long);
      },
      [] {
        touch_around(of_short);
        touch_around(of_int);
        touch_around(of_long);
      });
}
