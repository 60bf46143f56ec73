// An ELF file that is open for reading; what is no ELF file, or not there, has no `elf`.
#pragma once
#include <fcntl.h>
#include <libelf.h>
#include <unistd.h>

#include <string>

namespace pf::binary {

class ElfFile {
 public:
  explicit ElfFile(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    elf_version(EV_CURRENT);
    if (fd_ >= 0) elf_ = elf_begin(fd_, ELF_C_READ_MMAP, nullptr);
  }
  ~ElfFile() {
    elf_end(elf_);
    if (fd_ >= 0) close(fd_);
  }
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  Elf* elf() const { return elf_; }

 private:
  int fd_;
  Elf* elf_ = nullptr;
};

}  // namespace pf::binary
