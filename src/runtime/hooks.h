// What the program asked to be told or spared: hooks it defines, addresses it declared benign.
#pragma once
#include "runtime/thread.h"

namespace pf::rt {

bool is_benign(uintptr_t address);
void add_benign(uintptr_t address, uintptr_t size);

// Calls __tsan_on_report, if the program has one, while the report can be asked for with __tsan_get_report_*.
void tell_program(Thread& t, uintptr_t address, depot::Id now, depot::Id prior);

}  // namespace pf::rt
