// One write meets the reads of forty places: each is a race of its own.
// RUN: %cxx -O1 %s -o %t
// RUN: %with "multilock simplelock,q=0" %race %t | %FileCheck %s
#include "order.h"
#include <utility>

int shared;

template <int place>
[[gnu::noinline]] void look() {
  use(shared + place);
}

template <int... places>
void look_everywhere(std::integer_sequence<int, places...>) {
  (look<places>(), ...);
}

int main() {
  in_turn([] { look_everywhere(std::make_integer_sequence<int, 40>()); }, [] { shared = 1; });
}
// CHECK: multilock: 40 races
// CHECK: simplelock,q=0: 40 races
