// A growable array of trivially copyable things in memory of the environment. No destructor: the owner clears it, or
// lets the environment's memory go as a whole.
#pragma once
#include <cstring>
#include <type_traits>

#include "core/env.h"

namespace pf {

template <class T, class Env>
class Array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  uint32_t size() const { return size_; }
  T& operator[](uint32_t i) { return data_[i]; }
  const T& operator[](uint32_t i) const { return data_[i]; }

  void push(const T& x, Env& env) {
    const T copy = x;  // x may be an element of this array
    if (size_ == capacity_) reserve(capacity_ == 0 ? kFirst : capacity_ * 2, env);
    data_[size_++] = copy;
  }
  void pop() { --size_; }
  void clear() { size_ = 0; }

  // New elements are all zero bytes.
  void resize(uint32_t size, Env& env) {
    if (size > capacity_) reserve(size, env);
    if (size > size_) std::memset(static_cast<void*>(data_ + size_), 0, (size - size_) * sizeof(T));
    size_ = size;
  }

  void remove(uint32_t i) {
    std::memmove(static_cast<void*>(data_ + i), data_ + i + 1, (size_ - i - 1) * sizeof(T));
    --size_;
  }

  Array clone(Env& env) const {
    Array copy;
    if (size_ == 0) return copy;
    copy.reserve(size_, env);
    std::memcpy(static_cast<void*>(copy.data_), data_, size_ * sizeof(T));
    copy.size_ = size_;
    return copy;
  }

  void release(Env& env) {
    if (data_ != nullptr) env.deallocate(data_, capacity_ * sizeof(T));
    data_ = nullptr;
    size_ = capacity_ = 0;
  }

 private:
  static constexpr uint32_t kFirst =
      sizeof(T) < 32 ? 8 : 1;  // what a variable keeps of its accesses is large, and mostly one

  void reserve(uint32_t capacity, Env& env) {
    T* fresh = static_cast<T*>(env.allocate(capacity * sizeof(T)));
    if (size_ != 0) std::memcpy(static_cast<void*>(fresh), data_, size_ * sizeof(T));
    if (data_ != nullptr) env.deallocate(data_, capacity_ * sizeof(T));
    data_ = fresh;
    capacity_ = capacity;
  }

  T* data_ = nullptr;
  uint32_t size_ = 0, capacity_ = 0;
};

}  // namespace pf
