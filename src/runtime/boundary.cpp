#include "runtime/boundary.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include <cstring>

#include "core/hash.h"
#include "runtime/instrumented.h"
#include "runtime/linkage.h"
#include "runtime/options.h"
#include "runtime/spin.h"

// In: r11, the Function. All that may hold an argument is kept, as is the static chain (r10); the upper halves of wide vector
// registers stay as they are, for nothing here is compiled to touch them.
__asm__(R"(
  .pushsection .text
  .p2align 4
  .type pf_library_call, @function
  .hidden pf_library_call
pf_library_call:
  .cfi_startproc
  push %rax
  push %rdi
  push %rsi
  push %rdx
  push %rcx
  push %r8
  push %r9
  push %r10
  push %r11
  sub $128, %rsp
  .cfi_def_cfa_offset 208
  movups %xmm0, (%rsp)
  movups %xmm1, 16(%rsp)
  movups %xmm2, 32(%rsp)
  movups %xmm3, 48(%rsp)
  movups %xmm4, 64(%rsp)
  movups %xmm5, 80(%rsp)
  movups %xmm6, 96(%rsp)
  movups %xmm7, 112(%rsp)
  mov %r11, %rdi
  lea 128(%rsp), %rsi
  call pf_enter_library
  movups (%rsp), %xmm0
  movups 16(%rsp), %xmm1
  movups 32(%rsp), %xmm2
  movups 48(%rsp), %xmm3
  movups 64(%rsp), %xmm4
  movups 80(%rsp), %xmm5
  movups 96(%rsp), %xmm6
  movups 112(%rsp), %xmm7
  add $128, %rsp
  pop %r11
  pop %r10
  pop %r9
  pop %r8
  pop %rcx
  pop %rdx
  pop %rsi
  pop %rdi
  pop %rax
  .cfi_def_cfa_offset 8
  jmp *(%r11)
  .cfi_endproc
  .size pf_library_call, . - pf_library_call
  .popsection
)");
extern "C" [[gnu::visibility("hidden")]] void pf_library_call();

namespace pf::rt::boundary {
namespace {

constinit SpinLock g_lock;  // one install() at a time
constinit Arena g_arena;    // guarded by it; nothing in it is ever freed

// --- modules ---

struct Modules {
  uint32_t count;
  Module* modules;
};
constinit const Modules* g_modules = nullptr;

bool starts_with(const char* name, const char* start) { return std::strncmp(name, start, std::strlen(start)) == 0; }
template <std::size_t kCount>
bool starts_with_any(const char* name, const char* const (&starts)[kCount]) {
  for (const char* start : starts) {
    if (starts_with(name, start)) return true;
  }
  return false;
}

constexpr const char* kKnown[] = {"libc.so",  "libm.so",  "libmvec.so", "ld-linux",       "libpthread.so",
                                  "libdl.so", "librt.so", "libgcc_s",   "libresolv.",     "libutil.",
                                  "libanl.",  "libnss_",  "linux-vdso", "libphotofinish", "libtsan."};
constexpr const char* kStateless[] = {"libstdc++.", "libc++.", "libc++abi."};

const char* file_name(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

Kind kind_of(const LinkedModule& m) {
  const char* name = file_name(m.path);
  const auto is_in = [&](const Patterns& p) { return matches(name, p.text, p.size); };
  if (m.has(reinterpret_cast<uintptr_t>(&g_modules)) || starts_with_any(name, kKnown)) return Kind::Known;
  if (is_instrumented(m.begin)) return Kind::Instrumented;
  if (*m.path == '\0' || is_in(g_options.known_libraries)) return Kind::Known;
  return starts_with_any(name, kStateless) || is_in(g_options.stateless_libraries) ? Kind::Stateless : Kind::Stateful;
}

const char* own_name(const LinkedModule& m) {
  for (const Elf64_Dyn* d = m.dynamic; d->d_tag != DT_NULL; ++d) {
    if (d->d_tag == DT_SONAME) return m.tables.names + d->d_un.d_val;
  }
  return file_name(m.path);
}
bool needs(const LinkedModule& m, const char* name) {
  for (const Elf64_Dyn* d = m.dynamic; d->d_tag != DT_NULL; ++d) {
    if (d->d_tag == DT_NEEDED && std::strcmp(m.tables.names + d->d_un.d_val, name) == 0) return true;
  }
  return false;
}

constexpr uint32_t kMaxModules = 1024;
struct Found {
  uint32_t count;
  LinkedModule modules[kMaxModules];
};

// Those that it needs, that they need, and so on.
void note_reached(Module& m, const Found& found, uint32_t index, Module* all) {
  m.reached = static_cast<const Module**>(g_arena.allocate(found.count * sizeof(Module*)));
  uint32_t order[kMaxModules];
  bool seen[kMaxModules] = {};
  uint32_t count = 0;
  seen[index] = true;
  order[count++] = index;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t now = order[i];
    if (all[now].kind == Kind::Stateful) m.reached[m.reached_count++] = &all[now];
    if (all[now].kind == Kind::Known || all[now].kind == Kind::Instrumented) continue;
    for (uint32_t other = 0; other < found.count; ++other) {
      if (seen[other] || !needs(found.modules[now], own_name(found.modules[other]))) continue;
      seen[other] = true;
      order[count++] = other;
    }
  }
}

// What the loader has made read-only orders nothing.
uintptr_t first_variable(const LinkedModule& m) {
  return m.read_only_end > m.data_begin && m.read_only_end < m.data_end ? m.read_only_end : m.data_begin;
}

void look_at_modules(const Found& found) {
  auto* fresh = new (g_arena.allocate(sizeof(Modules))) Modules{found.count, nullptr};
  fresh->modules = static_cast<Module*>(g_arena.allocate(found.count * sizeof(Module)));
  for (uint32_t i = 0; i < found.count; ++i) {
    const LinkedModule& m = found.modules[i];
    fresh->modules[i] = {m.begin, m.end,  first_variable(m), m.data_end, m.text_begin, m.text_end, kind_of(m),
                         0,       nullptr};
  }
  for (uint32_t i = 0; i < found.count; ++i) {
    const Kind kind = fresh->modules[i].kind;
    if (kind == Kind::Stateful || kind == Kind::Stateless) note_reached(fresh->modules[i], found, i, fresh->modules);
  }
  __atomic_store_n(&g_modules, fresh, __ATOMIC_RELEASE);
}

// --- functions and their trampolines ---

constexpr uint32_t kMaxFunctions = 1U << 15;
struct Functions {
  uint32_t count, with_code;
  Function functions[kMaxFunctions];
  uint32_t by_target[2 * kMaxFunctions];  // index + 1, at the place of the hash or after it
};
constinit Functions* g_functions = nullptr;

Function* function_at(uintptr_t target, const Module* owner, bool loads_modules = false) {
  Functions& all = *g_functions;
  auto i = static_cast<uint32_t>(hash_with(0, target));
  for (;; ++i) {
    uint32_t& entry = all.by_target[i & (2 * kMaxFunctions - 1)];
    if (entry != 0 && all.functions[entry - 1].target == target) {
      all.functions[entry - 1].owner = owner;
      return &all.functions[entry - 1];
    }
    if (entry != 0) continue;
    if (all.count == kMaxFunctions) return nullptr;
    entry = ++all.count;
    Function& f = all.functions[entry - 1];
    f = {target, owner, 0, loads_modules};
    return &f;
  }
}

//   mov $function, %r11      49 BB imm64
//   jmp *start               FF 25 distance: the start of the page has the address of pf_library_call
constexpr uintptr_t kTrampoline = 16;

void write_trampoline(char* at, const Function* f, const char* start) {
  const auto function = reinterpret_cast<uintptr_t>(f);
  const auto distance = static_cast<int32_t>(start - (at + kTrampoline));
  at[0] = 0x49;
  at[1] = static_cast<char>(0xBB);
  __builtin_memcpy(at + 2, &function, sizeof function);
  at[10] = static_cast<char>(0xFF);
  at[11] = 0x25;
  __builtin_memcpy(at + 12, &distance, sizeof distance);
}

// Pages of their own each time: what is there may be running.
bool make_trampolines() {
  Functions& all = *g_functions;
  if (all.with_code == all.count) return true;
  const uintptr_t bytes = (all.count - all.with_code + 1) * kTrampoline;
  auto* code = static_cast<char*>(map_or_die(bytes, "calls of libraries"));
  const auto stub = reinterpret_cast<uintptr_t>(&pf_library_call);
  __builtin_memcpy(code, &stub, sizeof stub);
  for (char* at = code; all.with_code < all.count; ++all.with_code) {
    at += kTrampoline;
    Function& f = all.functions[all.with_code];
    write_trampoline(at, &f, code);
    f.trampoline = reinterpret_cast<uintptr_t>(at);
  }
  return !sys::failed(sys::call_on(SYS_mprotect, code, static_cast<long>(bytes), PROT_READ | PROT_EXEC));
}

// What a call through the slot comes to. A slot that leads back into its own module is not bound yet.
uintptr_t target_of(const LinkedModule& m, const uintptr_t* slot, const Elf64_Sym& symbol) {
  const uintptr_t value = __atomic_load_n(slot, __ATOMIC_RELAXED);
  if (!m.has(value)) return value;
  return symbol.st_shndx == SHN_UNDEF
             ? reinterpret_cast<uintptr_t>(dlsym(RTLD_DEFAULT, m.tables.names + symbol.st_name))
             : 0;
}

// Of the C++ library, what is called most and orders nothing: strings (that are not shared), reading and writing by streams, the nodes of
// containers, exceptions and threads, which are intercepted.
constexpr char kOrderNothing[] =
    "_ZNSt7__cxx1112basic_string*/_ZNKSt7__cxx1112basic_string*/_ZNSolsE*/_ZNSirsE*/_ZNSo9_M_insert*/"
    "_ZNSi10_M_extract*/"
    "_ZNSo3put*/_ZNSo5write*/_ZNSo5flush*/_ZNSi3get*/_ZNSi4read*/_ZStls*/_ZStrs*/_ZSt16__ostream_insert*/_ZSt4endl*/"
    "_ZSt5flush*/_ZSt7getline*/_ZNKSt7__cxx11*basic_*string*3str*/_ZSt*_Rb_tree_*/_ZNSt8__detail15_List_node_base*/"
    "_ZNKSt8__detail20_Prime_rehash_policy*/_ZSt*__throw_*/__cxa_*/_ZNSt6thread*/_ZNSt6chrono*";

bool is_known_function(const char* name) {
  if (matches(name, kOrderNothing, sizeof kOrderNothing - 1)) return true;
  return matches(name, g_options.known_libraries.text, g_options.known_libraries.size);
}

// The library that has code at the address.
const Module* library_function(uintptr_t address) {
  const Module* owner = module_at(address);
  if (owner == nullptr || (owner->kind != Kind::Stateful && owner->kind != Kind::Stateless)) return nullptr;
  return address >= owner->text_begin && address < owner->text_end ? owner : nullptr;
}

bool loads_modules(const char* name) { return std::strcmp(name, "dlopen") == 0 || std::strcmp(name, "dlmopen") == 0; }

Function* function_of(const LinkedModule& m, const uintptr_t* slot, const Elf64_Sym& symbol) {
  const unsigned type = ELF64_ST_TYPE(symbol.st_info);
  if (type == STT_OBJECT || type == STT_TLS) return nullptr;
  const char* name = m.tables.names + symbol.st_name;
  const uintptr_t target = target_of(m, slot, symbol);
  if (target == 0) return nullptr;
  if (loads_modules(name)) return function_at(target, module_at(target), true);
  const Module* owner = library_function(target);
  return owner == nullptr || is_known_function(name) ? nullptr : function_at(target, owner);
}

// f(slot, function) for the virtual functions of libraries in tables that have names: their own, and those of classes that the program derives
// or that the linker has copied into it. Libraries call through the same tables; their calls are told by where they come from, and passed over.
template <class F>
void for_each_virtual(const LinkedModule& m, F f) {
  for (uint32_t i = 1; i < symbol_count(m.tables); ++i) {
    const Elf64_Sym& s = m.tables.symbols[i];
    const char* name = m.tables.names + s.st_name;
    if (s.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(s.st_info) != STT_OBJECT || !starts_with(name, "_ZTV") ||
        is_known_function(name))
      continue;
    auto* const table = reinterpret_cast<uintptr_t*>(m.loaded_at + s.st_value);
    for (uintptr_t* slot = table; slot < table + s.st_size / sizeof *slot; ++slot) {
      const Module* owner = library_function(*slot);
      Function* function = owner == nullptr ? nullptr : function_at(*slot, owner);
      if (function != nullptr) f(slot, *function);
    }
  }
}

template <class F>
void for_each_call(const Found& found, F f) {
  for (uint32_t i = 0; i < found.count; ++i) {
    const LinkedModule& m = found.modules[i];
    const Module& known = g_modules->modules[i];
    const SlotWriter writer(m);
    const auto visit = [&](uintptr_t* slot, Function& function) { f(writer, slot, function); };
    if (known.kind == Kind::Instrumented) {
      for_each_slot(m, [&](uintptr_t* slot, const Elf64_Sym& symbol) {
        if (Function* function = function_of(m, slot, symbol); function != nullptr) visit(slot, *function);
      });
    }
    if (known.kind != Kind::Known) for_each_virtual(m, visit);
  }
}

}  // namespace

const Module* module_at(uintptr_t address) {
  const Modules* all = __atomic_load_n(&g_modules, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0; all != nullptr && i < all->count; ++i) {
    if (address >= all->modules[i].begin && address < all->modules[i].end) return &all->modules[i];
  }
  return nullptr;
}

void install() {
  auto* found = static_cast<Found*>(map_or_die(sizeof(Found), "modules"));
  for_each_module([&](const LinkedModule& m) {
    if (found->count < kMaxModules) found->modules[found->count++] = m;
  });
  {
    const Guard guard(g_lock);
    if (g_functions == nullptr)
      g_functions = static_cast<Functions*>(map_or_die(sizeof(Functions), "calls of libraries"));
    look_at_modules(*found);
    for_each_call(*found, [](const SlotWriter&, uintptr_t*, const Function&) {});
    if (make_trampolines()) {
      for_each_call(*found, [](const SlotWriter& writer, uintptr_t* slot, const Function& f) {
        if (f.trampoline != 0) writer.write(slot, f.trampoline);
      });
    }
  }
  sys::unmap(found, sizeof(Found));
}

bool matches(const char* name, const char* patterns, uintptr_t size) {
  const char* const end = patterns + size;
  for (const char* p = patterns; p < end;) {
    const char *n = name, *star = nullptr, *after = nullptr;
    for (;;) {
      const bool over = p == end || *p == '/';
      if (!over && *p == '*') {
        star = p++;
        after = n;
      } else if (!over && *n != '\0' && *p == *n) {
        ++p, ++n;
      } else if (over && *n == '\0') {
        return true;
      } else if (star != nullptr && *after != '\0') {
        p = star + 1;
        n = ++after;
      } else {
        break;
      }
    }
    while (p < end && *p != '/') ++p;
    ++p;
  }
  return false;
}

}  // namespace pf::rt::boundary
