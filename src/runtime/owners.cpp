#include "runtime/owners.h"

namespace pf::rt::owners {
namespace {

constexpr uint32_t kMaxThreads = 4096, kNoNumber = ~uint32_t{0};
constinit Thread* g_threads[kMaxThreads] = {};  // by number, from 1 on; pages of threads are never given back
constinit uint32_t g_last = 0;  // once too large, some thread may be at work unseen: nobody comes to own anything then

void pass_barrier_everywhere() {
  if (sys::barrier_on_all_threads()) return;
  // The program has forbidden it since. No processor keeps a store to itself for as long.
  constexpr long kLong = 20;
  sys::sleep_ms(kLong);
}

void wait_until_left(const Thread& t, const Block& block) {
  for (unsigned round = 0; __atomic_load_n(&t.at_work, __ATOMIC_ACQUIRE) == &block; ++round) relax(round);
}

bool change(Block& block, uint32_t from, uint32_t to) {
  return __atomic_compare_exchange_n(&block.owner, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

// In units of 65536 cycles of the processor's clock.
uint32_t now() { return static_cast<uint32_t>(__builtin_ia32_rdtsc() >> 16); }

constexpr unsigned kOften = 16;
// How often a thread is to be seen here, before it is worth a try.
unsigned needed(const Block& block) { return kOften << __atomic_load_n(&block.in_vain, __ATOMIC_RELAXED); }

// For one block a barrier costs as much as for many: where the thread is not far from owning its neighbours, it gets them as well.
struct Announced {
  Block* at[kGroup];
  unsigned count = 0;

  Announced(const Thread& t, Block& block) {
    auto* first = reinterpret_cast<Block*>(reinterpret_cast<uintptr_t>(&block) & ~(sizeof(Block) * kGroup - 1));
    for (Block* b = first; b != first + kGroup; ++b) {
      const bool is_wanted = b == &block || (__atomic_load_n(&b->candidate, __ATOMIC_RELAXED) == t.number &&
                                             __atomic_load_n(&b->seen, __ATOMIC_RELAXED) >= needed(*b) / 2);
      if (is_wanted && change(*b, Block::kEverybody, t.number | Block::kChanging)) at[count++] = b;
    }
  }
};

// All threads together spend no more than a twentieth of one's time on becoming owners, however many processors they have to stop.
constinit uint64_t g_next = 0;
bool is_time() { return __builtin_ia32_rdtsc() >= __atomic_load_n(&g_next, __ATOMIC_RELAXED); }
void took(uint64_t cycles) { __atomic_store_n(&g_next, __builtin_ia32_rdtsc() + 20 * cycles, __ATOMIC_RELAXED); }

void wait_until_all_left(const Block& block, uint32_t last) {
  for (uint32_t i = 1; i <= last; ++i) {
    const Thread* other = __atomic_load_n(&g_threads[i], __ATOMIC_ACQUIRE);
    if (other != nullptr) wait_until_left(*other, block);
  }
}

void own(Thread& t, Block& block) {
  if (!is_time()) return;
  const uint64_t start = __builtin_ia32_rdtsc();
  const Announced blocks(t, block);
  if (blocks.count == 0) return;
  const bool is_passed = sys::barrier_on_all_threads();
  const uint32_t last = __atomic_load_n(&g_last, __ATOMIC_SEQ_CST);
  const bool is_alone = is_passed && last < kMaxThreads;
  for (unsigned i = 0; i < blocks.count; ++i) {
    Block& b = *blocks.at[i];
    if (is_alone) wait_until_all_left(b, last);
    __atomic_store_n(&b.since, now(), __ATOMIC_RELAXED);
    __atomic_store_n(&b.owner, is_alone ? t.number : Block::kEverybody, __ATOMIC_RELEASE);
  }
  took(__builtin_ia32_rdtsc() - start);
}

}  // namespace

// The place is filled before the thread is at work; an own() that does not see the place has announced itself before.
void enlist(Thread& t) {
  t.number = kNoNumber;
  const uint32_t number = __atomic_add_fetch(&g_last, 1, __ATOMIC_SEQ_CST);
  if (number >= kMaxThreads) return;
  t.number = number;
  __atomic_store_n(&g_threads[number], &t, __ATOMIC_SEQ_CST);
}

void consider(Thread& t, Block& block) {
  if (t.number == kNoNumber || __atomic_load_n(&block.owner, __ATOMIC_RELAXED) != Block::kEverybody) return;
  const auto candidate = static_cast<uint16_t>(t.number);
  if (__atomic_load_n(&block.candidate, __ATOMIC_RELAXED) != candidate) {
    __atomic_store_n(&block.candidate, candidate, __ATOMIC_RELAXED);
    __atomic_store_n(&block.seen, uint16_t{0}, __ATOMIC_RELAXED);
    return;
  }
  const auto seen = static_cast<uint16_t>(__atomic_load_n(&block.seen, __ATOMIC_RELAXED) + 1);
  __atomic_store_n(&block.seen, seen, __ATOMIC_RELAXED);
  if (seen >= needed(block)) own(t, block);
}

void open_to_all(Block& block) {
  const uint32_t owner = __atomic_load_n(&block.owner, __ATOMIC_ACQUIRE);
  if (owner == Block::kEverybody) return;
  if ((owner & Block::kChanging) != 0 || !change(block, owner, owner | Block::kChanging)) {
    sys::yield();
    return;
  }
  pass_barrier_everywhere();
  wait_until_left(*g_threads[owner], block);
  constexpr uint32_t kLong = 32, kMost = 9;  // a millisecond or so
  const uint32_t in_vain = __atomic_load_n(&block.in_vain, __ATOMIC_RELAXED);
  const bool was_worth_it = now() - __atomic_load_n(&block.since, __ATOMIC_RELAXED) >= kLong;
  const uint32_t more = in_vain < kMost ? in_vain + 1 : kMost;
  __atomic_store_n(&block.in_vain, was_worth_it ? 0 : more, __ATOMIC_RELAXED);
  __atomic_store_n(&block.seen, uint16_t{0}, __ATOMIC_RELAXED);
  __atomic_store_n(&block.owner, Block::kEverybody, __ATOMIC_RELEASE);
}

}  // namespace pf::rt::owners
