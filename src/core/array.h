// A growable array of trivially copyable things in memory of the environment; the first kInside of them are in the array
// itself. No destructor: the owner clears it, or lets the environment's memory go as a whole.
#pragma once
#include <cstring>
#include <type_traits>

#include "core/env.h"

namespace pf {

template <class T, class Env, uint32_t kInside = 0>
class Array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  uint32_t size() const { return size_; }
  T& operator[](uint32_t i) { return data()[i]; }
  const T& operator[](uint32_t i) const { return data()[i]; }

  void push(const T& x, Env& env) {
    const T copy = x;  // x may be an element of this array
    if (size_ == capacity()) reserve(capacity() == 0 ? kFirst : capacity() * 2, env);
    data()[size_++] = copy;
  }
  void set(uint32_t i, const T& x) { data()[i] = x; }
  void pop() { --size_; }
  void clear() { size_ = 0; }

  // New elements are all zero bytes.
  void resize(uint32_t size, Env& env) {
    if (size > capacity()) reserve(size, env);
    if (size > size_) std::memset(static_cast<void*>(data() + size_), 0, (size - size_) * sizeof(T));
    size_ = size;
  }

  void remove(uint32_t i) {
    T* const all = data();
    --size_;
    for (; i < size_; ++i) all[i] = all[i + 1];  // few: a call costs more
  }

  Array clone(Env& env) const {
    Array copy;
    if (size_ > kInside) copy.reserve(size_, env);
    if (size_ != 0) std::memcpy(static_cast<void*>(copy.data()), data(), size_ * sizeof(T));
    copy.size_ = size_;
    return copy;
  }

  void release(Env& env) {
    free(env);
    size_ = outside_ = 0;
  }

 private:
  static constexpr bool kHasInside = kInside != 0;
  static constexpr uint32_t kFirst = sizeof(T) < 24 ? 8 : 1;  // what a variable keeps of its accesses is large, and few

  bool is_inside() const { return kHasInside && outside_ == 0; }
  uint32_t capacity() const { return outside_ == 0 ? kInside : outside_; }
  T* data() { return is_inside() ? reinterpret_cast<T*>(inside_) : outside(); }
  const T* data() const { return const_cast<Array*>(this)->data(); }
  T* outside() const {
    T* p = nullptr;
    std::memcpy(static_cast<void*>(&p), inside_, sizeof(void*));
    return p;
  }

  void reserve(uint32_t capacity, Env& env) {
    T* fresh = static_cast<T*>(env.allocate(capacity * sizeof(T)));
    if (size_ != 0) std::memcpy(static_cast<void*>(fresh), data(), size_ * sizeof(T));
    free(env);
    std::memcpy(inside_, static_cast<void*>(&fresh), sizeof(void*));
    outside_ = capacity;
  }
  void free(Env& env) {
    if (outside_ != 0) env.deallocate(outside(), outside_ * sizeof(T));
  }

  alignas(T) alignas(T*) char inside_[kHasInside ? kInside * sizeof(T) : sizeof(T*)] = {};  // else a pointer to them
  uint32_t size_ = 0, outside_ = 0;  // how many there is room for outside; all zero bytes are an empty array
};

}  // namespace pf
