#include "runtime/heap.h"

#include "runtime/host.h"
#include "runtime/objects.h"

namespace pf::rt::heap {
namespace {

// Blocks of an earlier life of this memory, alive if the program freed them where we could not see it.
void forget_blocks(Thread& t, uintptr_t begin, uintptr_t end) {
  for_each_object(begin, end, [&](Line& line, Object* o) {
    if (o->kind != kBlock) return;
    line.remove(o);
    t.arena->deallocate(static_cast<Block*>(o), sizeof(Block));
  });
}

}  // namespace

void allocated(Thread& t, const void* p, uintptr_t size, uintptr_t pc) {
  if (p == nullptr) return;
  const Scope scope(t);
  const auto address = reinterpret_cast<uintptr_t>(p);
  const uintptr_t extent = size == 0 ? 1 : size;
  forget_blocks(t, address, address + extent);
  host::begin_block(t, address, extent);
  const depot::Id where = stack_through_library(t, t.caller != 0 ? t.caller : pc);
  Line line(address);
  auto& b = line.add<Block>(address, *t.arena);
  b.size = size;
  b.allocated_at = where;
  b.allocated_by = t.info->id;
}

uintptr_t freeing(Thread& t, const void* p, uintptr_t pc) {
  if (p == nullptr) return 0;
  const Scope scope(t);
  const auto address = reinterpret_cast<uintptr_t>(p);
  const uintptr_t site = t.caller != 0 ? t.caller : pc;
  uintptr_t size = 0;
  {
    const depot::Id where = stack_through_library(t, site);
    const Line line(address);
    auto* b = line.find<Block>(address);
    if (b == nullptr) return 0;
    size = b->size;
    // A second free keeps the first's place: that is the other half of the report.
    if (!b->freed) {
      b->freed_at = where;
      b->freed_by = t.info->id;
    }
    b->freed = true;
  }
  host::end_block(t, address, size, site);
  return size;
}

void kept(Thread& t, const void* p) {
  const Scope scope(t);
  const Line line(reinterpret_cast<uintptr_t>(p));
  if (auto* b = line.find<Block>(reinterpret_cast<uintptr_t>(p)); b != nullptr) b->freed = false;
}

}  // namespace pf::rt::heap
