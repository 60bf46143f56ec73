// A line on the terminal for work that takes longer than two seconds: how far, how fast, how long still.
#pragma once
#include <chrono>
#include <cstdint>
#include <string_view>

namespace pf::cli {

class Progress {
 public:
  // `total` in the unit of `done` below; 0 if unknown.
  Progress(bool enabled, std::string_view what, uint64_t total);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  // Cheap enough for every batch.
  void update(uint64_t done, uint64_t events);

 private:
  using Clock = std::chrono::steady_clock;
  bool enabled_, shown_ = false;
  std::string_view what_;
  uint64_t total_;
  Clock::time_point start_, last_;
};

}  // namespace pf::cli
