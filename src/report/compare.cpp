#include "report/compare.h"

#include <fmt/color.h>

#include <algorithm>

#include "report/words.h"

namespace pf::report {
namespace {

constexpr std::size_t kShown = 40;  // rows of differences, unless -v asks for all

std::string place(const Access& a) { return a.stack.empty() ? "unknown place" : a.stack.front().text(); }

std::string describe(const Race& r) {
  const std::string where = r.location.name.empty() ? r.location.kind + " memory" : r.location.name;
  return fmt::format("{} on {}: {} - {}", r.kind(), where, place(r.first), place(r.second));
}

void heading(std::FILE* out, TextStyle style, const std::string& text) {
  if (style.color) {
    fmt::print(out, fmt::emphasis::bold, "{}", text);
  } else {
    fmt::print(out, "{}", text);
  }
  fmt::print(out, "\n");
}

}  // namespace

void Comparison::add(const RacePair& pair, const Race& race) {
  const auto [it, fresh] = by_pair_.try_emplace(pair, rows_.size());
  if (fresh) rows_.push_back({describe(race), {}});
  std::vector<std::string>& verdicts = rows_[it->second].verdicts;
  verdicts.resize(chains_.size() + 1);
  verdicts.back() = race.verdict;
}

void Comparison::add(Summary summary) { chains_.push_back(std::move(summary)); }

bool Comparison::differ(const Row& row) const {
  const auto other = [&](const std::string& verdict) { return verdict != row.verdicts.front(); };
  return row.verdicts.size() < chains_.size() || std::ranges::any_of(row.verdicts, other);
}

void Comparison::print(std::FILE* out, TextStyle style) const {
  print_chains(out, style);
  print_differences(out, style);
}

void Comparison::print_chains(std::FILE* out, TextStyle style) const {
  std::size_t width = 5;
  for (const Summary& s : chains_) width = std::max(width, s.engine.size());
  heading(out, style,
          fmt::format("    {:<{}} {:>8} {:>8} {:>9} {:>12} {:>14} {:>9} {:>11}", "chain", width, "races", "real",
                      "potential", "dynamic", "dropped", "time", "peak state"));
  for (std::size_t i = 0; i < chains_.size(); ++i) {
    const Summary& s = chains_[i];
    fmt::print(out, "({}) {:<{}} {:>8} {:>8} {:>9} {:>12} {:>14} {:>7.3f} s {:>11}\n", i + 1, s.engine, width,
               grouped(s.races), grouped(s.races - s.potential - s.predicted), grouped(s.potential),
               grouped(s.dynamic_races), grouped(s.dropped), s.own_seconds, memory_size(s.peak_bytes));
  }
  if (chains_.empty()) return;
  fmt::print(out, "{} of {} in one pass; reading them took {:.3f} s, which is in no chain's time\n",
             plural(chains_.front().events, "event"), plural(chains_.front().threads, "thread"), reading);
}

void Comparison::print_differences(std::FILE* out, TextStyle style) const {
  std::vector<const Row*> rows;
  for (const Row& row : rows_) {
    if (differ(row)) rows.push_back(&row);
  }
  if (rows.empty()) {
    fmt::print(out, "the chains agree on {}\n", rows_.empty() ? "no race" : plural(rows_.size(), "pair"));
    return;
  }
  heading(out, style,
          fmt::format("\nthe chains differ on {} of {}", grouped(rows.size()), plural(rows_.size(), "pair")));
  for (std::size_t i = 0; i < chains_.size(); ++i) fmt::print(out, "{:<11}", fmt::format("({})", i + 1));
  fmt::print(out, "pair\n");
  const std::size_t shown = style.verbose ? rows.size() : std::min(rows.size(), kShown);
  for (std::size_t i = 0; i < shown; ++i) {
    for (std::size_t c = 0; c < chains_.size(); ++c) {
      const bool has = c < rows[i]->verdicts.size() && !rows[i]->verdicts[c].empty();
      fmt::print(out, "{:<11}", has ? rows[i]->verdicts[c] : "-");
    }
    fmt::print(out, "{}\n", rows[i]->text);
  }
  if (shown < rows.size()) fmt::print(out, "and {} more (-v shows all)\n", grouped(rows.size() - shown));
}

}  // namespace pf::report
