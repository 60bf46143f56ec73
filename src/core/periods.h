// Sampling periods: equal amounts of the program's work, each sampled or not by a draw of its own. Work is counted in what
// sampling does not slow down (synchronization operations, allocations), so the share of sampled periods is the share of
// sampled work. The first period is drawn like all others, or early races would miss their rate.
//
// Beginning and ending to sample has a cost of its own, so periods get longer while the program goes on, unless somebody says how long they
// are: but each is a small share of all work so far. How long one is depends on nothing that was drawn, so the rate stays what it is.
// Not thread-safe: the host serializes.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "core/random.h"

namespace pf {

// A rate as people write it, "3%", "0.5%" or "0.03", in parts of 2^32; nothing if it is none or above 1.
constexpr std::optional<uint64_t> parse_rate(std::string_view text) {
  const bool percent = !text.empty() && text.back() == '%';
  if (percent) text.remove_suffix(1);
  if (text.empty() || text == "." || text.size() > 15) return std::nullopt;
  double value = 0, digit = 1;
  bool fraction = false;
  for (const char c : text) {
    if (c == '.' && !fraction) {
      fraction = true;
    } else if (c >= '0' && c <= '9') {
      if (fraction) digit /= 10;
      value = fraction ? value + digit * (c - '0') : value * 10 + (c - '0');
    } else {
      return std::nullopt;
    }
  }
  if (percent) value /= 100;
  if (value > 1.0000001) return std::nullopt;
  return static_cast<uint64_t>(value * 4294967296.0);
}

// A rate that stands in the code: one that is none does not compile.
uint64_t not_a_rate();  // nowhere defined
consteval uint64_t known_rate(std::string_view text) {
  const std::optional<uint64_t> rate = parse_rate(text);
  return rate ? *rate : not_a_rate();
}

// What was asked for, and what came of it.
struct SamplingCounts {
  std::optional<double> rate;           // asked, 0 to 1, if a rate was
  uint64_t work = 0, sampled_work = 0;  // units
  uint64_t accesses = 0, sampled_accesses = 0;

  // Of a stage whose work is the accesses themselves.
  static SamplingCounts of_accesses(std::optional<double> rate, uint64_t seen, uint64_t sampled) {
    return {rate, seen, sampled, seen, sampled};
  }
  double effective() const { return work == 0 ? 0 : static_cast<double>(sampled_work) / static_cast<double>(work); }
};

// Joins and copies of clocks inside and outside of periods (PACER's table 3): in O(1), or by going through whole clocks.
struct ClockOperations {
  static constexpr std::string_view kNames[2][2] = {{"clocks between periods: O(1)", "clocks between periods: O(n)"},
                                                    {"clocks in periods: O(1)", "clocks in periods: O(n)"}};
  uint64_t counts[2][2] = {};

  void count(bool sampling, bool whole) { ++counts[sampling ? 1 : 0][whole ? 1 : 0]; }
};

class Periods {
 public:
  static constexpr uint64_t kAlways = uint64_t{1} << 32;
  // At first as long as it takes everybody to know again what was sampled, then up to some times that, but only that part of all work.
  static constexpr uint64_t kFirst = 4000, kLongest = 64000, kShare = 1024;

  // 0: such a length.
  constexpr Periods(uint64_t rate, uint64_t length, uint64_t seed)
      : length_(length == 0 ? kFirst : length), longest_(length == 0 ? kLongest : length), random_(seed) {
    set_rate(rate);
    sampling_ = draw();
  }

  bool sampling() const { return sampling_; }
  uint64_t rate() const { return rate_; }
  constexpr void set_rate(uint64_t rate) {
    rate = rate < kAlways ? rate : kAlways;
    if (rate == rate_) return;
    rate_ = rate;
    skipped_ = 0;
    next_is_sampled_ = false;
  }

  // So much work was done. Whether sampling began or ended.
  bool work(uint64_t units) {
    done_ += units;
    if (sampling_) sampled_ += units;
    in_period_ += units;
    const bool before = sampling_;
    while (in_period_ >= length_ && sampling_ == before) {
      in_period_ -= length_;
      grow();
      sampling_ = next();
    }
    if (sampling_ == before) return false;
    in_period_ = 0;  // what is told at once was all done before
    return true;
  }
  // The same of work that is told late: it was done before sampling began or ended.
  void late_work(uint64_t units, bool sampled) {
    done_ += units;
    if (sampled) sampled_ += units;
  }

  uint64_t length() const { return length_; }
  // How much work is sure to come before sampling begins, at this rate. Draws the next periods already.
  uint64_t work_ahead() {
    constexpr uint64_t kFarEnough = 64;
    while (skipped_ < kFarEnough && !next_is_sampled_) {
      next_is_sampled_ = draw();
      if (!next_is_sampled_) ++skipped_;
    }
    return length_ - in_period_ + skipped_ * length_;
  }

  uint64_t done() const { return done_; }
  uint64_t sampled() const { return sampled_; }

 private:
  constexpr bool draw() { return random_.chance(rate_); }
  void grow() {
    const uint64_t share = done_ / kShare, longest = share < longest_ ? share : longest_;
    length_ = std::max(length_, longest);
  }
  bool next() {
    if (skipped_ != 0) {
      --skipped_;
      return false;
    }
    return std::exchange(next_is_sampled_, false) || draw();
  }

  uint64_t rate_ = 0, length_, longest_;
  Random random_;
  bool sampling_ = false;
  uint64_t in_period_ = 0, done_ = 0, sampled_ = 0;
  uint64_t skipped_ = 0;          // periods to come that were drawn already and are not sampled; and whether
  bool next_is_sampled_ = false;  // the one after them was drawn, and is
};

}  // namespace pf
