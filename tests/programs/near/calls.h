// How the calls of a function to the runtime go: to the runtime's hot code itself, which was put into the module, to a jump to such code near
// the module, or by way of a table.
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

inline const char* way_of(const unsigned char* target) {
  const unsigned char mark[] = {0xF3, 0x0F, 0x1E, 0xFA};
  if (std::memcmp(target, mark, sizeof mark) == 0) target += sizeof mark;
  if (*target == 0xE9) return "calls by a direct jump";
  if (*target == 0xF2) ++target;
  const bool jumps_by_entry = target[0] == 0xFF && target[1] == 0x25;
  const bool loads_table = target[0] == 0x48 && target[1] == 0x8B && target[2] == 0x05 && target[7] == 0xFF;
  return jumps_by_entry || loads_table ? "calls by a table" : "calls the code";
}

__attribute__((no_sanitize("thread"))) inline void tell_how_it_calls(void (*function)()) {
  std::puts(way_of(called_first(reinterpret_cast<const unsigned char*>(function))));
  std::fflush(stdout);
}
