// The heap blocks of a trace, live and freed: which one an address is in. For the tools; the runtime has its own.
#pragma once
#include <iterator>
#include <map>

#include "core/object.h"
#include "core/race.h"

namespace pf {

class Blocks {
 public:
  // An alloc or free of that many bytes.
  void change(const Event& e, uint64_t size) {
    if (size == 0) return;
    const uint64_t last = e.target + size - 1;
    auto it = blocks_.upper_bound(last);
    while (it != blocks_.begin() && std::prev(it)->second.last >= e.target) it = blocks_.erase(std::prev(it));
    blocks_[e.target] = {last, e.site, e.op == Op::Free};
  }

  RaceMemory at(uint64_t address) const {
    RaceMemory m;
    m.address = address;
    if (address >= kAbstract) m.object = address;
    auto it = blocks_.upper_bound(address);
    if (it == blocks_.begin()) return m;
    --it;
    if (it->second.last < address) return m;
    m.kind = it->second.freed ? RaceMemory::Kind::Freed : RaceMemory::Kind::Heap;
    m.block = it->first;
    m.block_size = it->second.last - it->first + 1;
    m.block_site = it->second.site;
    m.object = index(it->second.site);
    return m;
  }

 private:
  struct Block {
    uint64_t last;
    SiteId site;
    bool freed;
  };
  std::map<uint64_t, Block> blocks_;
};

}  // namespace pf
