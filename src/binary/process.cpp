#include "binary/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <fstream>
#include <sstream>

namespace pf::binary {

std::vector<Mapping> mappings_of(pid_t process) {
  std::vector<Mapping> mappings;
  std::ifstream maps(fmt::format("/proc/{}/maps", process));
  for (std::string line; std::getline(maps, line);) {
    Mapping m;
    char dash = 0;
    std::string rights, device, inode;
    std::istringstream fields(line);
    if (!(fields >> std::hex >> m.start >> dash >> m.end >> rights >> m.offset >> device >> inode)) continue;
    m.executable = rights.find('x') != std::string::npos;
    std::getline(fields >> std::ws, m.path);
    mappings.push_back(std::move(m));
  }
  return mappings;
}

Memory::Memory(pid_t process)
    : fd_(open(fmt::format("/proc/{}/mem", process).c_str(), O_RDWR | O_CLOEXEC)), error_(fd_ < 0 ? errno : 0) {}

Memory::~Memory() {
  if (fd_ >= 0) close(fd_);
}

std::optional<uint8_t> Memory::read(uint64_t address) const {
  uint8_t byte = 0;
  return read(address, &byte, 1) ? std::optional(byte) : std::nullopt;
}

bool Memory::read(uint64_t address, void* to, std::size_t bytes) const {
  return pread(fd_, to, bytes, static_cast<off_t>(address)) == static_cast<ssize_t>(bytes);
}

bool Memory::write(uint64_t address, const void* from, std::size_t bytes) const {
  return pwrite(fd_, from, bytes, static_cast<off_t>(address)) == static_cast<ssize_t>(bytes);
}

namespace {

uint64_t time_of(clockid_t clock) {
  timespec spent{};
  if (clock_gettime(clock, &spent) != 0) return 0;
  return static_cast<uint64_t>(spent.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(spent.tv_nsec);
}

}  // namespace

uint64_t processor_time(pid_t process) {
  clockid_t clock{};
  return clock_getcpuclockid(process, &clock) != 0 ? 0 : time_of(clock);
}

uint64_t processor_time() { return time_of(CLOCK_THREAD_CPUTIME_ID); }

}  // namespace pf::binary
