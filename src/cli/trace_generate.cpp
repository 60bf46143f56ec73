// photofinish trace generate: random well-formed traces from a seed.
#include <fmt/format.h>

#include "cli/cli.h"
#include "cli/progress.h"
#include "trace/generator.h"
#include "trace/writer.h"

namespace pf::cli {
namespace {

constexpr std::size_t kBatch = 4096;

// Names as the generator numbers them: thread i is "Ti", site i is "i".
void name_all(std::span<const Event> events, Dictionary& names) {
  const auto name_thread = [&](uint64_t id) {
    while (names.threads().size() <= id) names.add_thread("T" + std::to_string(names.threads().size()));
  };
  for (const Event& e : events) {
    name_thread(index(e.thread));
    if (e.op == Op::Fork || e.op == Op::Join) name_thread(e.target);
    while (names.sites().size() <= index(e.site)) names.site(std::to_string(names.sites().size()));
  }
}

Outcome generate(const GeneratorOptions& options, const std::string& file, const Globals& globals) {
  Result<std::unique_ptr<TraceWriter>> writer = create_trace(file);
  if (!writer) return writer.error();
  Generator generator(options);
  Dictionary names;
  std::vector<Event> batch(kBatch);
  Progress progress(globals.progress(), "generating", options.events);
  uint64_t events = 0;
  for (bool more = true; more;) {
    std::size_t n = 0;
    while (n < batch.size() && (more = generator.next(batch[n]))) ++n;
    const std::span<const Event> filled(batch.data(), n);
    name_all(filled, names);
    const Status added = (*writer)->add(filled, names);
    if (!added) return added.error();
    events += n;
    progress.update(events, events);
  }
  const Status finished = (*writer)->finish(names);
  if (!finished) return finished.error();
  return kSuccess;
}

void add_counts(CLI::App& verb, GeneratorOptions& o) {
  const auto count = [&](const char* flag, unsigned& value, const char* help) {
    verb.add_option(flag, value, help)->transform(CLI::Validator(expand_count, ""))->capture_default_str();
  };
  count("--threads", o.threads, "Threads alive at once");
  count("--variables", o.variables, "Shared variables");
  count("--locals", o.local_variables, "Variables of each thread alone");
  count("--locks", o.locks, "Mutexes");
  count("--rwlocks", o.rwlocks, "Reader-writer locks");
  count("--atomics", o.atomics, "Atomic variables, with all memory orders");
  count("--conditions", o.conditions, "Condition variables (wait and notify)");
  count("--barriers", o.barriers, "Barriers");
  count("--semaphores", o.semaphores, "Semaphores");
  count("--heap", o.heap_blocks, "Heap blocks alive at once (alloc and free)");
  count("--sites", o.sites, "Program locations");
  count("--section", o.accesses_per_section, "Accesses per critical section, on average");
  count("--run", o.run_length, "Events of one thread before another runs, on average");
  count("--nesting", o.nesting, "Locks held at once, at most");
}

void add_shares(CLI::App& verb, GeneratorOptions& o) {
  const auto share = [&](const char* flag, double& value, const char* help) {
    verb.add_option(flag, value, help)->check(CLI::Range(0.0, 1.0))->capture_default_str();
  };
  share("--discipline", o.discipline, "Probability that a critical section takes the right lock");
  share("--races", o.race, "Probability that an access goes without its lock");
  share("--local-share", o.local_share, "Share of accesses to a thread's own variables");
  share("--writes", o.write_share, "Share of writes among accesses");
  share("--locality", o.locality, "Probability that a thread keeps to the locks of its group");
  share("--sync-share", o.sync_share, "Share of other synchronization, where there is any");
  verb.add_flag("--fork-join", o.fork_join, "Threads come and go; else all live from the start");
  verb.add_flag("--fences", o.fences, "Standalone fences");
  verb.add_flag("--bytes", o.bytes, "Accesses of 1 to 8 bytes that overlap in part");
  verb.add_flag("--values", o.values, "Accesses carry values");
}

}  // namespace

void add_trace_generate(CLI::App& trace, const Verbs& verbs) {
  CLI::App* verb = trace.add_subcommand("generate", "Write a random well-formed trace");
  auto options = std::make_shared<GeneratorOptions>();
  options->race = 0.001;
  auto file = std::make_shared<std::string>();
  verb->add_option("-o,--output", *file, "Trace to write; its name says the format")->required();
  verb->add_option("--seed", options->seed, "The same seed and options give the same trace")->capture_default_str();
  verb->add_option("-n,--events", options->events, "Events to write, about (1000000, 1e6, 1M)")
      ->transform(CLI::Validator(expand_count, ""))
      ->capture_default_str();
  add_counts(*verb, *options);
  add_shares(*verb, *options);
  verb->callback([=] { verbs.run = [=] { return generate(*options, *file, verbs.globals); }; });
}

}  // namespace pf::cli
