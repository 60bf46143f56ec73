// Traces as text, one event a line: `T0|w(V1)|345`, that is thread, operation with operand, location.
//
// The STD format of the RAPID tool is this with the operations r w acq rel fork join begin end. The .txt format has
// every operation, sizes, values and memory orders (docs/trace-format.md has the grammar) and is the exact twin of
// the binary one. Both may be gzip'd.
#pragma once
#include <memory>

#include "trace/dictionary.h"
#include "trace/source.h"
#include "trace/writer.h"

namespace pf {

enum class TraceFormat : uint8_t { Binary, Std, Text };

struct TraceName {
  TraceFormat format;
  bool gzip;
};
// From the ending of a file's name: .pft .std .txt, and .std.gz .txt.gz.
Result<TraceName> parse_trace_name(std::string_view path);

// One line with its newline. `std_only`: nothing that the STD format lacks; the error names what it is. To be written
// so, an event and its names must fit the format (the writer checks it).
std::string format_event(const Event& e, const Dictionary& names, bool std_only = false);
Result<Event> parse_event(std::string_view line, Dictionary& names, bool std_only);

std::unique_ptr<TraceWriter> make_text_writer(OutputFile file, TraceName name);
Result<std::unique_ptr<TraceSource>> open_text_trace(const std::string& path, bool std_only);

}  // namespace pf
