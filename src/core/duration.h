// Durations as people write them: "15ms", "200us", "1s", "10m", "2h"; a bare number is of milliseconds.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

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
  constexpr uint64_t kYear = kSecond * 3600 * 24 * 366;
  constexpr std::pair<std::string_view, uint64_t> kScales[] = {{"us", kSecond / 1'000'000}, {"ms", kSecond / 1000},
                                                               {"", kSecond / 1000},        {"s", kSecond},
                                                               {"m", 60 * kSecond},         {"h", 3600 * kSecond}};
  for (const auto& [unit, scale] : kScales) {
    if (unit == text) return digits == 0 || value > kYear / scale ? std::nullopt : std::optional(value * scale);
  }
  return std::nullopt;
}

}  // namespace pf
