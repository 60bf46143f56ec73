#include "binary/functions.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <string_view>

namespace pf::binary {
namespace {

struct Section {
  GElf_Shdr header;
  Elf_Data* data;
};

std::optional<Section> section_named(Elf* elf, std::string_view name) {
  std::size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return std::nullopt;
  for (Elf_Scn* scn = nullptr; (scn = elf_nextscn(elf, scn)) != nullptr;) {
    Section s{};
    if (gelf_getshdr(scn, &s.header) == nullptr || s.header.sh_type == SHT_NOBITS) continue;
    const char* text = elf_strptr(elf, names, s.header.sh_name);
    if (text == nullptr || name != text) continue;
    s.data = elf_rawdata(scn, nullptr);
    if (s.data != nullptr) return s;
  }
  return std::nullopt;
}

// How pointers of an FDE are written: 'R' among the letters of its CIE, whose data come in their order. Nothing for frames of
// signals ('S'), which by custom begin a byte before their code.
std::optional<uint8_t> pointer_encoding(const Dwarf_CIE& cie) {
  const char* letters = cie.augmentation;
  if (*letters++ != 'z') return std::nullopt;
  const uint8_t* data = cie.augmentation_data;
  const uint8_t* const end = data + cie.augmentation_data_size;
  std::optional<uint8_t> encoding;
  for (; *letters != '\0' && data < end; ++letters) {
    if (*letters == 'R') {
      encoding = *data++;
    } else if (*letters == 'L') {
      ++data;
    } else if (*letters == 'P') {
      const unsigned form = *data & 0x0F;
      data += 1 + (form == DW_EH_PE_sdata4 || form == DW_EH_PE_udata4 ? 4 : 8);
    } else {
      return std::nullopt;
    }
  }
  return *letters == '\0' ? encoding : std::nullopt;
}

// What compilers write for x86-64: four bytes, from where they stand.
constexpr uint8_t kUsual = DW_EH_PE_pcrel | DW_EH_PE_sdata4;

// Of an entry that is written that way; empty if it is none.
Function function_of(const Dwarf_FDE& fde, const Section& frames) {
  int32_t from = 0;
  uint32_t size = 0;
  if (fde.start + sizeof from + sizeof size > fde.end) return {};
  std::memcpy(&from, fde.start, sizeof from);
  std::memcpy(&size, fde.start + sizeof from, sizeof size);
  const auto offset = static_cast<uint64_t>(fde.start - static_cast<const uint8_t*>(frames.data->d_buf));
  const uint64_t begin = frames.header.sh_addr + offset + static_cast<uint64_t>(static_cast<int64_t>(from));
  return {begin, begin + size};
}

std::vector<Function> without_overlaps(std::vector<Function> functions) {
  std::ranges::sort(functions, {}, &Function::begin);
  std::vector<Function> apart;
  for (std::size_t i = 0; i < functions.size(); ++i) {
    const bool before = i != 0 && functions[i - 1].end > functions[i].begin;
    const bool after = i + 1 < functions.size() && functions[i].end > functions[i + 1].begin;
    if (!before && !after) apart.push_back(functions[i]);
  }
  return apart;
}

}  // namespace

std::vector<Function> functions_of(Elf* elf) {
  std::vector<Function> functions;
  const std::optional<Section> frames = section_named(elf, ".eh_frame");
  if (!frames) return functions;
  const auto* ident = reinterpret_cast<const unsigned char*>(elf_getident(elf, nullptr));
  std::set<Dwarf_Off> usual;  // CIEs
  Dwarf_CFI_Entry entry;
  for (Dwarf_Off at = 0, next = 0;; at = next) {
    const int result = dwarf_next_cfi(ident, frames->data, true, at, &next, &entry);
    if (result > 0 || next == at) break;
    if (result < 0) continue;
    if (dwarf_cfi_cie_p(&entry)) {
      if (pointer_encoding(entry.cie) == kUsual) usual.insert(at);
    } else if (usual.contains(entry.fde.CIE_pointer)) {
      const Function f = function_of(entry.fde, *frames);
      if (f.begin != f.end) functions.push_back(f);
    }
  }
  return without_overlaps(std::move(functions));
}

}  // namespace pf::binary
