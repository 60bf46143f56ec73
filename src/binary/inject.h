// Calls functions inside a process that runs, as a debugger does: one of its threads is stopped, made to call, and goes on where it was, with
// all its registers, its signal mask, and the system call that it was in. No code is written: the function returns to
// address 0, which stops the thread again. The other threads run on.
//
// What is called may allocate and load libraries, so the thread must not hold what those need: it is one that waits in a system call that the C
// library makes without its own locks, or one that is in the program's own code.
#pragma once
#include <sys/types.h>
#include <sys/user.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "binary/process.h"
#include "core/result.h"

namespace pf::binary {

// Why the process cannot be sampled, or that it can: it is ours to trace, has a C library that loads others, and can take breakpoints.
Status check_attachable(pid_t process);

// The address of a function that glibc exports in the process.
Result<uint64_t> find_in_libc(pid_t process, const std::string& name);
// Where a function that the file exports is, from where the file is loaded.
Result<uint64_t> find_in_file(const std::string& path, const std::string& name);

// How many of its threads have this signal waiting for them.
std::size_t count_pending(pid_t process, int signal_number);

class BorrowedThread {
 public:
  // Waits a while for a thread that is fit for it.
  static Result<std::unique_ptr<BorrowedThread>> of(pid_t process);
  ~BorrowedThread();
  BorrowedThread(const BorrowedThread&) = delete;
  BorrowedThread& operator=(const BorrowedThread&) = delete;

  // function(text, number), with a text of its own on the thread's stack; what it returns.
  Result<uint64_t> call(uint64_t function, const std::string& text = {}, uint64_t number = 0);
  // A number or a text in the process's memory.
  std::optional<uint64_t> number_at(uint64_t address) const;
  std::string text_at(uint64_t address) const;

 private:
  explicit BorrowedThread(pid_t process, pid_t thread) : process_(process), thread_(thread), memory_(process) {}
  bool stop();
  bool save(const std::vector<Mapping>& mappings);
  Result<uint64_t> wait_for_return();

  pid_t process_, thread_;
  Memory memory_;
  bool is_stopped_ = false, is_saved_ = false;
  user_regs_struct registers_{};
  std::vector<char> floating_point_;
  uint64_t signal_mask_ = 0;
  std::vector<int> kept_;  // signals that could not be left to wait
};

}  // namespace pf::binary
