#include "report/race.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>

namespace pf::report {

std::string Frame::text() const {
  if (!location.empty()) return location;
  std::string text = function;
  if (!file.empty()) {
    text += fmt::format("{}{}", text.empty() ? "" : " ", file);
    if (line != 0) text += fmt::format(":{}", line);
    if (column != 0) text += fmt::format(":{}", column);
  } else if (!module.empty()) {
    text += fmt::format("{}{}+{:#x}", text.empty() ? "" : " ", module, offset);
  }
  return text.empty() ? "unknown place" : text;
}

std::string Race::id() const {
  const auto place = [](const Access& a) { return a.stack.empty() ? std::string() : a.stack.front().text(); };
  std::string a = place(first), b = place(second);
  if (b < a) std::swap(a, b);
  const std::string memory = location.origin ? location.kind + " " + location.origin->text() : location.name;
  const std::string text = a + '\n' + b + '\n' + memory;
  return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size()));
}

}  // namespace pf::report
