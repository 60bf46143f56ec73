// Text without libc: a line is put together on the stack and written by one system call.
#pragma once
#include <cstdint>

#include "runtime/sys.h"

namespace pf::rt {

// Grows on its own pages when the text is longer than the room inside.
class Text {
 public:
  Text() = default;
  ~Text() {
    if (data_ != inside_) sys::unmap(data_, capacity_);
  }
  Text(const Text&) = delete;
  Text& operator=(const Text&) = delete;

  Text& put(char c) {
    if (size_ == capacity_ && !grow()) return *this;
    data_[size_++] = c;
    return *this;
  }
  Text& put(const char* s) {
    while (*s != '\0') put(*s++);
    return *this;
  }
  Text& put(const char* s, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) put(s[i]);
    return *this;
  }
  Text& number(uint64_t n);
  // As a JSON string, quotes included.
  Text& quoted(const char* s);

  const char* data() const { return data_; }
  std::size_t size() const { return size_; }
  // For a system call.
  const char* c_str() {
    put('\0');
    --size_;
    return data_;
  }
  void clear() { size_ = 0; }

 private:
  bool grow();

  char inside_[1024];
  char* data_ = inside_;
  std::size_t size_ = 0, capacity_ = sizeof inside_;
};

// "photofinish: ..." on standard error.
void say(const char* message, const char* detail = "");
void be_silent();  // standard error is the program's alone; but for the end
[[noreturn]] void die_of(const char* message, const char* detail = "");

}  // namespace pf::rt

// Invariants stay checked in release builds: a detector that is wrong must not go on.
#define PF_CHECK(condition)                                                                                            \
  do {                                                                                                                 \
    if (!(condition)) [[unlikely]]                                                                                     \
      ::pf::rt::die_of("internal error, please report it: not so: ", #condition);                                      \
  } while (false)
