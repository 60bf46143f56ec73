// What the registry knows of a stage: enough for help, docs, the chain parser and the tests, without running it.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace pf {

enum class StageKind : uint8_t { Filter, Detector, Predictor };

struct OptionInfo {
  std::string_view name;
  std::string_view
      argument;  // empty for a switch; "N" a whole number, "R" a rate, "T" a time, "a|b" one of these, else any text
  std::string_view fallback;  // what holds when it is not given
  std::string_view help;
};

struct EngineInfo {
  std::string_view name;
  StageKind kind;
  std::string_view summary;
  std::string_view guarantee;
  std::string_view source;
  std::span<const OptionInfo> options;
  std::span<const std::string_view> rules;  // what Env::count counts
  bool offline = true;                      // else it needs a running program
};

}  // namespace pf
