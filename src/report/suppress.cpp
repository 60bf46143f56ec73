#include "report/suppress.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <utility>

namespace pf::report {
namespace {

using Kind = SuppressionKind;

constexpr std::array<std::pair<std::string_view, Kind>, 7> kKinds = {{
    {"race", Kind::Race},
    {"race_top", Kind::RaceTop},
    {"thread", Kind::Thread},
    {"mutex", Kind::Mutex},
    {"signal", Kind::Signal},
    {"deadlock", Kind::Deadlock},
    {"called_from_lib", Kind::CalledFromLib},
}};

std::string_view trimmed(std::string_view s) {
  constexpr std::string_view kBlank = " \t\r\f\v";
  const std::size_t first = s.find_first_not_of(kBlank);
  return first == s.npos ? std::string_view() : s.substr(first, s.find_last_not_of(kBlank) - first + 1);
}

// `*` in the pattern stands for any text, the whole of `text` is to match. Goes back to the last star only: linear
// in practice, and never worse than the product of the lengths.
bool matches_whole(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = pattern.npos, mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p, ++t;
    } else if (star != pattern.npos) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == pattern.npos;
}

bool matches_frame(std::string_view pattern, const Frame& f) {
  const auto found = [&](const std::string& name) { return !name.empty() && matches_pattern(pattern, name); };
  return found(f.function) || found(f.signature) || found(f.file) || found(f.module) || found(f.location);
}

bool matches_stack(std::string_view pattern, const std::vector<Frame>& stack) {
  return std::ranges::any_of(stack, [&](const Frame& f) { return matches_frame(pattern, f); });
}

bool matches_top(std::string_view pattern, const Access& a) {
  return !a.stack.empty() && matches_frame(pattern, a.stack.front());
}

// The library itself made the access, or it was made for it by the function that it called.
bool called_from(std::string_view pattern, const Access& a) {
  const auto top = std::span(a.stack).first(std::min<std::size_t>(a.stack.size(), 2));
  return std::ranges::any_of(top, [&](const Frame& f) { return matches_pattern(pattern, f.module); });
}

bool matches(const Suppression& s, const Race& r) {
  switch (s.kind) {
    case Kind::Race:
      return matches_stack(s.pattern, r.first.stack) || matches_stack(s.pattern, r.second.stack) ||
             (r.location.kind == "global" && matches_pattern(s.pattern, r.location.name));
    case Kind::RaceTop: return matches_top(s.pattern, r.first) || matches_top(s.pattern, r.second);
    case Kind::CalledFromLib: return called_from(s.pattern, r.first) || called_from(s.pattern, r.second);
    default: return false;
  }
}

Kind kind_of(const Misuse& m) {
  const auto speaks_of = [&](std::string_view word) { return m.what.find(word) != m.what.npos; };
  if (speaks_of("signal")) return Kind::Signal;
  if (speaks_of("deadlock") || speaks_of("lock order")) return Kind::Deadlock;
  return speaks_of("thread") && !speaks_of("mutex") && !speaks_of("lock") ? Kind::Thread : Kind::Mutex;
}

bool matches(const Suppression& s, const Misuse& m) {
  return s.kind == kind_of(m) && matches_stack(s.pattern, m.stack);
}

template <class Report>
bool cover(std::vector<Suppression>& all, const Report& report) {
  const auto it = std::ranges::find_if(all, [&](const Suppression& s) { return matches(s, report); });
  if (it == all.end()) return false;
  ++it->hits;
  return true;
}

}  // namespace

bool matches_pattern(std::string_view pattern, std::string_view text) {
  const bool from_start = pattern.starts_with('^');
  if (from_start) pattern.remove_prefix(1);
  const bool to_end = pattern.ends_with('$');
  if (to_end) pattern.remove_suffix(1);
  return matches_whole(fmt::format("{}{}{}", from_start ? "" : "*", pattern, to_end ? "" : "*"), text);
}

Suppressions Suppressions::parse(std::string_view text) {
  Suppressions s;
  s.add(text);
  return s;
}

void Suppressions::add(std::string_view text) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    add_line(trimmed(text.substr(0, end)), number);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void Suppressions::add_line(std::string_view line, std::size_t number) {
  if (line.empty() || line.starts_with('#')) return;
  const std::size_t colon = line.find(':');
  const std::string_view kind = trimmed(line.substr(0, colon));
  const std::string_view pattern = colon == line.npos ? std::string_view() : trimmed(line.substr(colon + 1));
  const auto known = std::ranges::find(kKinds, kind, &std::pair<std::string_view, Kind>::first);
  if (colon == line.npos) {
    problems_.push_back(fmt::format("line {}: expected kind:pattern, found '{}'", number, line));
  } else if (known == kKinds.end()) {
    problems_.push_back(fmt::format("line {}: unknown kind of suppression '{}'", number, kind));
  } else if (pattern.empty()) {
    problems_.push_back(fmt::format("line {}: no pattern after '{}:'", number, kind));
  } else {
    all_.push_back({known->second, std::string(pattern), std::string(line)});
  }
}

Result<Suppressions> Suppressions::load(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || file.bad()) {
    return Error{fmt::format("cannot read suppressions from {}: {}", path, std::strerror(errno))};
  }
  Suppressions s = parse(text);
  for (std::string& problem : s.problems_) problem = fmt::format("{}, {}", path, problem);
  return s;
}

bool Suppressions::covers(const Race& race) { return cover(all_, race); }
bool Suppressions::covers(const Misuse& misuse) { return cover(all_, misuse); }

}  // namespace pf::report
