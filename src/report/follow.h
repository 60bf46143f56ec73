// Follows the raw files of a run directory while processes write them: whole lines, each file in its order.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace pf::report {

class RunFollower {
 public:
  using Take = std::function<void(const std::string& file, std::string_view line)>;

  explicit RunFollower(std::string directory);
  ~RunFollower();
  RunFollower(const RunFollower&) = delete;
  RunFollower& operator=(const RunFollower&) = delete;

  // Readable when there may be something new; -1 where the kernel has no inotify left: ask now and then.
  int fd() const { return fd_; }
  // Hands over every line that is whole by now. A line without its end waits for the rest of it.
  void drain(const Take& take);
  bool any() const { return !tails_.empty(); }

 private:
  struct Tail {
    uint64_t offset = 0;
    std::string partial;
  };
  void read_tail(const std::string& name, Tail& tail, const Take& take);

  std::string directory_;
  int fd_ = -1;
  std::map<std::string, Tail> tails_;
};

}  // namespace pf::report
