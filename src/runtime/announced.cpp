#include "runtime/announced.h"

#include <cstring>

#include "runtime/abi/abi.h"
#include "runtime/abi/accesses.h"
#include "runtime/instrumented.h"
#include "runtime/near.h"

PF_DECLARE_ALL_ACCESSES
extern "C" const void* const __photofinish_entries[];

namespace pf::rt {
namespace {

struct EntryPoint {
  const void* function;
  Op op;
  uint32_t size;
};

#define PF_ENTRY(NAME, OP, SIZE) {reinterpret_cast<const void*>(&__tsan_##NAME), OP, SIZE},
const EntryPoint kEntryPoints[] = {PF_ALL_ACCESSES(PF_ENTRY, PF_ENTRY)};

const EntryPoint* entry_point(uintptr_t address) {
  for (const EntryPoint& e : kEntryPoints) {
    if (reinterpret_cast<uintptr_t>(e.function) == address) return &e;
  }
  return nullptr;
}

uintptr_t relative(uintptr_t field) {  // to the end of its instruction
  int32_t distance = 0;
  std::memcpy(&distance, reinterpret_cast<const void*>(field), sizeof distance);
  return field + 4 + static_cast<uintptr_t>(static_cast<intptr_t>(distance));
}

// Of hot code near the program; 0 if there is none at this address.
uintptr_t entry_point_near(uintptr_t address) {
  const unsigned entry = near::entry_at(address);
  return entry == near::kEntries ? 0 : address_of(__photofinish_entries[entry]);
}

// Where a call really goes: through the module's table of addresses, if the target is a jump of the linker's.
uintptr_t through_linkage(uintptr_t target) {
  if (const uintptr_t near = entry_point_near(target); near != 0) return near;
  if (!is_instrumented(target) || !is_instrumented(target + 16)) return target;
  const auto* code = reinterpret_cast<const uint8_t*>(target);
  constexpr uint8_t kEndbr[] = {0xF3, 0x0F, 0x1E, 0xFA};
  if (std::memcmp(code, kEndbr, sizeof kEndbr) == 0) code += sizeof kEndbr;
  if (*code == 0xE9) return entry_point_near(relative(address_of(code) + 1));
  if (*code == 0xF2) ++code;
  if (code[0] != 0xFF || code[1] != 0x25) return target;
  const uintptr_t entry = relative(reinterpret_cast<uintptr_t>(code) + 2);
  return is_instrumented(entry) ? *reinterpret_cast<const uintptr_t*>(entry) : target;
}

// What an instruction calls: directly, or through the table. 0 if it is no such call.
uintptr_t called_at(const uint8_t* code) {
  if (code[0] == 0xE8) return through_linkage(relative(address_of(code) + 1));
  if (code[0] != 0xFF || code[1] != 0x15) return 0;
  const uintptr_t entry = relative(address_of(code) + 2);
  return is_instrumented(entry) ? *reinterpret_cast<const uintptr_t*>(entry) : 0;
}

}  // namespace

Announced announced_before(uintptr_t pc) {
  constexpr uintptr_t kCall = 5, kFar = 96;
  for (uintptr_t at = pc - kCall - 1; pc - at < kFar && is_instrumented(at); --at) {
    const EntryPoint* e = entry_point(called_at(reinterpret_cast<const uint8_t*>(at)));
    if (e != nullptr) return {true, e->op, e->size};
  }
  return {false, Op::Read, 0};
}

}  // namespace pf::rt
