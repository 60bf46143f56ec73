// Running a program again and again: how often, and the line on the terminal meanwhile.
#pragma once
#include <chrono>

#include "core/result.h"
#include "detect/chain.h"

namespace pf::cli {

// "50", or "auto": as many as the detector's sampling rate asks for (report/trials.h).
Result<uint64_t> parse_trials(const std::string& text, const Chain& chain);

// "trial 12 of 50: 2 races, 34 s left". It shares the terminal with the reports: hide it before one is printed.
class TrialProgress {
 public:
  TrialProgress(bool enabled, uint64_t total) : enabled_(enabled), total_(total) {}
  TrialProgress(const TrialProgress&) = delete;
  TrialProgress& operator=(const TrialProgress&) = delete;
  ~TrialProgress() { hide(); }

  void show(uint64_t done, std::size_t races);
  void hide();

 private:
  using Clock = std::chrono::steady_clock;
  bool enabled_, shown_ = false;
  uint64_t total_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace pf::cli
