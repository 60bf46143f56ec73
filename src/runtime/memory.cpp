#include "runtime/memory.h"

#include "runtime/say.h"
#include "runtime/spin.h"

namespace pf::rt {
namespace {

constexpr std::size_t kChunk = std::size_t{256} << 10;
constinit std::size_t g_mapped = 0;

}  // namespace

void* map_or_die(std::size_t bytes, const char* what) {
  void* p = sys::map(bytes);
  if (p == nullptr) die_of("out of memory for ", what);
  __atomic_fetch_add(&g_mapped, bytes, __ATOMIC_RELAXED);
  return p;
}

std::size_t mapped_bytes() { return __atomic_load_n(&g_mapped, __ATOMIC_RELAXED); }

// What was handed over, in chains: each is one thread's next free list.
struct Arena::Common {
  SpinLock lock;
  Link* chains[kClasses];

  Link* take(std::size_t c) {
    if (__atomic_load_n(&chains[c], __ATOMIC_RELAXED) == nullptr) return nullptr;
    const Guard guard(lock);
    Link* chain = chains[c];
    if (chain != nullptr) __atomic_store_n(&chains[c], chain->next_chain, __ATOMIC_RELAXED);
    return chain;
  }
};
constinit Arena::Common Arena::g_common{};

void Arena::hand_over() {
  const Guard guard(g_common.lock);
  for (std::size_t c = 1; c < kClasses; ++c) {
    if (free_[c] == nullptr) continue;
    free_[c]->next_chain = g_common.chains[c];
    __atomic_store_n(&g_common.chains[c], free_[c], __ATOMIC_RELAXED);
    free_[c] = nullptr;
  }
}

void* Arena::refill(std::size_t c) {
  Link* chain = g_common.take(c);
  if (chain == nullptr) return carve(c * 16);
  free_[c] = chain->next;
  return chain;
}

void* Arena::carve(std::size_t bytes) {
  // What is made to lie on lines of the cache of its own does.
  constexpr std::size_t kLine = 64;
  if (bytes % kLine == 0 && left_ % kLine != 0) {
    at_ += left_ % kLine;
    left_ -= left_ % kLine;
  }
  if (left_ < bytes) {
    at_ = static_cast<char*>(map_or_die(kChunk, "an arena"));
    left_ = kChunk;
  }
  char* p = at_;
  at_ += bytes;
  left_ -= bytes;
  return p;
}

}  // namespace pf::rt
