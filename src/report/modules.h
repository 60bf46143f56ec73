// What is mapped where in one process: from its addresses to those of the files.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "report/raw.h"
#include "report/symbolize.h"

namespace pf::report {

class AddressSpace {
 public:
  struct Place {
    std::string path;
    uint64_t address;  // in the file's own numbering
  };

  explicit AddressSpace(Symbolizer& symbolizer) : symbolizer_(symbolizer) {}

  // Replaces what was mapped there before.
  void map(const RawModule& module);
  std::optional<Place> find(uint64_t address);

 private:
  std::optional<uint64_t> bias(const RawModule& m);
  std::optional<Place> find_beyond(uint64_t address);

  Symbolizer& symbolizer_;
  std::map<uint64_t, RawModule> mappings_;  // by start; they do not overlap
};

}  // namespace pf::report
