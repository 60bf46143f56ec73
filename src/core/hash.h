// Hashes that are the same in every run and build: what they name is kept in files. Not for secrets.
#pragma once
#include <cstdint>
#include <string_view>

namespace pf {

// FNV-1a.
constexpr uint64_t hash_bytes(std::string_view bytes) {
  uint64_t h = 0xCBF29CE484222325U;
  for (const char c : bytes) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  return h;
}

// Of a sequence of numbers, one after the other.
constexpr uint64_t hash_with(uint64_t h, uint64_t x) {
  h = (h ^ x ^ x >> 32) * 0x9E3779B97F4A7C15U;
  return h ^ h >> 29;
}

}  // namespace pf
