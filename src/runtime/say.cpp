#include "runtime/say.h"

namespace pf::rt {

Text& Text::number(uint64_t n) {
  char digits[20];
  int k = 0;
  do {
    digits[k++] = static_cast<char>('0' + n % 10);
    n /= 10;
  } while (n != 0);
  while (k > 0) put(digits[--k]);
  return *this;
}

Text& Text::quoted(const char* s) {
  put('"');
  for (; *s != '\0'; ++s) {
    const auto c = static_cast<unsigned char>(*s);
    if (c == '"' || c == '\\') {
      put('\\').put(*s);
    } else if (c < 0x20) {
      put("\\u00").put("0123456789abcdef"[c >> 4]).put("0123456789abcdef"[c & 15]);
    } else {
      put(*s);
    }
  }
  return put('"');
}

// Out of memory cuts the text; what was put so far stays.
bool Text::grow() {
  auto* bigger = static_cast<char*>(sys::map(capacity_ * 4));
  if (bigger == nullptr) return false;
  for (std::size_t i = 0; i < size_; ++i) bigger[i] = data_[i];
  if (data_ != inside_) sys::unmap(data_, capacity_);
  data_ = bigger;
  capacity_ *= 4;
  return true;
}

namespace {

constinit bool g_silent = false;

}  // namespace

void be_silent() { g_silent = true; }

void say(const char* message, const char* detail) {
  if (g_silent) return;
  Text line;
  line.put("photofinish: ").put(message).put(detail).put('\n');
  sys::write(2, line.data(), line.size());
}

void die_of(const char* message, const char* detail) {
  g_silent = false;
  say(message, detail);
  sys::die(70);
}

}  // namespace pf::rt
