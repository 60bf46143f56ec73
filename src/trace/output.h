// A file being written. The name appears only when the file is complete: until then the bytes are in NAME.partial,
// which a failure, a Ctrl-C that unwinds, or an unfinished writer removes. Devices and pipes are written directly.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/result.h"

namespace pf {

class OutputFile {
 public:
  // "-" is standard output.
  static Result<OutputFile> create(const std::string& path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  Status write(std::string_view bytes);
  const std::string& path() const { return path_; }
  uint64_t offset() const { return offset_; }
  // Makes the file appear under its name.
  Status commit();

 private:
  OutputFile(std::string path, std::unique_ptr<const std::string> partial, int fd);
  Error failure(const char* what) const;

  std::string path_;
  std::unique_ptr<const std::string> partial_;  // none when written directly; stays in place for signal handlers
  int fd_;
  uint64_t offset_ = 0;
};

// Removes the .partial file being written, from a signal handler or an atexit function.
void remove_partial_output();

}  // namespace pf
