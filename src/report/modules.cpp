#include "report/modules.h"

#include <algorithm>
#include <iterator>

namespace pf::report {
namespace {

uint64_t page(uint64_t address) { return address & ~uint64_t{4095}; }

}  // namespace

void AddressSpace::map(const RawModule& module) {
  if (module.end <= module.start) return;
  auto it = mappings_.upper_bound(module.start);
  if (it != mappings_.begin() && std::prev(it)->second.end > module.start) --it;
  while (it != mappings_.end() && it->first < module.end) it = mappings_.erase(it);
  mappings_.emplace(module.start, module);
}

std::optional<AddressSpace::Place> AddressSpace::find(uint64_t address) {
  const auto it = mappings_.upper_bound(address);
  if (it == mappings_.begin() || std::prev(it)->second.end <= address) return find_beyond(address);
  const RawModule& m = std::prev(it)->second;
  const std::optional<uint64_t> shift = bias(m);
  if (shift) return Place{m.path, address - *shift};
  return Place{m.path, address - m.start + m.offset};
}

// The distance between addresses in memory and in the file: the lowest mapping of the file begins with its lowest segment.
// The mapping at hand alone would not tell, for two segments may share a page of the file, mapped twice.
std::optional<uint64_t> AddressSpace::bias(const RawModule& m) {
  const std::vector<Segment>& segments = symbolizer_.segments(m.path);
  auto first = mappings_.find(m.start);
  while (first != mappings_.begin() && std::prev(first)->second.path == m.path) --first;
  if (!segments.empty() && first->second.offset == page(segments.front().offset)) {
    return first->first - page(segments.front().address);
  }
  for (const Segment& s : segments) {
    const bool starts_here = m.offset >= page(s.offset) && m.offset < s.offset + s.file_size;
    if (starts_here) return m.start - (m.offset - s.offset + s.address);
  }
  return std::nullopt;
}

// Zeroed data (.bss) is anonymous memory to the kernel, right behind the file's last mapping.
std::optional<AddressSpace::Place> AddressSpace::find_beyond(uint64_t address) {
  auto it = mappings_.upper_bound(address);
  if (it == mappings_.begin()) return std::nullopt;
  const RawModule& m = std::prev(it)->second;
  const std::optional<uint64_t> shift = bias(m);
  if (!shift) return std::nullopt;
  const uint64_t target = address - *shift;
  const bool held = std::ranges::any_of(symbolizer_.segments(m.path), [&](const Segment& s) {
    return target >= s.address && target - s.address < s.memory_size;
  });
  return held ? std::optional(Place{m.path, target}) : std::nullopt;
}

}  // namespace pf::report
