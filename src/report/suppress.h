// Suppressions, in TSan's syntax: one `kind:pattern` a line, `#` starts a comment. A pattern is found anywhere in a
// function, file or module name; `*` stands for any text, `^` and `$` tie it to the start and the end.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "report/race.h"

namespace pf::report {

enum class SuppressionKind { Race, RaceTop, Thread, Mutex, Signal, Deadlock, CalledFromLib };

struct Suppression {
  SuppressionKind kind;
  std::string pattern;
  std::string text;  // as written
  uint64_t hits = 0;
};

class Suppressions {
 public:
  // Every line that can be read; the others are told in problems(), with their numbers.
  static Suppressions parse(std::string_view text);
  static Result<Suppressions> load(const std::string& path);

  void add(std::string_view text);

  // Whether one of them covers it; that one's hits are counted.
  bool covers(const Race& race);
  bool covers(const Misuse& misuse);

  const std::vector<Suppression>& all() const { return all_; }
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  void add_line(std::string_view line, std::size_t number);

  std::vector<Suppression> all_;
  std::vector<std::string> problems_;
};

bool matches_pattern(std::string_view pattern, std::string_view text);

}  // namespace pf::report
