#include "runtime/hooks.h"

namespace pf::rt {
namespace {

struct Range {
  uintptr_t begin, end;
  Range* next;
};
constinit Range* g_benign = nullptr;  // only grows
constinit SpinLock g_lock;
constinit Arena g_arena;

}  // namespace

bool is_benign(uintptr_t address) {
  for (const Range* r = __atomic_load_n(&g_benign, __ATOMIC_ACQUIRE); r != nullptr; r = r->next) {
    if (address >= r->begin && address < r->end) return true;
  }
  return false;
}

void add_benign(uintptr_t address, uintptr_t size) {
  const Guard guard(g_lock);
  auto* fresh = new (g_arena.allocate(sizeof(Range))) Range{address, address + size, g_benign};
  __atomic_store_n(&g_benign, fresh, __ATOMIC_RELEASE);
}

}  // namespace pf::rt
