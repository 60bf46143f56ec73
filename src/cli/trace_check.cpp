// photofinish trace check: whether a trace could have come from a program; the first fault with its line.
#include <fmt/format.h>

#include "cli/cli.h"
#include "cli/progress.h"
#include "trace/check.h"
#include "trace/source.h"

namespace pf::cli {
namespace {

Outcome check(const std::string& file, const Globals& globals) {
  Result<std::unique_ptr<TraceSource>> opened = open_trace(file);
  if (!opened) return opened.error();
  TraceSource& source = **opened;
  const Namer namer{[&](ThreadId t) { return source.names().thread_name(t); },
                    [&](ObjectKind kind, uint64_t id) { return source.names().object_name(kind, id); }};
  Checker checker(namer);
  Progress progress(globals.progress(), "checking", source.bytes_total());
  uint64_t events = 0;
  for (;;) {
    const Result<std::span<const Event>> batch = source.next();
    if (!batch) return batch.error();
    if (batch->empty()) break;
    for (std::size_t i = 0; i < batch->size(); ++i) {
      if (const auto fault = checker.next((*batch)[i])) {
        return Error{fmt::format("{}: {}: {}", file, source.place(i), *fault)};
      }
    }
    events += batch->size();
    progress.update(source.bytes_read(), events);
  }
  if (!globals.quiet) {
    const auto open = checker.finish();
    fmt::print("{}: {} events, well-formed{}\n", file, events, open ? " (at the end, " + *open + ")" : "");
  }
  return kSuccess;
}

}  // namespace

void add_trace_check(CLI::App& trace, const Verbs& verbs) {
  CLI::App* verb =
      trace.add_subcommand("check", "Check that a trace is well-formed; the first fault is told with its line");
  auto file = std::make_shared<std::string>();
  verb->add_option("FILE", *file, "Trace file")->required();
  verb->callback([=] { verbs.run = [=] { return check(*file, verbs.globals); }; });
}

}  // namespace pf::cli
