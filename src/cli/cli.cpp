#include "cli/cli.h"

#include <unistd.h>

#include <charconv>
#include <cstdlib>

namespace pf::cli {

bool Globals::colored(int fd) const {
  const char* no_color = std::getenv("NO_COLOR");
  if (color == "auto") return isatty(fd) == 1 && (no_color == nullptr || *no_color == '\0');
  return color == "always";
}

bool Globals::progress() const { return !quiet && isatty(STDERR_FILENO) == 1; }

std::string expand_count(std::string& text) {
  double n = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, n);
  const std::string_view unit(at, static_cast<std::size_t>(end - at));
  if (unit == "k") n *= 1e3;
  if (unit == "M") n *= 1e6;
  if (unit == "G") n *= 1e9;
  const bool known = unit.empty() || unit == "k" || unit == "M" || unit == "G";
  const bool in_range = n >= 0 && n <= 1e18;  // and no "nan"
  if (error != std::errc{} || !known || !in_range || n != static_cast<double>(static_cast<uint64_t>(n))) {
    return "'" + text + "' is not a count (1000000, 1e6, 1M)";
  }
  text = std::to_string(static_cast<uint64_t>(n));
  return {};
}

}  // namespace pf::cli
