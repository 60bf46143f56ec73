#include "report/run_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "core/nearest.h"

namespace pf::report {
namespace {

using enum OptionReader;

constexpr std::array kKeys = {
    OptionKey{"exitcode", Parent},
    OptionKey{"log_path", Parent},
    OptionKey{"print_suppressions", Parent},
    OptionKey{"report_bugs", Parent},
    OptionKey{"report_mutex_bugs", Parent},
    OptionKey{"strip_path_prefix", Parent},
    OptionKey{"suppressions", Parent},
    OptionKey{"verbosity", Parent},
    OptionKey{"atexit_sleep_ms", Nobody},
    OptionKey{"die_after_fork", Nobody},
    OptionKey{"force_seq_cst_atomics", Nobody},
    OptionKey{"halt_on_error", Runtime},
    OptionKey{"history_size", Nobody},
    OptionKey{"ignore_interceptors_accesses", Nobody},
    OptionKey{"ignore_noninstrumented_modules", Nobody},
    OptionKey{"io_sync", Nobody},
    OptionKey{"memory_limit_mb", Nobody},
    OptionKey{"forget", Runtime},
    OptionKey{"near", Runtime},
    OptionKey{"report_atomic_races", Nobody},
    OptionKey{"breakpoints", Runtime},
    OptionKey{"report_destroy_locked", Runtime},
    OptionKey{"report_signal_unsafe", Nobody},
    OptionKey{"report_thread_leaks", Runtime},
    OptionKey{"abort_on_error", Nobody},
    OptionKey{"allocator_may_return_null", Nobody},
    OptionKey{"allow_addr2line", Nobody},
    OptionKey{"color", Nobody},
    OptionKey{"detect_deadlocks", Nobody},
    OptionKey{"disable_coredump", Nobody},
    OptionKey{"external_symbolizer_path", Nobody},
    OptionKey{"flush_memory_ms", Nobody},
    OptionKey{"flush_symbolizer_ms", Nobody},
    OptionKey{"handle_abort", Nobody},
    OptionKey{"handle_segv", Nobody},
    OptionKey{"intercept_send", Nobody},
    OptionKey{"log_exe_name", Nobody},
    OptionKey{"log_to_syslog", Nobody},
    OptionKey{"print_summary", Nobody},
    OptionKey{"profile_memory", Nobody},
    OptionKey{"second_deadlock_stack", Nobody},
    OptionKey{"shared_ptr_interceptor", Nobody},
    OptionKey{"stack_trace_format", Nobody},
    OptionKey{"stop_on_start", Nobody},
    OptionKey{"suppress_equal_addresses", Nobody},
    OptionKey{"suppress_equal_stacks", Nobody},
    OptionKey{"symbolize", Nobody},
    OptionKey{"use_sigaltstack", Nobody},
};

bool separates(char c) { return c == ':' || c == ',' || c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  RunOptions parse() {
    for (;;) {
      skip_separators();
      if (rest_.empty()) return std::move(options_);
      const std::string_view key = take_key();
      if (!rest_.starts_with('=')) {
        warn(fmt::format("'{}' has no value", key));
        continue;
      }
      rest_.remove_prefix(1);
      set(key, take_value());
    }
  }

 private:
  void skip_separators() {
    while (!rest_.empty() && separates(rest_.front())) rest_.remove_prefix(1);
  }

  std::string_view take_until(std::size_t end) {
    end = std::min(end, rest_.size());
    const std::string_view taken = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return taken;
  }

  std::string_view take_key() {
    const auto it = std::ranges::find_if(rest_, [](char c) { return c == '=' || separates(c); });
    return take_until(static_cast<std::size_t>(it - rest_.begin()));
  }

  std::string_view take_value() {
    if (!rest_.empty() && (rest_.front() == '"' || rest_.front() == '\'')) {
      const char quote = rest_.front();
      rest_.remove_prefix(1);
      const std::string_view value = take_until(rest_.find(quote));
      if (rest_.empty()) warn(fmt::format("the quote of '{}' does not end", value));
      if (!rest_.empty()) rest_.remove_prefix(1);
      return value;
    }
    return take_until(static_cast<std::size_t>(std::ranges::find_if(rest_, separates) - rest_.begin()));
  }

  void set(std::string_view key, std::string_view value) {
    const auto known = std::ranges::find(kKeys, key, &OptionKey::name);
    if (known == kKeys.end()) return unknown(key);
    if (known->reader != Parent) return;
    if (key == "exitcode") set_number(key, value, options_.exitcode, 255);
    if (key == "verbosity") set_number(key, value, options_.verbosity, 9);
    if (key == "log_path") options_.log_path = value;
    if (key == "suppressions") options_.suppressions = value;
    if (key == "strip_path_prefix") options_.strip_path_prefix = value;
    if (key == "report_bugs") set_switch(key, value, options_.report_bugs);
    if (key == "report_mutex_bugs") set_switch(key, value, options_.report_mutex_bugs);
    if (key == "print_suppressions") set_switch(key, value, options_.print_suppressions);
  }

  void set_number(std::string_view key, std::string_view value, int& target, int most) {
    int n = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), n);
    const bool right = error == std::errc() && end == value.data() + value.size() && n >= 0 && n <= most;
    right ? void(target = n) : warn(fmt::format("{} is a number from 0 to {}, not '{}'", key, most, value));
  }

  void set_switch(std::string_view key, std::string_view value, bool& target) {
    const bool on = value == "1" || value == "true" || value == "yes";
    const bool off = value == "0" || value == "false" || value == "no";
    on || off ? void(target = on) : warn(fmt::format("{} is 0 or 1, not '{}'", key, value));
  }

  void unknown(std::string_view key) {
    std::vector<std::string_view> names;
    names.reserve(kKeys.size());
    for (const OptionKey& k : kKeys) names.push_back(k.name);
    const std::string_view best = nearest(key, names);
    warn(fmt::format("unknown key '{}'{}", key, best.empty() ? "" : fmt::format(", did you mean '{}'?", best)));
  }

  void warn(std::string text) { options_.warnings.push_back(std::move(text)); }

  std::string_view rest_;
  RunOptions options_;
};

}  // namespace

std::span<const OptionKey> option_keys() { return kKeys; }

RunOptions parse_run_options(std::string_view text) { return Parser(text).parse(); }

RunOptions run_options_of_environment(std::string_view defaults) {
  for (const char* name : {"PHOTOFINISH_OPTIONS", "TSAN_OPTIONS"}) {
    const char* text = std::getenv(name);
    if (text == nullptr) continue;
    RunOptions options = parse_run_options(fmt::format("{}:{}", defaults, text));
    for (std::string& warning : options.warnings) warning = fmt::format("{}: {}", name, warning);
    return options;
  }
  return parse_run_options(defaults);
}

}  // namespace pf::report
