// Whether the calls of a function to the runtime go straight to code near the program: what the call instruction leads to is a jump to
// a fixed place then, and else one by way of a table.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstring>

inline const unsigned char* called_first(const unsigned char* code) {
  while (*code != 0xE8) ++code;
  std::int32_t distance = 0;
  std::memcpy(&distance, code + 1, sizeof distance);
  return code + 5 + distance;
}

__attribute__((no_sanitize("thread"))) inline void tell_how_it_calls(void (*function)()) {
  const unsigned char* target = called_first(reinterpret_cast<const unsigned char*>(function));
  const unsigned char mark[] = {0xF3, 0x0F, 0x1E, 0xFA};
  if (std::memcmp(target, mark, sizeof mark) == 0) target += sizeof mark;
  std::puts(*target == 0xE9 ? "calls directly" : "calls by a table");
  std::fflush(stdout);
}
