// The program under detection as a child process: started with the runtime's environment, signalled, waited for.
#pragma once
#include <sys/types.h>

#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/result.h"

namespace pf::cli {

using Environment = std::vector<std::pair<std::string, std::string>>;

// While one lives, SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGCHLD come through fd() and harm nobody: the program decides
// what they mean. Made before the program is started, which gets the signals as they were.
class SignalGate {
 public:
  SignalGate();
  ~SignalGate();
  SignalGate(const SignalGate&) = delete;
  SignalGate& operator=(const SignalGate&) = delete;

  int fd() const { return fd_; }
  // Sends on what was sent to us alone. What a terminal sends, its foreground processes all get.
  void forward(pid_t program);
  // Whether somebody wanted an end so far.
  bool stopped();
  // By which signal, as waitpid() tells it of a process; 0 if by none.
  int stopped_by() const { return stopped_by_; }
  // The signals that were blocked before.
  const sigset_t& original() const { return original_; }

 private:
  static constexpr pid_t kNobody = 0;

  int fd_ = -1;
  int stopped_by_ = 0;
  sigset_t original_;
};

// For exec*(): they live as long as the words.
std::vector<char*> arguments_of(const std::vector<std::string>& words);

// As a shell finds it.
std::optional<std::filesystem::path> find_program(const std::string& name);

// Fails if the program cannot be executed.
Result<pid_t> start_program(const std::vector<std::string>& command, const Environment& environment,
                            const SignalGate& gate);

// The program's end as waitpid() tells it, if it has ended.
bool has_ended(pid_t program, int& status);

// Ends this process by the signal that ended the program, with no core file of our own.
[[noreturn]] void die_of(int signal_number);

}  // namespace pf::cli
