#include "trace/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

namespace pf {
namespace {

// What a signal handler may have to remove. The string belongs to an OutputFile, which withdraws it before it goes.
std::atomic<const char*> g_partial = nullptr;

bool is_special(const std::string& path) {
  struct stat info{};
  return path == "-" || (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode));
}

}  // namespace

void remove_partial_output() {
  if (const char* path = g_partial.exchange(nullptr)) unlink(path);
}

Result<OutputFile> OutputFile::create(const std::string& path) {
  if (path == "-") return OutputFile(path, nullptr, dup(STDOUT_FILENO));
  auto partial = is_special(path) ? nullptr : std::make_unique<const std::string>(path + ".partial");
  if (partial) g_partial = partial->c_str();  // before there is a file: a signal may come as soon as there is
  const int fd = open((partial ? *partial : path).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd >= 0) return OutputFile(path, std::move(partial), fd);
  if (partial) g_partial = nullptr;
  return Error{"cannot write " + path + ": " + std::strerror(errno)};
}

OutputFile::OutputFile(std::string path, std::unique_ptr<const std::string> partial, int fd)
    : path_(std::move(path)), partial_(std::move(partial)), fd_(fd) {}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)), partial_(std::move(other.partial_)), fd_(std::exchange(other.fd_, -1)),
      offset_(other.offset_) {}

OutputFile::~OutputFile() {
  if (fd_ >= 0) close(fd_);
  if (partial_) remove_partial_output();
}

Error OutputFile::failure(const char* what) const {
  return {std::string("cannot ") + what + " " + path_ + " at offset " + std::to_string(offset_) + ": " +
          std::strerror(errno)};
}

Status OutputFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failure("write");
    offset_ += static_cast<uint64_t>(n);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return Done{};
}

Status OutputFile::commit() {
  const int fd = fd_;
  fd_ = -1;
  if (close(fd) != 0) return failure("finish");
  if (!partial_) return Done{};
  if (rename(partial_->c_str(), path_.c_str()) != 0) return failure("rename to");
  g_partial = nullptr;
  partial_.reset();
  return Done{};
}

}  // namespace pf
