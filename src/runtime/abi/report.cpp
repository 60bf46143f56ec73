// Hooks that a program may define, and the report as __tsan_on_report may ask for it.
#include <cstddef>

#include "runtime/abi/abi.h"
#include "runtime/hooks.h"
#include "runtime/options.h"
#include "runtime/output.h"
#include "runtime/registry.h"

using namespace pf::rt;

// Weak, so that a program may define them and need not; linkers then let our library see the program's.
extern "C" {
[[gnu::weak]] void __tsan_on_report(void* report);
[[gnu::weak]] int __tsan_on_finalize(int failed);
[[gnu::weak]] void __tsan_on_initialize();
[[gnu::weak]] const char* __tsan_default_options();
[[gnu::weak]] const char* __tsan_default_suppressions();
}

namespace {

// The report being told, for the thread that tells it.
struct Report {
  uintptr_t address;
  depot::Id stacks[2];  // the access that found the race, then the earlier one
  uint32_t threads[2];
  uint32_t sizes[2];
  bool writes[2], atomics[2];
};
[[gnu::tls_model("initial-exec")]] constinit thread_local Report* g_current = nullptr;

void copy_stack(depot::Id stack, void** trace, unsigned long size) {
  for (unsigned long i = 0; i < size; ++i) {
    trace[i] = stack == 0 ? nullptr : reinterpret_cast<void*>(depot::at(stack).key);
    if (stack != 0) stack = depot::at(stack).below;
  }
}

}  // namespace

namespace pf::rt {

void tell_program(Thread& t, const ReportForProgram& r) {
  if (__tsan_on_report == nullptr) return;
  Report report{r.address,
                {r.now, r.prior},
                {t.info->id, r.prior_thread},
                {r.now_size, r.prior_size},
                {r.now_writes, r.prior_writes},
                {r.now_atomic, r.prior_atomic}};
  g_current = &report;
  const uint32_t busy = t.busy;
  t.busy = 0;  // the hook is the program's code
  __tsan_on_report(&report);
  t.busy = busy;
  g_current = nullptr;
}

const char* default_options() { return __tsan_default_options != nullptr ? __tsan_default_options() : ""; }

void tell_start() {
  if (__tsan_default_suppressions != nullptr) {
    Text line;
    line.put("{\"raw\":\"suppressions\",\"text\":").quoted(__tsan_default_suppressions()).put('}');
    output::line(line);
  }
  if (__tsan_default_options != nullptr) {
    Text line;
    line.put("{\"raw\":\"options\",\"text\":").quoted(__tsan_default_options()).put('}');
    output::line(line);
  }
  if (__tsan_on_initialize != nullptr) __tsan_on_initialize();
}

int tell_end(bool failed) {
  const int code = failed ? 1 : 0;
  return __tsan_on_finalize != nullptr ? __tsan_on_finalize(code) : code;
}

}  // namespace pf::rt

PF_EXPORT void* __tsan_get_current_report() { return g_current; }

PF_EXPORT int __tsan_get_report_data(void*, const char** description, int* count, int* stacks, int* accesses,
                                     int* locations, int* mutexes, int* threads, int* unique_threads, void** sleep,
                                     unsigned long sleep_size) {
  *description = "data-race";
  *count = 1;
  *stacks = 0;
  *accesses = 2;
  *locations = 1;
  *mutexes = 0;
  *threads = 2;
  *unique_threads = 2;
  for (unsigned long i = 0; i < sleep_size; ++i) sleep[i] = nullptr;
  return 1;
}
PF_EXPORT int __tsan_get_report_tag(void*, unsigned long* tag) {
  *tag = 0;
  return 0;
}
PF_EXPORT int __tsan_get_report_mop(void* report, unsigned long index, int* thread, void** address, int* size,
                                    int* is_write, int* is_atomic, void** trace, unsigned long trace_size) {
  if (index > 1) return 0;
  const auto& r = *static_cast<const Report*>(report);
  *thread = static_cast<int>(r.threads[index]);
  *address = reinterpret_cast<void*>(r.address);
  *size = static_cast<int>(r.sizes[index]);
  *is_write = r.writes[index] ? 1 : 0;
  *is_atomic = r.atomics[index] ? 1 : 0;
  copy_stack(r.stacks[index], trace, trace_size);
  return 1;
}
PF_EXPORT int __tsan_get_report_loc(void* report, unsigned long index, const char** type, void** address,
                                    unsigned long* start, unsigned long* size, int* thread, int* fd, int* suppressable,
                                    void** trace, unsigned long trace_size) {
  if (index > 0) return 0;
  const auto& r = *static_cast<const Report*>(report);
  const Memory memory = memory_at(r.address);
  *type = memory.type;
  *address = reinterpret_cast<void*>(r.address);
  *start = memory.start;
  *size = memory.size;
  *thread = static_cast<int>(memory.thread);
  *fd = 0;
  *suppressable = 0;
  copy_stack(memory.allocated_at, trace, trace_size);
  return 1;
}
PF_EXPORT int __tsan_get_report_loc_object_type(void*, unsigned long, const char** type) {
  *type = "";
  return 1;
}
PF_EXPORT int __tsan_get_report_stack(void*, unsigned long, void**, unsigned long) { return 0; }
PF_EXPORT int __tsan_get_report_mutex(void*, unsigned long, uint64_t*, void**, int*, void**, unsigned long) {
  return 0;
}
PF_EXPORT int __tsan_get_report_thread(void* report, unsigned long index, int* id, uint64_t* os_id, int* running,
                                       const char** name, int* parent, void** trace, unsigned long trace_size) {
  if (index > 1) return 0;
  const ThreadInfo& info = registry::info(static_cast<const Report*>(report)->threads[index]);
  *id = static_cast<int>(info.id);
  *os_id = static_cast<uint64_t>(info.os_id);
  *running = info.ended ? 0 : 1;
  *name = info.name;
  *parent = static_cast<int>(info.parent);
  copy_stack(info.created_at, trace, trace_size);
  return 1;
}
PF_EXPORT int __tsan_get_report_unique_tid(void* report, unsigned long index, int* id) {
  if (index > 1) return 0;
  *id = static_cast<int>(static_cast<const Report*>(report)->threads[index]);
  return 1;
}

PF_EXPORT const char* __tsan_locate_address(uintptr_t address, char* name, std::size_t name_size, uintptr_t* start,
                                            std::size_t* size) {
  const Memory memory = memory_at(address);
  if (name_size != 0) name[0] = '\0';
  *start = memory.start;
  *size = memory.size;
  return memory.type;
}
PF_EXPORT int __tsan_get_alloc_stack(uintptr_t address, uintptr_t* trace, std::size_t size, int* thread,
                                     uint64_t* os_id) {
  const Memory memory = memory_at(address);
  if (memory.allocated_at == 0) return 0;
  *thread = static_cast<int>(memory.thread);
  *os_id = static_cast<uint64_t>(registry::info(memory.thread).os_id);
  copy_stack(memory.allocated_at, reinterpret_cast<void**>(trace), size);
  int n = 0;
  while (static_cast<std::size_t>(n) < size && trace[n] != 0) ++n;
  return n;
}
