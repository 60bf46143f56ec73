#include "cli/supervise.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>

#include <cstdlib>

namespace pf::cli {

Environment environment_of(const std::string& chain, const std::string& run, const std::string& runtime, bool preload) {
  const auto value_of = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  const std::string libraries = value_of("LD_LIBRARY_PATH"), preloaded = value_of("LD_PRELOAD");
  const std::string ours = runtime + "/libphotofinish.so";
  Environment environment = {{"PHOTOFINISH_RUN", run}, {"PHOTOFINISH_CHAIN", chain}};
  if (preload) {
    environment.emplace_back("LD_PRELOAD", preloaded.empty() ? ours : fmt::format("{}:{}", ours, preloaded));
    return environment;
  }
  environment.emplace_back("LD_LIBRARY_PATH", libraries.empty() ? runtime : fmt::format("{}:{}", runtime, libraries));
  // A preloaded allocator would come before our runtime, which then would not see what is allocated. So ours comes first.
  if (!preloaded.empty()) {
    environment.emplace_back("LD_PRELOAD", fmt::format("{}:{}", ours, preloaded));
    environment.emplace_back("PHOTOFINISH_PRELOADED", "1");
  }
  return environment;
}

int follow(pid_t program, SignalGate& gate, report::RunFollower& follower, const report::RunFollower::Take& take) {
  int status = 0;
  while (!has_ended(program, status)) {
    pollfd ready[] = {{gate.fd(), POLLIN, 0}, {follower.fd(), POLLIN, 0}};
    poll(ready, 2, gate.fd() < 0 || follower.fd() < 0 ? 200 : -1);  // no descriptor left: ask now and then
    gate.forward(program);
    follower.drain(take);
  }
  follower.drain(take);
  return status;
}

std::string not_instrumented(const std::string& program) {
  return fmt::format(
      "{} is not instrumented: build it with pf-c++ or pf-cc (or with -fsanitize=thread, dynamically linked)", program);
}

int exit_code(int status, bool found, const report::RunOptions& options) {
  if (found && options.exitcode != 0) return options.exitcode;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);  // as shells do
}

}  // namespace pf::cli
