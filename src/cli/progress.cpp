#include "cli/progress.h"

#include <fmt/format.h>

#include <algorithm>

namespace pf::cli {

Progress::Progress(bool enabled, std::string_view what, uint64_t total)
    : enabled_(enabled), what_(what), total_(total), start_(Clock::now()), last_(start_) {}

Progress::~Progress() {
  if (shown_) fmt::print(stderr, "\r\x1b[K");
}

void Progress::update(uint64_t done, uint64_t events) {
  if (!enabled_) return;
  const auto now = Clock::now();
  using std::chrono::milliseconds;
  if (now - start_ < milliseconds(2000) || now - last_ < milliseconds(200)) return;
  last_ = now;
  shown_ = true;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double rate = static_cast<double>(events) / seconds / 1e6;
  if (total_ == 0 || done == 0) {
    fmt::print(stderr, "\r\x1b[K{}: {:.1f} million events, {:.1f} million/s", what_, static_cast<double>(events) / 1e6,
               rate);
    return;
  }
  const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total_));
  fmt::print(stderr, "\r\x1b[K{}: {:.0f}%, {:.1f} million events/s, {:.0f} s left", what_, share * 100, rate,
             seconds * (1 - share) / share);
}

}  // namespace pf::cli
