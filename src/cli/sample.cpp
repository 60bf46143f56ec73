// photofinish sample: runs a program as it is, not instrumented, and looks for races with breakpoints at random instructions
// (binary/planter.h; docs/sampling-binaries.md).
#include <fmt/format.h>
#include <sys/wait.h>

#include "cli/cli.h"
#include "cli/sampling.h"
#include "cli/supervise.h"

namespace pf::cli {
namespace {

struct End {
  int status = 0;
  bool found = false;
  report::RunOptions options;
};

Result<End> sample_program(const SamplingPlan& plan, const std::vector<std::string>& command, const Globals& globals) {
  Result<SamplingFiles> files = SamplingFiles::make(plan, command.front());
  if (!files) return files.error();
  Environment environment = environment_of(plan.chain, files->directory.path(), plan.runtime.string(), true);
  environment.emplace_back("PHOTOFINISH_BOARD", files->board_path());

  SignalGate gate;
  const Result<pid_t> program = start_program(command, environment, gate);
  if (!program) return program.error();
  const IgnoredPipes ignored;
  Sampling sampling(plan, *program, *files, globals);
  int status = 0;
  while (!has_ended(*program, status)) {
    sampling.go_on(gate.fd());
    gate.forward(*program);
  }
  const Result<bool> found = sampling.finish(command.front());
  if (!found) return found.error();
  return End{status, *found, sampling.options()};
}

Outcome sample(const SamplingRequest& request, const std::vector<std::string>& command, const Globals& globals) {
  if (command.empty()) return Error{"sample: no program given (see photofinish sample --help)"};
  const Result<SamplingPlan> plan = make_sampling_plan(request, globals);
  if (!plan) return plan.error();
  const Result<End> end = sample_program(*plan, command, globals);
  if (!end) return end.error();
  if (WIFSIGNALED(end->status)) {
    std::fflush(nullptr);
    die_of(WTERMSIG(end->status));
  }
  return exit_code(end->status, end->found, end->options);
}

}  // namespace

void add_sample(const Verbs& verbs) {
  CLI::App* verb = verbs.app.add_subcommand("sample", "Run a program as it is and look for races by sampling");
  const auto request = add_sampling_options(*verb, "the program goes on without");
  auto shown_only = std::make_shared<std::vector<std::string>>();
  verb->add_option("PROGRAM", *shown_only, "The program and its arguments");
  verb->footer(
      "A race is an access that met another one of the same memory while its thread was stopped (confirmed), both "
      "known\n"
      "not to be atomic by debug information and source. What was found but not seen to happen is listed as suspect.\n"
      "Exit code: the program's own, or 66 when a race was reported; suspects do not count.");
  verb->callback([request, shown_only, verbs] {
    verbs.run = [request, verbs] { return sample(*request, verbs.command, verbs.globals); };
  });
}

}  // namespace pf::cli
