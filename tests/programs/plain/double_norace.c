// Floating-point stores in C to the two halves of a complex number.
// RUN: %cc -O1 %s -o %t && %norace %t
#include "order.h"

double parts[2];

static void first(void) { parts[0] = 1.5; }
static void second(void) { parts[1] = 2.5; }

int main(void) { in_turn(first, second); }
