// What was sampled is no longer kept when everybody knows of it.
// RUN: %cxx -O1 %s -o %t && %photofinish run -r json -e pacer,rate=0,period=1 -- %t | %FileCheck %s
// CHECK: "sampled":{{[1-9][0-9]*}},"live_bytes":0}
#include "sampling/forgotten.h"

int main() { with_another(&first_of_two, &second_of_two); }
