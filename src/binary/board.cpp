#include "binary/board.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace pf::binary {

Result<BoardFile> BoardFile::make(const std::string& path) {
  const auto failed = [&] { return Error{fmt::format("cannot make {}: {}", path, std::strerror(errno))}; };
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return failed();
  const bool sized = ftruncate(fd, watch::kBoardBytes) == 0;
  void* memory = sized ? mmap(nullptr, watch::kBoardBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
  const Error error = failed();
  close(fd);
  if (memory == MAP_FAILED) return error;
  BoardFile file(memory);
  file.board().magic = watch::Board::kMagic;
  file.board().owner = static_cast<uint64_t>(getpid());
  return file;
}

BoardFile::BoardFile(BoardFile&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)) {}

BoardFile::~BoardFile() {
  if (memory_ != nullptr) munmap(memory_, watch::kBoardBytes);
}

}  // namespace pf::binary
