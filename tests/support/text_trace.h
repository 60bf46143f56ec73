// Traces written in tests as text, events separated by spaces: "T0|w(V1)| T1|r(V1)|". An event without a location gets
// its number (from 1) as its site, so that reports can be traced back to events.
#pragma once
#include <gtest/gtest.h>

#include <vector>

#include "trace/text.h"

namespace pf {

struct TextTrace {
  std::vector<Event> events;
  Dictionary names;
};

inline TextTrace parse_trace(std::string_view text) {
  TextTrace trace;
  while (!text.empty()) {
    const std::size_t end = text.find_first_of(" \n");
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (word.empty()) continue;
    const std::string line = std::string(word) + (word.back() == '|' ? std::to_string(trace.events.size() + 1) : "");
    const Result<Event> e = parse_event(line, trace.names, false);
    if (!e) {
      ADD_FAILURE() << line << ": " << e.error().message;
      break;
    }
    trace.events.push_back(*e);
  }
  return trace;
}

}  // namespace pf
