// dlopen and dlclose: what a closed module's memory has seen ends with it, and its name stays for the reports.
#include <dlfcn.h>
#include <link.h>

#include "runtime/instrumented.h"
#include "runtime/intercept/intercept.h"
#include "runtime/output.h"
#include "runtime/planted.h"

using namespace pf::rt;

namespace {

PF_REAL(dlclose);

struct Range {
  uintptr_t begin, end;
};
struct Modules {
  static constexpr std::size_t kMax = 4096;
  std::size_t count;
  Range ranges[kMax];

  bool has(const Range& r) const {
    for (std::size_t i = 0; i < count; ++i) {
      if (ranges[i].begin == r.begin && ranges[i].end == r.end) return true;
    }
    return false;
  }
};

int add(dl_phdr_info* info, std::size_t, void* argument) {
  auto& modules = *static_cast<Modules*>(argument);
  Range r{~uintptr_t{0}, 0};
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& h = info->dlpi_phdr[i];
    if (h.p_type != PT_LOAD) continue;
    const uintptr_t begin = info->dlpi_addr + h.p_vaddr;
    if (begin < r.begin) r.begin = begin;
    if (begin + h.p_memsz > r.end) r.end = begin + h.p_memsz;
  }
  if (r.begin < r.end && modules.count < Modules::kMax) modules.ranges[modules.count++] = r;
  return 0;
}

}  // namespace

PF_EXPORT int dlclose(void* handle) noexcept {
  Thread* t = current();
  if (t == nullptr) return real_dlclose(handle);
  auto* before = static_cast<Modules*>(map_or_die(2 * sizeof(Modules), "modules"));
  Modules* after = before + 1;
  dl_iterate_phdr(&add, before);
  output::modules();
  planted::before_unloading();
  const int result = real_dlclose(handle);
  planted::after_unloading();
  forget_instrumented();
  library::modules_changed();
  dl_iterate_phdr(&add, after);
  for (std::size_t i = 0; i < before->count; ++i) {
    const Range& r = before->ranges[i];
    if (!after->has(r)) host::begin_block(*t, r.begin, r.end - r.begin);
  }
  sys::unmap(before, 2 * sizeof(Modules));
  return result;
}
