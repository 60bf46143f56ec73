// A trace being read, batch by batch; memory does not grow with its length.
#pragma once
#include <memory>
#include <span>
#include <string>

#include "core/result.h"
#include "trace/dictionary.h"

namespace pf {

class TraceSource {
 public:
  virtual ~TraceSource() = default;

  // The next events, none at the end. Valid until the next call. An error names the file and the place.
  virtual Result<std::span<const Event>> next() = 0;
  virtual const Dictionary& names() const = 0;

  // Where the event at that place of the last batch is: "line 12" of a text, "event 12" of a binary trace.
  virtual std::string place(std::size_t in_batch) const = 0;

  virtual uint64_t bytes_read() const = 0;
  virtual uint64_t bytes_total() const = 0;  // 0 if unknown
  // What a salvaging reader had to leave out; empty if nothing.
  virtual std::string lost() const { return {}; }
  // When the last batch happened, since the start of the program; 0 if the trace does not say.
  virtual uint64_t nanoseconds() const { return 0; }
  // Goes to the event of that number (from 0) before the first next(). Past the end: next() finds none.
  virtual Status seek(uint64_t event) = 0;
};

struct OpenOptions {
  bool salvage = false;  // read a damaged binary trace up to the last good block
};

// Binary or text, gzip'd or not; text of unknown name is read as .txt.
Result<std::unique_ptr<TraceSource>> open_trace(const std::string& path, OpenOptions options = {});

}  // namespace pf
