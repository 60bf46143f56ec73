// The instructions of an ELF file that access memory, for breakpoints that are planted while the program runs.
//
// To write into the middle of an instruction would break the program, so only code that is surely understood counts: functions as
// .eh_frame bounds them (stripped files have it, too), decoded from their first byte to exactly their last one, with
// every jump inside landing on an instruction. Left out are the stack (rsp, and rbp where it is the frame pointer), thread-local storage,
// string instructions, gathers and prefetches. Accesses with a lock prefix, exchanges, and code that debug information says came from
// std::atomic are marked atomic.
#pragma once
#include <string>
#include <vector>

#include "core/result.h"
#include "watch/sites.h"

namespace pf::binary {

struct Code {
  std::vector<watch::Site> sites;  // by offset
  std::size_t functions = 0;       // that were understood
  std::size_t skipped = 0;         // and that were not
};

Result<Code> read_code(const std::string& path);

}  // namespace pf::binary
