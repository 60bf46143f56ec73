#include "report/follow.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <filesystem>

namespace pf::report {

namespace fs = std::filesystem;

RunFollower::RunFollower(std::string directory) : directory_(std::move(directory)) {
  fd_ = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (fd_ >= 0 && inotify_add_watch(fd_, directory_.c_str(), IN_CREATE | IN_MODIFY | IN_MOVED_TO) < 0) {
    close(fd_);
    fd_ = -1;
  }
}

RunFollower::~RunFollower() {
  if (fd_ >= 0) close(fd_);
}

// Which file changed does not matter: there are few, and all are looked at.
void RunFollower::drain(const Take& take) {
  std::array<char, 4096> events;
  while (fd_ >= 0 && read(fd_, events.data(), events.size()) > 0) continue;
  std::error_code gone;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory_, gone)) {
    if (entry.path().extension() == ".raw") tails_.try_emplace(entry.path().filename());
  }
  for (auto& [name, tail] : tails_) read_tail(name, tail, take);
}

void RunFollower::read_tail(const std::string& name, Tail& tail, const Take& take) {
  const int file = open((directory_ + "/" + name).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return;
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t n = pread(file, buffer.data(), buffer.size(), static_cast<off_t>(tail.offset));
    if (n <= 0) break;
    tail.offset += static_cast<uint64_t>(n);
    tail.partial.append(buffer.data(), static_cast<std::size_t>(n));
    std::size_t begin = 0;
    for (std::size_t end; (end = tail.partial.find('\n', begin)) != std::string::npos; begin = end + 1) {
      take(name, std::string_view(tail.partial).substr(begin, end - begin));
    }
    tail.partial.erase(0, begin);
  }
  close(file);
}

}  // namespace pf::report
