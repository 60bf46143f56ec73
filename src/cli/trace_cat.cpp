// photofinish trace cat: a trace as text, one event a line, so that line numbers are event numbers.
#include <fmt/format.h>

#include <limits>

#include "cli/cli.h"
#include "trace/source.h"
#include "trace/text.h"

namespace pf::cli {
namespace {

struct Request {
  std::string file;
  uint64_t from = 1;
  uint64_t count = std::numeric_limits<uint64_t>::max();
  bool salvage = false;
};

Outcome cat(const Request& request) {
  Result<std::unique_ptr<TraceSource>> opened = open_trace(request.file, {.salvage = request.salvage});
  if (!opened) return opened.error();
  TraceSource& source = **opened;
  if (request.from == 0) return Error{"--from counts events from 1"};
  if (request.from > 1) {
    const Status sought = source.seek(request.from - 1);
    if (!sought) return sought.error();
  }
  for (uint64_t left = request.count; left != 0;) {
    const Result<std::span<const Event>> batch = source.next();
    if (!batch) return batch.error();
    if (batch->empty()) break;
    std::string text;
    for (const Event& e : batch->first(std::min<uint64_t>(left, batch->size())))
      text += format_event(e, source.names());
    left -= std::min<uint64_t>(left, batch->size());
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) break;
  }
  if (!source.lost().empty()) fmt::print(stderr, "photofinish: salvaged: {}\n", source.lost());
  return kSuccess;
}

}  // namespace

void add_trace_cat(CLI::App& trace, const Verbs& verbs) {
  CLI::App* verb = trace.add_subcommand("cat", "Print a trace as text, one event a line");
  auto request = std::make_shared<Request>();
  verb->add_option("FILE", request->file, "Trace file")->required();
  verb->add_option("--from", request->from, "First event to print, from 1; a binary trace is not read up to there")
      ->transform(CLI::Validator(expand_count, ""))
      ->capture_default_str();
  verb->add_option("-n,--count", request->count, "How many events (default: to the end)")
      ->transform(CLI::Validator(expand_count, ""));
  verb->add_flag("--salvage", request->salvage, "Read a damaged or unfinished trace up to its last good block");
  verb->callback([=] { verbs.run = [=] { return cat(*request); }; });
}

}  // namespace pf::cli
