// What a fuzzer expects of its target: a failure ends it with the input that shows it.
#pragma once
#include <cstdio>
#include <cstdlib>

#define PF_EXPECT(condition)                                                                                           \
  ((condition) ? void() : (std::fprintf(stderr, "%s:%d: expected %s\n", __FILE__, __LINE__, #condition), std::abort()))
