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

namespace {

// Without the folders: the same in another checkout of the sources.
std::string fingerprint(const Frame& f) {
  Frame bare = f;
  bare.file.erase(0, f.file.rfind('/') + 1);
  return bare.text();
}

std::string fingerprint(const std::vector<Frame>& stack) { return stack.empty() ? "" : fingerprint(stack.front()); }

std::string hash(std::string_view text) { return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size())); }

}  // namespace

std::string Race::id() const {
  std::string a = fingerprint(first.stack), b = fingerprint(second.stack);
  if (b < a) std::swap(a, b);
  const std::string memory = location.origin ? location.kind + " " + fingerprint(*location.origin) : location.name;
  return hash(a + '\n' + b + '\n' + memory);
}

std::string Misuse::id() const { return hash(what + '\n' + fingerprint(stack)); }

}  // namespace pf::report
