// Which code of a file came from std::atomic and its like, by debug information: on x86-64 a relaxed, acquire or release access is an ordinary
// mov, so the instruction does not tell.
#pragma once
#include <elfutils/libdw.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace pf::binary {

// Sorted, disjoint ranges of addresses as the file has them.
class Ranges {
 public:
  void add(uint64_t begin, uint64_t end);
  void sort();
  bool contains(uint64_t address) const;

 private:
  std::vector<std::pair<uint64_t, uint64_t>> ranges_;
};

struct DebugInfo {
  Ranges known;    // code of units with debug information
  Ranges atomics;  // functions that are atomic operations, inlined or not
};

// `dwarf` may be null: nothing is known.
DebugInfo read_debug_info(Dwarf* dwarf);

}  // namespace pf::binary
