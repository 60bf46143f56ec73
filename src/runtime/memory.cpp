#include "runtime/memory.h"

#include "runtime/say.h"

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

void* Arena::carve(std::size_t bytes) {
  // What is made to lie on one line of the cache does.
  constexpr std::size_t kLine = 64;
  if (bytes == kLine && left_ % kLine != 0) {
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
