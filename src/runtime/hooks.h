// What the program asked to be told or spared: hooks it defines, addresses it declared benign.
#pragma once
#include "runtime/thread.h"

namespace pf::rt {

bool is_benign(uintptr_t address);
void add_benign(uintptr_t address, uintptr_t size);

// What the hook may ask about a report.
struct ReportForProgram {
  uintptr_t address;
  depot::Id now, prior;  // stacks
  uint32_t prior_thread;
  uint32_t now_size, prior_size;
  bool now_writes, prior_writes, now_atomic, prior_atomic;
};
// Calls __tsan_on_report, if the program has one; meanwhile the report can be asked for with __tsan_get_report_*.
void tell_program(Thread& t, const ReportForProgram& report);

const char* default_options();  // the program's own, "" if it has none
void tell_start();              // suppressions of the program go to the reader; __tsan_on_initialize
int tell_end(bool failed);      // __tsan_on_finalize: whether the process failed, all told

// What is at an address, in the words of tsan_interface.h.
struct Memory {
  const char* type;  // "heap", "stack", "tls" or "global"
  uintptr_t start, size;
  uint32_t thread;
  depot::Id allocated_at;
};
Memory memory_at(uintptr_t address);

}  // namespace pf::rt
