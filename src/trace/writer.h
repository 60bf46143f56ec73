// Writes a trace, event by event, in one pass: binary (.pft) or text (.std, .txt), gzip'd if the name ends in .gz.
// Nothing counts as written until finish() says so.
#pragma once
#include <functional>
#include <memory>
#include <span>

#include "trace/codec.h"
#include "trace/output.h"

namespace pf {

class TraceWriter {
 public:
  virtual ~TraceWriter() = default;
  // The names that the events use are in the dictionary by then.
  virtual Status add(std::span<const Event> events, const Dictionary& names) = 0;
  virtual Status finish(const Dictionary& names) = 0;
  // When the events that follow happened, since the start of the program; kept to the precision of a block.
  virtual void set_time(uint64_t nanoseconds) = 0;
};

// The format is taken from the name.
Result<std::unique_ptr<TraceWriter>> create_trace(const std::string& path);

std::unique_ptr<TraceWriter> make_binary_writer(OutputFile file);

}  // namespace pf
