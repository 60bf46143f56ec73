// The program's calls of what we export, when we come too late to be linked in first: the loader has bound them to libc's functions, so
// their entries in the modules' tables of addresses are written over, and put back when we go.
//
// Modules that are loaded later call libc itself until to_us() is called again: what they release meanwhile is not seen, which makes more
// suspects, never a race that is none.
#pragma once

namespace pf::rt::rebind {

// Whose place our functions take. First of all: they call them.
void find();
// All that is loaded by now.
void to_us();
// As they were.
void back();

}  // namespace pf::rt::rebind
