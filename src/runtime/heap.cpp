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
    t.arena->deallocate_object(static_cast<Block*>(o), sizeof(Block));
  });
}

// Where the large block starts that has some of these 64 KiB, so that nobody looks through all of it. No more than a guess: the block
// itself tells.
constexpr uintptr_t kRegions = uintptr_t{1} << 16;
constinit uintptr_t g_starts[kRegions] = {};
uintptr_t& start_of(uintptr_t region) { return g_starts[region & (kRegions - 1)]; }

void remember(uintptr_t begin, uintptr_t size) {
  const uintptr_t first = begin / kSmall, last = (begin + size) / kSmall;
  for (uintptr_t r = first; r <= last && r - first < kRegions; ++r)
    __atomic_store_n(&start_of(r), begin, __ATOMIC_RELAXED);
}

bool may_be_large(uintptr_t address) {
  return __atomic_load_n(&start_of(address / kSmall), __ATOMIC_RELAXED) == address;
}

bool holds(const Block& b, uintptr_t address) { return address >= b.address && address - b.address < b.size; }

bool find_as_guessed(uintptr_t address, Block& copy) {
  const uintptr_t start = __atomic_load_n(&start_of(address / kSmall), __ATOMIC_RELAXED);
  if (start == 0 || start > address || existing_chunk(start) == nullptr) return false;
  const Line line(start);
  const auto* b = line.find<Block>(start);
  if (b == nullptr || !holds(*b, address)) return false;
  copy = *b;
  return true;
}

// The nearest one that starts at or before the address, which is the only one that can hold it.
bool find_nearest(uintptr_t address, Block& copy, uintptr_t farthest) {
  constexpr uintptr_t kLine = uintptr_t{1} << kLineBits;
  for (uintptr_t at = address; at <= address && address - at < farthest; at -= kLine) {
    char* c = existing_chunk(at);
    if (c == nullptr) {
      at &= ~kInChunk;  // nor is anything known of the rest of it
      if (address - at > uintptr_t{256} << 20) return false;
      continue;
    }
    LineHead& head = Line::head_of(c, at);
    if (head.empty()) continue;
    const Line line(head);
    const Block* best = nullptr;
    for (const Object* o = line.first(); o != nullptr; o = o->next) {
      if (o->kind != kBlock || o->address > address) continue;
      if (best == nullptr || o->address > best->address) best = static_cast<const Block*>(o);
    }
    if (best == nullptr) continue;
    copy = *best;
    return holds(copy, address);
  }
  return false;
}

}  // namespace

bool find(uintptr_t address, Block& copy, uintptr_t farthest) {
  return find_as_guessed(address, copy) || find_nearest(address, copy, farthest);
}

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
  if (size >= kSmall) remember(address, size);
}

void freeing(Thread& t, const void* p, uintptr_t pc) {
  const auto address = reinterpret_cast<uintptr_t>(p);
  if (p == nullptr || (!may_be_large(address) && !host::is_end_noticed(address, kSmall))) return;
  const Scope scope(t);
  const uintptr_t site = t.caller != 0 ? t.caller : pc;
  uintptr_t size = 0;
  {
    const depot::Id where = stack_through_library(t, site);
    const Line line(address);
    auto* b = line.find<Block>(address);
    if (b == nullptr) return;
    size = b->size;
    // A second free keeps the first's place: that is the other half of the report.
    if (!b->freed) {
      b->freed_at = where;
      b->freed_by = t.info->id;
    }
    b->freed = true;
  }
  host::end_block(t, address, size, site);
}

void kept(Thread& t, const void* p) {
  const Scope scope(t);
  const Line line(reinterpret_cast<uintptr_t>(p));
  if (auto* b = line.find<Block>(reinterpret_cast<uintptr_t>(p)); b != nullptr) b->freed = false;
}

}  // namespace pf::rt::heap
