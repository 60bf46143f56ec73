// Where the functions of an ELF file begin and end, by its .eh_frame: there in stripped files, too, and exact, since exceptions rely on it.
#pragma once
#include <gelf.h>

#include <cstdint>
#include <vector>

namespace pf::binary {

struct Function {
  uint64_t begin, end;  // addresses as the file has them
};

// By address; without those that overlap another one.
std::vector<Function> functions_of(Elf* elf);

}  // namespace pf::binary
