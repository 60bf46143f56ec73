#include "cli/target.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sstream>

namespace pf::cli {
namespace {

sigset_t gated_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int s : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD}) sigaddset(&set, s);
  return set;
}

// In the child: never returns, the pipe tells why.
[[noreturn]] void become(const std::vector<std::string>& command, const Environment& environment,
                         const sigset_t& signals, int pipe) {
  for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
  const std::vector<char*> arguments = arguments_of(command);
  sigprocmask(SIG_SETMASK, &signals, nullptr);
  execvp(arguments[0], arguments.data());
  const int error = errno;
  _exit(write(pipe, &error, sizeof error) == sizeof error ? 127 : 126);
}

Error cannot_run(const std::string& program, int error) {
  return {fmt::format("cannot run {}: {}", program, std::strerror(error))};
}

}  // namespace

SignalGate::SignalGate() {
  const sigset_t gated = gated_signals();
  sigprocmask(SIG_BLOCK, &gated, &original_);
  fd_ = signalfd(-1, &gated, SFD_NONBLOCK | SFD_CLOEXEC);
}

SignalGate::~SignalGate() {
  close(fd_);
  sigprocmask(SIG_SETMASK, &original_, nullptr);
}

void SignalGate::forward(pid_t program) {
  signalfd_siginfo info;
  while (read(fd_, &info, sizeof info) == sizeof info) {
    if (info.ssi_signo == SIGCHLD) continue;
    stopped_by_ = static_cast<int>(info.ssi_signo);
    if (info.ssi_code != SI_KERNEL && program != kNobody) kill(program, stopped_by_);
  }
}

bool SignalGate::stopped() {
  forward(kNobody);
  return stopped_by_ != 0;
}

std::vector<char*> arguments_of(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  return arguments;
}

std::optional<std::filesystem::path> find_program(const std::string& name) {
  const auto is_executable = [](const std::filesystem::path& path) { return access(path.c_str(), X_OK) == 0; };
  if (name.find('/') != name.npos)
    return is_executable(name) ? std::optional<std::filesystem::path>(name) : std::nullopt;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (const auto found = std::filesystem::path(folder) / name; is_executable(found)) return found;
  }
  return {};
}

Result<pid_t> start_program(const std::vector<std::string>& command, const Environment& environment,
                            const SignalGate& gate) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return cannot_run(command.front(), errno);
  std::signal(SIGCHLD, SIG_DFL);  // ignored by who started us, the program's end would go unnoticed
  const pid_t program = fork();
  if (program == 0) become(command, environment, gate.original(), ends[1]);
  const int fork_error = errno;
  close(ends[1]);
  int error = 0;
  const bool failed = program > 0 && read(ends[0], &error, sizeof error) == sizeof error;
  close(ends[0]);
  if (program < 0) return cannot_run(command.front(), fork_error);
  if (!failed) return program;
  waitpid(program, nullptr, 0);
  return cannot_run(command.front(), error);
}

bool has_ended(pid_t program, int& status) { return waitpid(program, &status, WNOHANG) == program; }

void die_of(int signal_number) {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  std::signal(signal_number, SIG_DFL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal_number);
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
  raise(signal_number);
  _exit(128 + signal_number);
}

}  // namespace pf::cli
