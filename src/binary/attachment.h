// The runtime inside a process that was not started with it: loaded, told to begin, and, in the end, told to leave.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "binary/board.h"
#include "core/result.h"

namespace pf::binary {

class Attachment {
 public:
  // `library` is a path that the process can open, `environment` a file of NAME=value, each with a zero byte behind it.
  static Result<Attachment> make(pid_t process, const std::string& library, const std::string& environment);

  // Not after an exec: then it is another program.
  bool is_there() const;
  // What the process has loaded since calls the runtime, too.
  void follow();
  // After the planter has withdrawn: the process is as it was before, but for a library that does nothing.
  Status end(const watch::Board& board) const;

 private:
  using Modules = std::set<std::pair<uint64_t, std::string>>;  // code of files: where, and which

  Attachment(pid_t process, std::string library, uint64_t loaded_at)
      : process_(process), library_(std::move(library)), loaded_at_(loaded_at), modules_(modules_of(process)) {}
  static Modules modules_of(pid_t process);
  Status call(const char* function) const;

  pid_t process_;
  std::string library_;
  uint64_t loaded_at_;
  Modules modules_;  // that call the runtime
};

}  // namespace pf::binary
