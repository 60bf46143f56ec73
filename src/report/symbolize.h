// From addresses in ELF files to names: functions with their source lines, inlined ones too, by DWARF; else by the symbol
// table; else module and offset. Addresses are those of the file itself, so that one symbolizer serves all processes.
// Results are kept. Not thread-safe.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "report/race.h"

namespace pf::report {

struct GlobalSymbol {
  std::string name;  // demangled
  uint64_t address = 0, size = 0;
};

// A part of the file as it is mapped (PT_LOAD).
struct Segment {
  uint64_t offset = 0, address = 0, file_size = 0, memory_size = 0;
};

struct CodeRange {
  uint64_t begin = 0, end = 0;  // one past it
};

class Symbolizer {
 public:
  using Warn = std::function<void(const std::string&)>;

  // Says once per file when there are no names for want of it.
  explicit Symbolizer(Warn warn);
  ~Symbolizer();
  Symbolizer(const Symbolizer&) = delete;
  Symbolizer& operator=(const Symbolizer&) = delete;

  // Innermost first: what was inlined at that address, then the function that holds it. Never empty.
  const std::vector<Frame>& frames(const std::string& path, uint64_t address);
  // The data symbol that holds the address.
  std::optional<GlobalSymbol> global(const std::string& path, uint64_t address);
  // The code of a source line, and of the column in it if it is known (not 0), wherever it was inlined. A file name is as good as its
  // end.
  std::vector<CodeRange> code_of(const std::string& path, const std::string& file, uint32_t line, uint32_t column);
  // Empty if the file cannot be read.
  const std::vector<Segment>& segments(const std::string& path);

  // Left away at the start of file names.
  void strip_path_prefix(std::string prefix) { prefix_ = std::move(prefix); }

 private:
  class File;
  File& open(const std::string& path);

  Warn warn_;
  std::string prefix_;
  std::map<std::string, std::unique_ptr<File>, std::less<>> files_;
  std::set<std::string, std::less<>> warned_;
};

// As c++filt; the text itself if it is no mangled name.
std::string demangle(const char* name);
// "Bank::deposit" of "void Bank::deposit<int>(int) const": no parameters, no return type; template arguments stay.
std::string without_parameters(std::string_view function);

}  // namespace pf::report
