#include "runtime/instrumented.h"

#include <dlfcn.h>
#include <link.h>

#include <cstring>

#include "runtime/dynamic.h"

namespace pf::rt {
namespace {

// What every instrumented file calls first.
bool is_ours(const char* name) { return std::strcmp(name, "__tsan_init") == 0; }

bool calls_us(const link_map& module) {
  const Tables t = tables_of(module.l_ld);
  if (!t.are_usable(module.l_addr)) return false;
  return t.any_relocation([&](const Elf64_Rela&, const Elf64_Sym& symbol) {
    return symbol.st_shndx == SHN_UNDEF && is_ours(t.names + symbol.st_name);
  });
}

struct Range {
  uintptr_t begin, end;
};

// A few modules by where they start; the lowest bit of an entry: instrumented. A collision costs time only.
constexpr unsigned kKnown = 256;
constinit uintptr_t g_known[kKnown] = {};
// The program itself, if it is instrumented: where nearly all calls come from.
constinit Range g_program = {};

using Find = int (*)(void*, dl_find_object*);

Find finder() {
  static constinit Find found = nullptr;
  static constinit bool looked = false;
  if (!__atomic_load_n(&looked, __ATOMIC_ACQUIRE)) {
    __atomic_store_n(&found, reinterpret_cast<Find>(dlsym(RTLD_DEFAULT, "_dl_find_object")), __ATOMIC_RELAXED);
    __atomic_store_n(&looked, true, __ATOMIC_RELEASE);
  }
  return __atomic_load_n(&found, __ATOMIC_RELAXED);
}

bool look_up(uintptr_t pc) {
  const Find find = finder();
  dl_find_object object{};
  if (find == nullptr || find(reinterpret_cast<void*>(pc), &object) != 0) return false;
  const auto begin = reinterpret_cast<uintptr_t>(object.dlfo_map_start);
  uintptr_t& entry = g_known[begin >> 12 & (kKnown - 1)];
  uintptr_t known = __atomic_load_n(&entry, __ATOMIC_RELAXED);
  if ((known & ~uintptr_t{1}) != begin) {
    known = begin | static_cast<uintptr_t>(calls_us(*object.dlfo_link_map));
    __atomic_store_n(&entry, known, __ATOMIC_RELAXED);
  }
  const bool instrumented = (known & 1) != 0;
  if (instrumented && object.dlfo_link_map->l_name[0] == '\0') {  // the program has no name
    __atomic_store_n(&g_program.end, reinterpret_cast<uintptr_t>(object.dlfo_map_end), __ATOMIC_RELAXED);
    __atomic_store_n(&g_program.begin, begin, __ATOMIC_RELEASE);
  }
  return instrumented;
}

}  // namespace

bool find_module(uintptr_t address, Module& module) {
  const Find find = finder();
  dl_find_object object{};
  if (find == nullptr || find(reinterpret_cast<void*>(address), &object) != 0) return false;
  const link_map& map = *object.dlfo_link_map;
  module = {reinterpret_cast<uintptr_t>(object.dlfo_map_start), map.l_addr, map.l_name};
  return true;
}

bool is_instrumented(uintptr_t pc) {
  const uintptr_t begin = __atomic_load_n(&g_program.begin, __ATOMIC_ACQUIRE);
  if (begin != 0 && pc >= begin && pc < __atomic_load_n(&g_program.end, __ATOMIC_RELAXED)) return true;
  return look_up(pc);
}

bool is_any_instrumented() {
  const auto* debug = static_cast<const r_debug*>(dlsym(RTLD_DEFAULT, "_r_debug"));
  if (debug == nullptr) return true;
  for (const link_map* module = debug->r_map; module != nullptr; module = module->l_next) {
    if (calls_us(*module)) return true;
  }
  return false;
}

void forget_instrumented() {
  for (uintptr_t& entry : g_known) __atomic_store_n(&entry, 0, __ATOMIC_RELAXED);
}

}  // namespace pf::rt
