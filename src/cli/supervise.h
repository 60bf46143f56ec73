// What the verbs that run a program under watch have in common: its environment, its end.
#pragma once
#include <csignal>
#include <string>

#include "cli/target.h"
#include "report/follow.h"
#include "report/run_options.h"

namespace pf::cli {

// For a program that finds our runtime by itself, or is preloaded with it.
Environment environment_of(const std::string& chain, const std::string& run, const std::string& runtime, bool preload);

// A closed pipe for our reports is no reason to leave the program alone; but the next one must not inherit this.
struct IgnoredPipes {
  IgnoredPipes() : before(std::signal(SIGPIPE, SIG_IGN)) {}
  IgnoredPipes(const IgnoredPipes&) = delete;
  IgnoredPipes& operator=(const IgnoredPipes&) = delete;
  ~IgnoredPipes() { std::signal(SIGPIPE, before); }
  void (*before)(int);
};

// Until the program has ended: reports come out as they come in, signals go to the program. Its status, as waitpid() has it.
int follow(pid_t program, SignalGate& gate, report::RunFollower& follower, const report::RunFollower::Take& take);

std::string not_instrumented(const std::string& program);

// Of photofinish itself, from the program's status as waitpid() has it.
int exit_code(int status, bool found, const report::RunOptions& options);

}  // namespace pf::cli
