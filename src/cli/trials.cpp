#include "cli/trials.h"

#include <fmt/format.h>

#include <cstdlib>

#include "cli/cli.h"
#include "core/periods.h"
#include "report/trials.h"
#include "report/words.h"

namespace pf::cli {
namespace {

constexpr uint64_t kMostTrials = 1'000'000;

// The share of the program that the stage samples, as given or by default; 1 if it samples all, or takes no rate.
double sampling_rate(const StageSpec& stage) {
  for (const OptionInfo& option : stage.info->options) {
    if (option.name != "rate") continue;
    const auto given = stage.options.find(option.name);
    const std::optional<uint64_t> parts = parse_rate(given == stage.options.end() ? option.fallback : given->second);
    return static_cast<double>(parts.value_or(Periods::kAlways)) / static_cast<double>(Periods::kAlways);
  }
  return 1;
}
double sampling_rate(const Chain& chain) {
  double rate = 1;
  for (const StageSpec& stage : chain.stages) rate *= sampling_rate(stage);
  return rate;
}

}  // namespace

Result<uint64_t> parse_trials(const std::string& text, const Chain& chain) {
  if (text == "auto") return report::Trials::choose(sampling_rate(chain));
  std::string digits = text;
  const bool wrong = !expand_count(digits).empty();
  const uint64_t trials = wrong ? 0 : std::strtoull(digits.c_str(), nullptr, 10);
  if (trials >= 1 && trials <= kMostTrials) return trials;
  return Error{fmt::format("--trials takes a number from 1 to a million, or auto, not '{}'", text)};
}

// From the third second on, as all progress.
void TrialProgress::show(uint64_t done, std::size_t races) {
  const std::chrono::duration<double> spent = Clock::now() - start_;
  if (!enabled_ || spent.count() < 2) return;
  shown_ = true;
  fmt::print(stderr, "\r\x1b[Ktrial {} of {}: {}", done + 1, total_, report::plural(races, "race"));
  if (done == 0) return;
  fmt::print(stderr, ", {:.0f} s left", spent.count() * static_cast<double>(total_ - done) / static_cast<double>(done));
}

void TrialProgress::hide() {
  if (shown_) fmt::print(stderr, "\r\x1b[K");
  shown_ = false;
}

}  // namespace pf::cli
