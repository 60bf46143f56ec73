// Durations as people write them: "15ms", "200us", "1s", "10m", "2h"; a bare number is of milliseconds.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace pf {

// In nanoseconds; nothing if it is none or longer than a year.
constexpr std::optional<uint64_t> parse_duration(std::string_view text) {
  uint64_t value = 0;
  std::size_t digits = 0;
  for (; digits < text.size() && digits < 10 && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
    value = value * 10 + static_cast<uint64_t>(text[digits] - '0');
  }
  text.remove_prefix(digits);
  constexpr uint64_t kSecond = 1'000'000'000;
  const uint64_t scale = text == "us"                   ? 1'000
                         : text == "ms" || text.empty() ? 1'000'000
                         : text == "s"                  ? kSecond
                         : text == "m"                  ? 60 * kSecond
                         : text == "h"                  ? 3600 * kSecond
                                                        : 0;
  if (digits == 0 || scale == 0 || value > 366 * 24 * 3600 * kSecond / scale) return std::nullopt;
  return value * scale;
}

}  // namespace pf
