// Numbers as people read them.
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace pf::report {

// "1,234,567"
inline std::string grouped(uint64_t n) {
  std::string s = std::to_string(n);
  for (std::size_t i = s.size(); i > 3; i -= 3) s.insert(i - 3, 1, ',');
  return s;
}

// "1 race", "2 races"
inline std::string plural(uint64_t n, std::string_view one, std::string_view many = {}) {
  if (n == 1 || many.empty()) return fmt::format("{} {}{}", grouped(n), one, n == 1 ? "" : "s");
  return fmt::format("{} {}", grouped(n), many);
}

// "1.5 KiB"
inline std::string memory_size(uint64_t bytes) {
  const auto kib = static_cast<double>(bytes) / 1024;
  return kib < 1024 ? fmt::format("{:.1f} KiB", kib) : fmt::format("{:.1f} MiB", kib / 1024);
}

}  // namespace pf::report
