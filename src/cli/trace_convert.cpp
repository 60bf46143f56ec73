// photofinish trace convert: from any trace format to any other; the names of the files say which.
#include <fmt/format.h>

#include "cli/cli.h"
#include "cli/progress.h"
#include "trace/source.h"
#include "trace/writer.h"

namespace pf::cli {
namespace {

struct Request {
  std::string from, to;
  bool salvage = false;
};

Outcome convert(const Request& request, const Globals& globals) {
  Result<std::unique_ptr<TraceSource>> source = open_trace(request.from, {.salvage = request.salvage});
  if (!source) return source.error();
  Result<std::unique_ptr<TraceWriter>> writer = create_trace(request.to);
  if (!writer) return writer.error();
  Progress progress(globals.progress(), "converting", (*source)->bytes_total());
  uint64_t events = 0;
  for (;;) {
    const Result<std::span<const Event>> batch = (*source)->next();
    if (!batch) return batch.error();
    if (batch->empty()) break;
    (*writer)->set_time((*source)->nanoseconds());
    const Status added = (*writer)->add(*batch, (*source)->names());
    if (!added) return added.error();
    events += batch->size();
    progress.update((*source)->bytes_read(), events);
  }
  const Status finished = (*writer)->finish((*source)->names());
  if (!finished) return finished.error();
  if (!(*source)->lost().empty()) fmt::print(stderr, "photofinish: salvaged: {}\n", (*source)->lost());
  return kSuccess;
}

}  // namespace

void add_trace_convert(CLI::App& trace, const Verbs& verbs) {
  CLI::App* verb = trace.add_subcommand("convert", "Write a trace in another format (.pft .std .txt .std.gz .txt.gz)");
  auto request = std::make_shared<Request>();
  verb->add_option("IN", request->from, "Trace to read")->required();
  verb->add_option("-o,--output", request->to, "Trace to write; its name says the format")->required();
  verb->add_flag("--salvage", request->salvage, "Read a damaged or unfinished trace up to its last good block");
  verb->callback([=] { verbs.run = [=] { return convert(*request, verbs.globals); }; });
}

}  // namespace pf::cli
