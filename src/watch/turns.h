// Sampled instructions take turns. One that has had a sample rests, or those of a hot loop would take every slot from code that seldom
// runs: each instruction is to be as likely as any other, however often it runs (DataCollider). Its rest is twice as long
// each time, up to `longest`, at which all of them together ask for about as many samples as there can be.
//
// A rest is a time, and to look at the time costs more than most accesses. So each thread counts: of the executions that will fill the
// rest, by what it has seen, half go by until it looks again.
#pragma once
#include <cstdint>

namespace pf::watch {

// Of a thread and an instruction.
class Turn {
 public:
  // Hot. Whether to look at the time.
  bool is_up() {
    if (left_ == 0) return true;
    --left_;
    return false;
  }
  // It was looked at, and there is nothing to do until then. How many executions went by since the last time.
  uint32_t wait(uint64_t now, uint64_t until) {
    const uint64_t passed = now - looked_, went_by = length_;
    const bool is_known = looked_ != 0 && until > now && passed != 0;
    const uint64_t fitting = is_known ? (went_by + 1) * ((until - now) / 2) / passed : 0;
    left_ = length_ = static_cast<uint32_t>(fitting < kMost ? fitting : kMost);
    looked_ = now;
    return static_cast<uint32_t>(went_by);
  }

 private:
  static constexpr uint64_t kMost = 1 << 16;
  uint32_t left_ = 0, length_ = 0;
  uint64_t looked_ = 0;
};

// Of an instruction, over all threads.
class Rest {
 public:
  uint64_t until() const { return __atomic_load_n(&until_, __ATOMIC_RELAXED); }
  void begin(uint64_t now, uint64_t longest) {
    const uint64_t before = __atomic_load_n(&length_, __ATOMIC_RELAXED);
    const uint64_t doubled = 2 * before < longest ? 2 * before : longest;
    const uint64_t length = before == 0 ? kShortest : doubled;
    __atomic_store_n(&length_, length, __ATOMIC_RELAXED);
    __atomic_store_n(&until_, now + length, __ATOMIC_RELAXED);
  }

 private:
  static constexpr uint64_t kShortest = 100'000;  // nanoseconds
  uint64_t until_ = 0, length_ = 0;
};

}  // namespace pf::watch
