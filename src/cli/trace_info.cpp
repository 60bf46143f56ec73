// photofinish trace info: what is in a trace: events by kind, threads, locks, variables, time.
#include <fmt/format.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>
#include <unordered_set>

#include "cli/cli.h"
#include "cli/progress.h"
#include "trace/source.h"

namespace pf::cli {
namespace {

struct Contents {
  std::array<uint64_t, kOps> ops{};
  uint64_t events = 0, nanoseconds = 0, file_bytes = 0;
  std::unordered_set<uint64_t> variables, locks;
  std::unordered_set<uint32_t> threads, sites;
};

void count(Contents& c, const Event& e) {
  ++c.events;
  ++c.ops[static_cast<unsigned>(e.op)];
  c.threads.insert(index(e.thread));
  if (e.op == Op::Fork) c.threads.insert(static_cast<uint32_t>(e.target));
  if (e.site != kNoSite) c.sites.insert(index(e.site));
  if (is_access(e.op)) c.variables.insert(e.target);
  if (object_kind(e.op) == ObjectKind::Lock) c.locks.insert(e.target);
}

void print_json(const Contents& c) {
  nlohmann::ordered_json ops = nlohmann::ordered_json::object();
  for (unsigned i = 0; i < kOps; ++i) {
    if (c.ops[i] != 0) ops[std::string(kOpNames[i])] = c.ops[i];
  }
  const nlohmann::ordered_json all = {{"events", c.events},
                                      {"threads", c.threads.size()},
                                      {"variables", c.variables.size()},
                                      {"locks", c.locks.size()},
                                      {"sites", c.sites.size()},
                                      {"seconds", static_cast<double>(c.nanoseconds) / 1e9},
                                      {"file_bytes", c.file_bytes},
                                      {"operations", ops}};
  fmt::print("{}\n", all.dump());
}

void print_text(const Contents& c) {
  fmt::print("events     {}\nthreads    {}\nvariables  {}\nlocks      {}\nsites      {}\n", c.events, c.threads.size(),
             c.variables.size(), c.locks.size(), c.sites.size());
  if (c.nanoseconds != 0) fmt::print("time       {:.3f} s\n", static_cast<double>(c.nanoseconds) / 1e9);
  if (c.events != 0) {
    fmt::print("file       {} bytes, {:.2f} per event\n", c.file_bytes,
               static_cast<double>(c.file_bytes) / static_cast<double>(c.events));
  }
  for (unsigned i = 0; i < kOps; ++i) {
    if (c.ops[i] == 0) continue;
    fmt::print("  {:<8} {:>12}  {:5.1f}%\n", kOpNames[i], c.ops[i],
               100.0 * static_cast<double>(c.ops[i]) / static_cast<double>(c.events));
  }
}

Outcome info(const std::string& file, bool json, bool salvage, const Globals& globals) {
  Result<std::unique_ptr<TraceSource>> opened = open_trace(file, {.salvage = salvage});
  if (!opened) return opened.error();
  TraceSource& source = **opened;
  Contents contents;
  struct stat status{};
  if (stat(file.c_str(), &status) == 0) contents.file_bytes = static_cast<uint64_t>(status.st_size);
  {
    Progress progress(globals.progress(), "reading", source.bytes_total());
    for (;;) {
      const Result<std::span<const Event>> batch = source.next();
      if (!batch) return batch.error();
      if (batch->empty()) break;
      for (const Event& e : *batch) count(contents, e);
      contents.nanoseconds = std::max(contents.nanoseconds, source.nanoseconds());
      progress.update(source.bytes_read(), contents.events);
    }
  }
  if (!source.lost().empty()) fmt::print(stderr, "photofinish: salvaged: {}\n", source.lost());
  json ? print_json(contents) : print_text(contents);
  return kSuccess;
}

}  // namespace

void add_trace_info(CLI::App& trace, const Verbs& verbs) {
  CLI::App* verb =
      trace.add_subcommand("info", "Count what is in a trace: operations, threads, locks, variables, time");
  auto file = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  auto salvage = std::make_shared<bool>(false);
  verb->add_option("FILE", *file, "Trace file")->required();
  verb->add_flag("--json", *json, "One JSON object");
  verb->add_flag("--salvage", *salvage, "Read a damaged or unfinished trace up to its last good block");
  verb->callback([=] { verbs.run = [=] { return info(*file, *json, *salvage, verbs.globals); }; });
}

}  // namespace pf::cli
