// A lock for a few dozen instructions: one byte, spins, then yields. Never held across a call into the program or libc.
#pragma once
#include "runtime/sys.h"

namespace pf::rt {

inline void relax(unsigned round) {
  if (round < 32) {
    __builtin_ia32_pause();
  } else {
    sys::yield();
  }
}

class SpinLock {
 public:
  void lock() {
    for (unsigned round = 0; __atomic_exchange_n(&held_, true, __ATOMIC_ACQUIRE); ++round) relax(round);
  }
  void unlock() { __atomic_store_n(&held_, false, __ATOMIC_RELEASE); }

 private:
  bool held_ = false;
};

class [[nodiscard]] Guard {
 public:
  explicit Guard(SpinLock& lock) : lock_(lock) { lock_.lock(); }
  ~Guard() { lock_.unlock(); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  SpinLock& lock_;
};

}  // namespace pf::rt
