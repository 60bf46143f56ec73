#include "report/race.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>

#include "report/words.h"

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

// "stack of thread 1 (worker)": of a running program each kind of memory is spelled out.
std::string online_memory(const Location& l) {
  const std::string owner = l.thread_text.empty() ? "" : " of " + l.thread_text;
  if (l.kind == "stack") return "stack" + owner;
  if (l.kind == "tls") return "thread-local memory" + owner;
  const bool is_no_block = l.kind == "heap" && !l.size;  // blocks were not followed
  if (l.kind == "mapped" || l.kind == "unknown" || is_no_block) return l.kind + " memory";
  std::string s = l.kind == "freed" ? "freed heap block" : "heap block";
  if (l.kind == "global") s = "global " + l.name;
  if (l.size) s += fmt::format(" of {}", plural(*l.size, "byte"));
  if (l.offset.value_or(0) != 0) s += fmt::format(" at offset {}", *l.offset);
  return s;
}

std::string memory(const Location& l) {
  if (l.online) return online_memory(l);
  std::string s = l.name;
  if (l.kind == "heap" || l.kind == "freed") {
    s = fmt::format("{} block", l.kind);
    if (l.size) s += fmt::format(" of {}", plural(*l.size, "byte"));
    if (l.offset) s += fmt::format(" at offset {}", *l.offset);
    if (l.origin) s += fmt::format(" ({} at {})", l.kind == "heap" ? "allocated" : "freed", l.origin->text());
  }
  return s.empty() ? "unknown memory" : s;
}

}  // namespace

std::string Race::title() const { return fmt::format("{} on {}", kind(), memory(location)); }

std::string Race::id() const {
  std::string a = fingerprint(first.stack), b = fingerprint(second.stack);
  if (b < a) std::swap(a, b);
  const std::string memory = location.origin ? location.kind + " " + fingerprint(*location.origin) : location.name;
  return hash(a + '\n' + b + '\n' + memory);
}

std::string Misuse::id() const { return hash(what + '\n' + fingerprint(stack)); }

}  // namespace pf::report
