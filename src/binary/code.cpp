#include "binary/code.h"

#include <Zydis/Zydis.h>
#include <elfutils/libdwfl.h>
#include <fmt/format.h>
#include <gelf.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>

#include "binary/atomics.h"
#include "binary/elf_file.h"
#include "binary/functions.h"

namespace pf::binary {
namespace {

using watch::Site;

struct Instruction {
  uint64_t address;
  ZydisDecodedInstruction head;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];

  std::span<const ZydisDecodedOperand> visible() const { return {operands, head.operand_count_visible}; }
};

bool jumps(const Instruction& i) {
  switch (i.head.meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_UNCOND_BR:
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_INTERRUPT:
    case ZYDIS_CATEGORY_SYSTEM: return true;
    default: return false;
  }
}

// Where a direct jump goes, if it is none out of sight.
std::optional<uint64_t> target_of(const Instruction& i) {
  if (!jumps(i) || i.head.meta.category == ZYDIS_CATEGORY_CALL) return std::nullopt;
  for (const ZydisDecodedOperand& o : i.visible()) {
    ZyanU64 target = 0;
    if (o.type == ZYDIS_OPERAND_TYPE_IMMEDIATE && o.imm.is_relative &&
        ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&i.head, &o, i.address, &target)))
      return target;
  }
  return std::nullopt;
}

// All instructions of the function, or none if they do not make one.
std::vector<Instruction> decode(const ZydisDecoder& decoder, std::span<const uint8_t> bytes, uint64_t begin) {
  std::vector<Instruction> code;
  for (std::size_t at = 0; at < bytes.size();) {
    Instruction& i = code.emplace_back();
    i.address = begin + at;
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes.data() + at, bytes.size() - at, &i.head, i.operands)))
      return {};
    at += i.head.length;
  }
  for (const Instruction& i : code) {
    const std::optional<uint64_t> target = target_of(i);
    if (target && *target >= begin && *target < begin + bytes.size() &&
        !std::ranges::binary_search(code, *target, {}, &Instruction::address))
      return {};
  }
  return code;
}

// 0 to 15 for a general register of 64 bits, else what it is.
std::optional<uint8_t> register_number(ZydisRegister r) {
  if (r == ZYDIS_REGISTER_NONE) return Site::kNone;
  if (r == ZYDIS_REGISTER_RIP) return Site::kInstructionPointer;
  if (ZydisRegisterGetClass(r) != ZYDIS_REGCLASS_GPR64) return std::nullopt;
  return static_cast<uint8_t>(ZydisRegisterGetId(r));
}

bool sets_frame_pointer(const Instruction& i) {
  return i.head.mnemonic == ZYDIS_MNEMONIC_MOV && i.operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
         i.operands[0].reg.value == ZYDIS_REGISTER_RBP && i.operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
         i.operands[1].reg.value == ZYDIS_REGISTER_RSP;
}

bool is_odd(const Instruction& i) {
  switch (i.head.meta.category) {
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_WIDENOP:
    case ZYDIS_CATEGORY_PREFETCH:
    case ZYDIS_CATEGORY_STRINGOP:
    case ZYDIS_CATEGORY_GATHER:
    case ZYDIS_CATEGORY_SCATTER:
    case ZYDIS_CATEGORY_XSAVE:
    case ZYDIS_CATEGORY_XSAVEOPT:
    case ZYDIS_CATEGORY_CLFLUSHOPT: return true;
    default: return jumps(i) || (i.head.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPNE)) != 0;
  }
}

// The one operand in memory that the instruction names.
const ZydisDecodedOperand* memory_operand(const Instruction& i) {
  const ZydisDecodedOperand* found = nullptr;
  for (const ZydisDecodedOperand& o : i.visible()) {
    if (o.type != ZYDIS_OPERAND_TYPE_MEMORY) continue;
    if (found != nullptr || o.mem.type != ZYDIS_MEMOP_TYPE_MEM) return nullptr;
    found = &o;
  }
  return found;
}

bool is_on_stack(const ZydisDecodedOperand& o, bool has_frame_pointer) {
  return o.mem.base == ZYDIS_REGISTER_RSP || (has_frame_pointer && o.mem.base == ZYDIS_REGISTER_RBP);
}

bool is_exchange(const Instruction& i) {
  return (i.head.attributes & ZYDIS_ATTRIB_HAS_LOCK) != 0 || i.head.mnemonic == ZYDIS_MNEMONIC_XCHG;
}

std::optional<Site> site_of(const Instruction& i, bool has_frame_pointer, const DebugInfo& debug, uint64_t base) {
  if (is_odd(i) || i.head.address_width != 64) return std::nullopt;
  const ZydisDecodedOperand* o = memory_operand(i);
  if (o == nullptr || is_on_stack(*o, has_frame_pointer)) return std::nullopt;
  if (o->mem.segment == ZYDIS_REGISTER_FS || o->mem.segment == ZYDIS_REGISTER_GS) return std::nullopt;
  const std::optional<uint8_t> from = register_number(o->mem.base), index = register_number(o->mem.index);
  const int64_t displacement = o->mem.disp.has_displacement ? o->mem.disp.value : 0;
  const unsigned size = o->size / 8;
  if (!from || !index || size == 0 || size > 64 || displacement != static_cast<int32_t>(displacement) ||
      i.address - base > std::numeric_limits<uint32_t>::max())
    return std::nullopt;
  unsigned flags = 0;
  if ((o->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0) flags |= Site::kReads;
  if ((o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0) flags |= Site::kWrites;
  if (flags == 0) return std::nullopt;
  if (is_exchange(i) || debug.atomics.contains(i.address)) flags |= Site::kAtomic;
  if (debug.known.contains(i.address)) flags |= Site::kKnown;
  return Site{static_cast<uint32_t>(i.address - base),
              static_cast<int32_t>(displacement),
              *from,
              *index,
              static_cast<uint8_t>(o->mem.scale > 1 ? __builtin_ctz(o->mem.scale) : 0),
              static_cast<uint8_t>(size),
              i.head.length,
              0,
              static_cast<uint8_t>(flags),
              0};
}

// --- the file ---

class File : public ElfFile {
 public:
  using ElfFile::ElfFile;

  bool is_for_x86_64() const {
    GElf_Ehdr header;
    return elf() != nullptr && elf_kind(elf()) == ELF_K_ELF && gelf_getehdr(elf(), &header) != nullptr &&
           header.e_machine == EM_X86_64 && header.e_ident[EI_CLASS] == ELFCLASS64;
  }
  // The bytes of these addresses, if they are code of the file.
  std::span<const uint8_t> code(uint64_t begin, uint64_t end) const {
    std::size_t size = 0, headers = 0;
    const char* raw = elf_rawfile(elf(), &size);
    if (raw == nullptr || elf_getphdrnum(elf(), &headers) != 0) return {};
    for (std::size_t n = 0; n < headers; ++n) {
      GElf_Phdr p;
      if (gelf_getphdr(elf(), static_cast<int>(n), &p) == nullptr || p.p_type != PT_LOAD || (p.p_flags & PF_X) == 0)
        continue;
      if (begin < p.p_vaddr || end > p.p_vaddr + p.p_filesz || p.p_offset + p.p_filesz > size) continue;
      return {reinterpret_cast<const uint8_t*>(raw) + p.p_offset + (begin - p.p_vaddr), end - begin};
    }
    return {};
  }
  // What addresses are counted from: the lowest that is loaded, whole pages.
  uint64_t base() const {
    std::size_t headers = 0;
    uint64_t lowest = std::numeric_limits<uint64_t>::max();
    if (elf_getphdrnum(elf(), &headers) != 0) return 0;
    for (std::size_t n = 0; n < headers; ++n) {
      GElf_Phdr p;
      if (gelf_getphdr(elf(), static_cast<int>(n), &p) != nullptr && p.p_type == PT_LOAD)
        lowest = std::min(lowest, p.p_vaddr & ~uint64_t{4095});
    }
    return lowest;
  }
};

// Debug information of the file, or of the one beside it that its build id or link names.
class Debug {
 public:
  explicit Debug(const std::string& path) : dwfl_(dwfl_begin(&kCallbacks)) {
    Dwfl_Module* module = dwfl_report_offline(dwfl_, "", path.c_str(), -1);
    dwfl_report_end(dwfl_, nullptr, nullptr);
    GElf_Addr bias = 0;
    Dwarf* dwarf = module == nullptr ? nullptr : dwfl_module_getdwarf(module, &bias);
    info_ = read_debug_info(dwarf);
  }
  ~Debug() { dwfl_end(dwfl_); }
  Debug(const Debug&) = delete;
  Debug& operator=(const Debug&) = delete;
  const DebugInfo& info() const { return info_; }

 private:
  static constexpr Dwfl_Callbacks kCallbacks = {
      .find_elf = dwfl_build_id_find_elf,
      .find_debuginfo = dwfl_standard_find_debuginfo,
      .section_address = dwfl_offline_section_address,
      .debuginfo_path = nullptr,
  };
  Dwfl* dwfl_;
  DebugInfo info_;
};

void add_sites(Code& code, std::span<const Instruction> instructions, std::span<const uint8_t> bytes,
               const DebugInfo& debug, uint64_t base) {
  const bool has_frame_pointer = std::ranges::any_of(instructions, sets_frame_pointer);
  for (const Instruction& i : instructions) {
    std::optional<Site> site = site_of(i, has_frame_pointer, debug, base);
    if (!site) continue;
    site->first_byte = bytes[i.address - instructions.front().address];
    code.sites.push_back(*site);
  }
}

}  // namespace

Result<Code> read_code(const std::string& path) {
  const File file(path);
  if (!file.is_for_x86_64()) return Error{fmt::format("{}: no program or library for x86-64", path)};
  const Debug debug(path);
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  Code code;
  for (const Function& f : functions_of(file.elf())) {
    const std::span<const uint8_t> bytes = file.code(f.begin, f.end);
    const std::vector<Instruction> instructions = decode(decoder, bytes, f.begin);
    ++(instructions.empty() ? code.skipped : code.functions);
    add_sites(code, instructions, bytes, debug.info(), file.base());
  }
  return code;
}

}  // namespace pf::binary
