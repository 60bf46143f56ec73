#include "binary/atomics.h"

#include <dwarf.h>

#include <algorithm>
#include <string_view>

namespace pf::binary {

void Ranges::add(uint64_t begin, uint64_t end) {
  if (begin < end) ranges_.emplace_back(begin, end);
}

void Ranges::sort() {
  std::ranges::sort(ranges_);
  std::size_t kept = 0;
  for (const auto& range : ranges_) {
    if (kept != 0 && range.first <= ranges_[kept - 1].second) {
      ranges_[kept - 1].second = std::max(ranges_[kept - 1].second, range.second);
    } else {
      ranges_[kept++] = range;
    }
  }
  ranges_.resize(kept);
}

bool Ranges::contains(uint64_t address) const {
  const auto after = std::ranges::upper_bound(ranges_, std::pair(address, UINT64_MAX));
  return after != ranges_.begin() && address < std::prev(after)->second;
}

namespace {

std::string_view name_of(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  for (const unsigned name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name}) {
    const char* text = dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
    if (text != nullptr) return text;
  }
  return {};
}

// By mangled name: std::atomic<…>, std::__atomic_base, std::atomic_flag, std::atomic_ref, std::__atomic_impl, std::__shared_ptr's
// counts by __gnu_cxx::__atomic_add and its like; libc++ keeps them in std::__1.
bool is_atomic_operation(std::string_view name) {
  constexpr std::string_view kParts[] = {"St6atomic", "atomic_", "__exchange_and_add"};
  constexpr std::string_view kLibcxx = "St3__1";
  if (name.find(kLibcxx) != std::string_view::npos && name.find("atomic") != std::string_view::npos) return true;
  return std::ranges::any_of(kParts, [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

void add_ranges(Dwarf_Die* die, Ranges& to) {
  Dwarf_Addr base = 0, begin = 0, end = 0;
  for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &begin, &end)) > 0;) to.add(begin, end);
}

void look_at(Dwarf_Die* die, DebugInfo& info) {
  const int tag = dwarf_tag(die);
  if ((tag == DW_TAG_inlined_subroutine || tag == DW_TAG_subprogram) && is_atomic_operation(name_of(die))) {
    add_ranges(die, info.atomics);
  }
  Dwarf_Die child;
  if (dwarf_child(die, &child) != 0) return;
  do {
    look_at(&child, info);
  } while (dwarf_siblingof(&child, &child) == 0);
}

}  // namespace

DebugInfo read_debug_info(Dwarf* dwarf) {
  DebugInfo info;
  Dwarf_CU* unit = nullptr;
  Dwarf_Die die, split;
  while (dwarf != nullptr && dwarf_get_units(dwarf, unit, &unit, nullptr, nullptr, &die, &split) == 0) {
    // Of a unit with -gsplit-dwarf the addresses are here, the functions there.
    add_ranges(&die, info.known);
    look_at(split.addr != nullptr ? &split : &die, info);
  }
  info.known.sort();
  info.atomics.sort();
  return info;
}

}  // namespace pf::binary
