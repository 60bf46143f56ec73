// The dynamic section of a module, as the loader left it: with addresses, not offsets.
#pragma once
#include <elf.h>

#include <cstdint>

namespace pf::rt {

struct Tables {
  const Elf64_Sym* symbols = nullptr;
  const char* names = nullptr;
  const Elf64_Rela* relocations[2] = {};
  uintptr_t bytes[2] = {};
  const uint32_t* hash = nullptr;
  const uint32_t* gnu_hash = nullptr;
  const uint16_t* versions = nullptr;

  // The kernel's own module has offsets.
  bool are_usable(uintptr_t loaded_at) const {
    return symbols != nullptr && names != nullptr && reinterpret_cast<uintptr_t>(symbols) > loaded_at;
  }
  // f(relocation, symbol) until it returns true; whether it did.
  template <class F>
  bool any_relocation(F f) const {
    for (int part = 0; part < 2; ++part) {
      for (uintptr_t i = 0; i < bytes[part] / sizeof(Elf64_Rela); ++i) {
        const Elf64_Rela& r = relocations[part][i];
        if (f(r, symbols[ELF64_R_SYM(r.r_info)])) return true;
      }
    }
    return false;
  }
};

inline Tables tables_of(const Elf64_Dyn* section) {
  Tables t;
  for (const Elf64_Dyn* d = section; d->d_tag != DT_NULL; ++d) {
    const auto* at = reinterpret_cast<const void*>(d->d_un.d_ptr);
    switch (d->d_tag) {
      case DT_SYMTAB: t.symbols = static_cast<const Elf64_Sym*>(at); break;
      case DT_STRTAB: t.names = static_cast<const char*>(at); break;
      case DT_RELA: t.relocations[0] = static_cast<const Elf64_Rela*>(at); break;
      case DT_RELASZ: t.bytes[0] = d->d_un.d_val; break;
      case DT_JMPREL: t.relocations[1] = static_cast<const Elf64_Rela*>(at); break;
      case DT_PLTRELSZ: t.bytes[1] = d->d_un.d_val; break;
      case DT_HASH: t.hash = static_cast<const uint32_t*>(at); break;
      case DT_GNU_HASH: t.gnu_hash = static_cast<const uint32_t*>(at); break;
      case DT_VERSYM: t.versions = static_cast<const uint16_t*>(at); break;
      default: break;
    }
  }
  return t;
}

// How many symbols there are; of a table of hashes that does not say so, up to the last one that can be found.
inline uint32_t symbol_count(const Tables& t) {
  if (t.hash != nullptr) return t.hash[1];
  if (t.gnu_hash == nullptr) return 0;
  const uint32_t buckets = t.gnu_hash[0], first = t.gnu_hash[1], bloom_words = t.gnu_hash[2];
  const uint32_t* bucket = t.gnu_hash + 4 + uintptr_t{2} * bloom_words;
  const uint32_t* chain = bucket + buckets;
  uint32_t last = 0;
  for (uint32_t i = 0; i < buckets; ++i) last = bucket[i] > last ? bucket[i] : last;
  if (last < first) return first;
  while ((chain[last - first] & 1) == 0) ++last;
  return last + 1;
}

}  // namespace pf::rt
