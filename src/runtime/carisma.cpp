#include "runtime/carisma.h"

#include "core/random.h"
#include "filter/context_table.h"
#include "runtime/globals.h"
#include "runtime/heap.h"
#include "runtime/options.h"
#include "runtime/output.h"
#include "runtime/registry.h"
#include "runtime/sampler.h"

namespace pf::rt::carisma {
namespace {

constinit ContextTable* g_contexts = nullptr;

constexpr uint64_t kLongestPause = ContextTable::kLongestPause;
static_assert(kLongestPause + ContextPlan::kBurst <= 1U << kPhaseBits);
static_assert(ContextTable::kSlots + kFirstContext < 1U << (32 - kPhaseBits));
uint32_t word_of(uint32_t context, uint64_t phase) {
  return (context + kFirstContext) << kPhaseBits | static_cast<uint32_t>(phase);
}
uint32_t context_in(uint32_t word) { return (word >> kPhaseBits) - kFirstContext; }
uint64_t phase_in(uint32_t word) { return word & ((1U << kPhaseBits) - 1); }

// In the run directory, where `photofinish run` has put what earlier trials say; else our own.
ContextTable* map_table(const char* run_directory) {
  if (run_directory == nullptr) return nullptr;
  Text path;
  path.put(run_directory).put("/").put(kContextFile);
  const long fd = sys::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (sys::failed(fd)) return nullptr;
  const bool sized = !sys::failed(sys::call(SYS_ftruncate, fd, sizeof(ContextTable)));
  const long at = sys::call(SYS_mmap, 0, sizeof(ContextTable), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  sys::close(static_cast<int>(fd));
  return sized && !sys::failed(at) ? reinterpret_cast<ContextTable*>(at) : nullptr;
}

// --- contexts ---

enum Kind : uint64_t { kStack = 1, kGlobal, kMapped };

uint64_t origin_of(const Block& b) {
  uint64_t origin = registry::info(b.allocated_by).type;
  depot::Id place = b.allocated_at;
  for (uint64_t i = 0; i < g_options.depth && place != 0; ++i) {
    const depot::Node& node = depot::at(place);
    origin = hash_with(origin, globals::name_of(node.key));
    place = node.below;
  }
  return origin;
}

uint64_t context_of(const Thread& t, uintptr_t granule) {
  const ThreadInfo& user = *t.info;
  if (granule >= user.stack_begin && granule < user.stack_end) return hash_with(user.type, kStack);
  const auto offset_from = [granule](uintptr_t start) { return granule > start ? granule - start : 0; };
  if (globals::Global g{}; globals::find(granule, g))
    return hash_with(hash_with(hash_with(user.type, kGlobal), g.name), data_type(g.size, offset_from(g.start)));
  // A block may begin or end inside of the eight bytes.
  Block b{};
  if (heap::find(granule + 7, b, heap::kSmall) || heap::find(granule, b, heap::kSmall))
    return hash_with(origin_of(b), data_type(b.size, offset_from(b.address)));
  return hash_with(user.type, kMapped);
}

// --- decisions ---

Random next_draw() {
  return Random(hash_with(g_contexts->seed, __atomic_fetch_add(&g_contexts->draws, 1, __ATOMIC_RELAXED)));
}

[[gnu::noinline]] uint32_t decide(Thread& t, uint32_t& word, uintptr_t granule) {
  const Scope scope(t);
  const CarismaLaw& law = g_options.law;
  const uint32_t context = g_contexts->find(context_of(t, granule), law.plan(law.rate, kLongestPause));
  ContextSlot& slot = g_contexts->slots[context];
  const ContextPlan plan = slot.plan();
  Random random = next_draw();
  uint32_t fresh = kNotSampled;
  if (random.chance(plan.location_rate)) fresh = word_of(context, plan.pause == 0 ? 0 : random.below(plan.cycle()));
  uint32_t seen = kUndecided;
  if (!__atomic_compare_exchange_n(&word, &seen, fresh, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return seen;
  if (fresh != kNotSampled && !law.counts_writes()) slot.count();
  return fresh;
}

// Counts a write, and moves on in the location's cycle.
bool passes_sampled(uint32_t& word, uint32_t seen, Op op) {
  ContextSlot& slot = g_contexts->slots[context_in(seen)];
  const ContextPlan plan = slot.plan();
  const uint64_t phase = phase_in(seen);
  const bool in_burst = plan.in_burst(phase);
  if (op != Op::Write) return in_burst;
  if (plan.pause != 0) {
    const uint32_t next = word_of(context_in(seen), (phase + 1) % plan.cycle());
    __atomic_compare_exchange_n(&word, &seen, next, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  }
  if (in_burst && g_options.law.counts_writes()) slot.count();
  return in_burst;
}

bool passes_location(Thread& t, Op op, uintptr_t granule) {
  char* c = existing_chunk(granule);
  if (c == nullptr) c = new_chunk(granule);
  uint32_t& word = word_at(c, granule);
  uint32_t seen = __atomic_load_n(&word, __ATOMIC_RELAXED);
  if (seen == kNotSampled) [[likely]]
    return false;
  if (seen == kUndecided) seen = decide(t, word, granule);
  return seen != kNotSampled && passes_sampled(word, seen, op);
}

}  // namespace

void start() {
  if (!is_used()) return;
  g_contexts = map_table(output::directory());
  if (g_contexts == nullptr) g_contexts = static_cast<ContextTable*>(map_or_die(sizeof(ContextTable), "contexts"));
  uint64_t nobodys = 0;
  __atomic_compare_exchange_n(&g_contexts->seed, &nobodys, sampler::seed(), false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  __atomic_fetch_add(&g_contexts->opened, 1, __ATOMIC_RELAXED);
}

uint64_t thread_type(uintptr_t start_routine, depot::Id created_at) {
  if (!is_used()) return 0;
  uint64_t type = globals::name_of(start_routine);
  // Two places: the call may be of a library that the program called for it.
  const depot::Node& call = depot::at(created_at);
  type = hash_with(type, globals::name_of(call.key));
  return call.below == 0 ? type : hash_with(type, globals::name_of(depot::at(call.below).key));
}

bool passes(Thread& t, Op op, uintptr_t address, uintptr_t size) {
  bool any = size == 0;  // nothing that could be sampled
  for (uintptr_t g = address & ~uintptr_t{7}; g < address + size; g += 8) any |= passes_location(t, op, g);
  return any;
}

void forget(uintptr_t address, uintptr_t size) {
  constexpr uintptr_t kBytesPerPage = kPage / sizeof(uint32_t) * 8;
  for_each_touched_part(address, address + size, words_offset(), kBytesPerPage, [](uintptr_t from, uintptr_t to) {
    char* c = existing_chunk(from);
    for (uintptr_t g = from & ~uintptr_t{7}; g < to; g += 8) {
      uint32_t& word = word_at(c, g);
      if (__atomic_load_n(&word, __ATOMIC_RELAXED) != kUndecided) __atomic_store_n(&word, kUndecided, __ATOMIC_RELAXED);
    }
  });
}

void drop(uintptr_t address, uintptr_t size) {
  forget(address, size);
  give_back(address, address + size, words_offset(), sizeof(uint32_t));
}

uint64_t chance_at(uintptr_t address) {
  char* c = existing_chunk(address);
  const uint32_t seen = c == nullptr ? kUndecided : __atomic_load_n(&word_at(c, address), __ATOMIC_RELAXED);
  return seen <= kNotSampled ? 0 : g_contexts->slots[context_in(seen)].plan().rate;
}

}  // namespace pf::rt::carisma
