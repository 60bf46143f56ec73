// Names of what is in the program's files that are the same in every run, wherever it is loaded: the file's name and the offset in
// it, as one hash. Variables are known by the symbol tables of the files.
#pragma once
#include <cstdint>

namespace pf::rt::globals {

// Of code, or of anything in a module; 0 for what is in none.
uint64_t name_of(uintptr_t address);

struct Global {
  uint64_t name;
  uintptr_t start, size;
  bool has_symbol;
  bool is_nothing;  // has none, and the file's table of symbols is whole: no variable
};
// The last variable that has one of the eight bytes, which are in a module. Without a symbol, the page.
bool find(uintptr_t granule, Global& global);

}  // namespace pf::rt::globals
