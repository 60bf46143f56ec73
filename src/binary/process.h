// Another process as /proc shows it: its mappings, its memory, its processor time.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pf::binary {

struct Mapping {
  uint64_t start = 0, end = 0, offset = 0;
  bool executable = false;
  std::string path;
};
std::vector<Mapping> mappings_of(pid_t process);

// Reads and writes like a debugger does: code that the process itself may only execute, too.
class Memory {
 public:
  explicit Memory(pid_t process);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  std::optional<uint8_t> read(uint64_t address) const;
  bool read(uint64_t address, void* to, std::size_t bytes) const;
  bool write(uint64_t address, uint8_t byte) const { return write(address, &byte, 1); }
  bool write(uint64_t address, const void* from, std::size_t bytes) const;
  int error() const { return error_; }  // why it could not be opened, or 0

 private:
  int fd_, error_;
};

// Of all its threads, in nanoseconds.
uint64_t processor_time(pid_t process);
// Of the calling thread.
uint64_t processor_time();

}  // namespace pf::binary
