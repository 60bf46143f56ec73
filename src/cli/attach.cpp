// photofinish attach: looks for races in a process that runs already, with breakpoints at random instructions, and leaves it as it was
// (binary/attachment.h; docs/sampling-binaries.md).
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "binary/attachment.h"
#include "binary/inject.h"
#include "cli/cli.h"
#include "cli/sampling.h"
#include "cli/supervise.h"

namespace pf::cli {
namespace {

namespace fs = std::filesystem;

struct Request {
  pid_t process = 0;
  bool until_race = false;
  std::shared_ptr<SamplingRequest> sampling;
};

// What the runtime in the process needs to know, and the name that it is loaded by.
struct Delivery {
  std::string library, environment;
};

Status give_to_owner(const fs::path& directory, pid_t process) {
  struct stat owner{};
  if (stat(fmt::format("/proc/{}", process).c_str(), &owner) != 0) return Done{};  // ended: told later
  if (owner.st_uid == geteuid()) return Done{};
  std::vector<fs::path> paths = {directory};
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) paths.push_back(entry.path());
  for (const fs::path& path : paths) {
    if (lchown(path.c_str(), owner.st_uid, owner.st_gid) != 0)
      return Error{
          fmt::format("cannot give {} to the user of process {}: {}", path.string(), process, std::strerror(errno))};
  }
  return Done{};
}

Result<Delivery> deliver(const SamplingPlan& plan, const SamplingFiles& files, pid_t process) {
  const fs::path directory = files.directory.path();
  const Delivery delivery{directory / "libphotofinish.so", directory / "environment"};
  Environment environment = {
      {"PHOTOFINISH_RUN", directory}, {"PHOTOFINISH_CHAIN", plan.chain}, {"PHOTOFINISH_BOARD", files.board_path()}};
  for (const char* name : {"PHOTOFINISH_OPTIONS", "TSAN_OPTIONS"}) {
    if (const char* value = std::getenv(name); value != nullptr) environment.emplace_back(name, value);
  }
  std::ofstream file(delivery.environment, std::ios::binary);
  for (const auto& [name, value] : environment) file << name << '=' << value << '\0';
  file.close();
  std::error_code error;
  fs::create_symlink(fs::absolute(plan.runtime / "libphotofinish.so"), delivery.library, error);
  if (!file || error) return Error{fmt::format("cannot write to {}", directory.string())};
  if (const Status given = give_to_owner(directory, process); !given) return given.error();
  return delivery;
}

// Of a process that is not our child.
class Process {
 public:
  explicit Process(pid_t id) : fd_(static_cast<int>(syscall(SYS_pidfd_open, id, 0))) {}
  ~Process() {
    if (fd_ >= 0) close(fd_);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  bool has_ended() const {
    pollfd ended{fd_, POLLIN, 0};
    return fd_ < 0 || poll(&ended, 1, 0) != 0;
  }

 private:
  int fd_;
};

void tell_watching(pid_t process, const watch::Board& board) {
  if (board.watching == 0) {
    fmt::print(stderr,
               "photofinish: no hardware breakpoints for process {} (perf_event_paranoid, seccomp, or a debugger has "
               "them): nothing can be found\n",
               process);
  } else if (board.unwatched != 0) {
    fmt::print(stderr, "photofinish: {} threads of process {} have no hardware breakpoints: no descriptors for them\n",
               board.unwatched, process);
  }
}

// Once a second.
class Seldom {
 public:
  bool is_time() {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return false;
    next_ = now + std::chrono::seconds(1);
    return true;
  }

 private:
  std::chrono::steady_clock::time_point next_{};
};

Outcome attach(const Request& request, const Globals& globals) {
  const Result<SamplingPlan> plan = make_sampling_plan(*request.sampling, globals);
  if (!plan) return plan.error();
  if (const Status possible = binary::check_attachable(request.process); !possible) return possible.error();
  std::error_code ended_already;  // told later
  const std::string program = fs::read_symlink(fmt::format("/proc/{}/exe", request.process), ended_already).string();
  Result<SamplingFiles> files = SamplingFiles::make(*plan, program);
  if (!files) return files.error();
  const Result<Delivery> delivery = deliver(*plan, *files, request.process);
  if (!delivery) return delivery.error();

  SignalGate gate;  // from here on, nothing ends us before the process is left alone
  const Process process(request.process);
  const IgnoredPipes ignored;
  Result<binary::Attachment> attachment =
      binary::Attachment::make(request.process, delivery->library, delivery->environment);
  if (!attachment) return attachment.error();
  tell_watching(request.process, files->board.board());
  Sampling sampling(*plan, request.process, *files, globals);
  const auto goes_on = [&] {
    return !sampling.is_over() && !process.has_ended() && !gate.stopped() && !(request.until_race && sampling.found());
  };
  for (Seldom look; goes_on();) {
    if (look.is_time()) {
      if (!attachment->is_there()) break;
      attachment->follow();
    }
    sampling.go_on(gate.fd());
  }
  sampling.stop();
  const Status ended = process.has_ended() ? Status(Done{}) : attachment->end(files->board.board());
  const Result<bool> found = sampling.finish(program);
  if (!found) return found.error();
  if (!ended && !process.has_ended())
    return Error{fmt::format("process {} could not be left as it was: {}", request.process, ended.error().message)};
  return *found && sampling.options().exitcode != 0 ? sampling.options().exitcode : int{kSuccess};
}

}  // namespace

void add_attach(const Verbs& verbs) {
  CLI::App* verb = verbs.app.add_subcommand("attach", "Look for races in a process that runs, by sampling");
  auto request = std::make_shared<Request>();
  request->sampling = add_sampling_options(*verb, "then the process is left as it was");
  verb->add_flag("--until-race", request->until_race, "Stop at the first race; suspects do not count");
  verb->add_option("PID", request->process, "The process")->required()->check(CLI::PositiveNumber);
  verb->footer("Samples until the time is up, the process ends, or Ctrl-C; then the process is left as it was. Races "
               "and suspects "
               "are\n"
               "what they are for sample.\n"
               "Exit code: 66 when a race was reported, else 0; suspects do not count.");
  verb->callback([request, verbs] { verbs.run = [request, verbs] { return attach(*request, verbs.globals); }; });
}

}  // namespace pf::cli
