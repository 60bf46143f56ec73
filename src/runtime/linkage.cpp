#include "runtime/linkage.h"

#include <sys/mman.h>

namespace pf::rt {

LinkedModule linked_module(const dl_phdr_info& info) {
  LinkedModule m;
  m.path = info.dlpi_name != nullptr ? info.dlpi_name : "";
  m.loaded_at = info.dlpi_addr;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const Elf64_Phdr& h = info.dlpi_phdr[i];
    const uintptr_t begin = info.dlpi_addr + h.p_vaddr, end = begin + h.p_memsz;
    if (h.p_type == PT_DYNAMIC) {
      m.dynamic = reinterpret_cast<const Elf64_Dyn*>(begin);
      m.tables = tables_of(m.dynamic);
    }
    if (h.p_type == PT_LOAD) {
      m.begin = begin < m.begin ? begin : m.begin;
      m.end = end > m.end ? end : m.end;
    }
    if (h.p_type == PT_LOAD && (h.p_flags & PF_W) != 0) {
      m.data_begin = begin < m.data_begin ? begin : m.data_begin;
      m.data_end = end > m.data_end ? end : m.data_end;
    }
    if (h.p_type == PT_LOAD && (h.p_flags & PF_X) != 0) {
      m.text_begin = begin < m.text_begin ? begin : m.text_begin;
      m.text_end = end > m.text_end ? end : m.text_end;
    }
    if (h.p_type == PT_GNU_RELRO) {
      m.read_only_begin = begin & ~(kPage - 1);
      m.read_only_end = end & ~(kPage - 1);
    }
  }
  if (!m.tables.are_usable(info.dlpi_addr)) m.tables = {};
  return m;
}

SlotWriter::~SlotWriter() {
  if (is_open_) protect(PROT_READ);
}

bool SlotWriter::protect(int protection) const {
  const auto bytes = static_cast<long>(module_.read_only_end - module_.read_only_begin);
  return !sys::failed(sys::call_on(SYS_mprotect, reinterpret_cast<void*>(module_.read_only_begin), bytes, protection));
}

void SlotWriter::write(uintptr_t* slot, uintptr_t value) const {
  const auto at = reinterpret_cast<uintptr_t>(slot);
  const bool read_only = at >= module_.read_only_begin && at < module_.read_only_end;
  if (read_only && !is_open_) is_open_ = protect(PROT_READ | PROT_WRITE);
  if (!read_only || is_open_) __atomic_store_n(slot, value, __ATOMIC_RELEASE);
}

}  // namespace pf::rt
