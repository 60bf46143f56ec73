// photofinish collect: reports what a program writes that was not started by `photofinish run`. The runtime inside
// the program starts it when there is something to report.
#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "cli/cli.h"
#include "cli/reports.h"
#include "report/follow.h"

namespace pf::cli {
namespace {

struct Request {
  std::string directory;
  int pid = 0;
};

// Until that process has ended; it need not be our child.
void follow(int process, report::RunFollower& follower, const report::RunFollower::Take& take) {
  for (bool ended = process < 0; !ended;) {
    pollfd ready[] = {{process, POLLIN, 0}, {follower.fd(), POLLIN, 0}};
    poll(ready, 2, follower.fd() < 0 ? 200 : -1);
    ended = ready[0].revents != 0;
    follower.drain(take);
  }
  follower.drain(take);
}

Outcome collect(const Request& request, const Globals& globals) {
  std::error_code error;
  if (!std::filesystem::is_directory(request.directory, error)) {
    return Error{fmt::format("{} is not a run directory", request.directory)};
  }
  // The terminal's Ctrl-C is for the program; we stay until it is gone.
  for (const int s : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) std::signal(s, SIG_IGN);
  const RunDirectory directory(request.directory);
  const report::RunOptions options = read_run_options(globals);
  const char* chain = std::getenv("PHOTOFINISH_CHAIN");
  Result<report::Suppressions> suppressions = read_suppressions(options, "");
  if (!suppressions) fmt::print(stderr, "photofinish: {}\n", suppressions.error().message);
  ReportFiles files;
  if (const Status opened = files.open({{"text", ""}}); !opened) return opened.error();

  const auto start = std::chrono::steady_clock::now();
  const int process = static_cast<int>(syscall(SYS_pidfd_open, request.pid, 0));
  report::RunFollower follower(directory.path());
  report::Session session(chain == nullptr || *chain == '\0' ? "fasttrack" : chain, options,
                          suppressions ? std::move(*suppressions) : report::Suppressions(),
                          files.sinks(options, globals, request.pid));
  follow(process, follower, [&](const std::string& file, std::string_view line) { session.take(file, line); });
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  session.end_trial();
  session.finish(spent.count());
  if (process >= 0) close(process);
  if (const Status written = session.written(); !written) return written.error();
  if (const Status closed = files.close(); !closed) return closed.error();
  return session.found() ? kRacesFound : kSuccess;
}

}  // namespace

void add_collect(const Verbs& verbs) {
  CLI::App* verb = verbs.app.add_subcommand("collect", "Report what a process writes to a run directory");
  auto request = std::make_shared<Request>();
  verb->group("");  // for the runtime, not for people
  verb->add_option("DIR", request->directory, "The run directory; removed at the end")->required();
  verb->add_option("--pid", request->pid, "The process to follow")->required()->check(CLI::PositiveNumber);
  verb->callback([request, verbs] { verbs.run = [request, verbs] { return collect(*request, verbs.globals); }; });
}

}  // namespace pf::cli
