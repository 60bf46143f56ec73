#include "runtime/chunks.h"

#include "runtime/say.h"

namespace pf::rt {

constinit Area g_area = {};

namespace {

std::size_t chunk_bytes() { return kLinesBytes + kGranulesPerChunk * kCellBytes; }

// Kept for a program that has taken all addresses there are: what it does last of all is mostly in few places.
constexpr uintptr_t kSpare = 4;
alignas(kPage) constinit char g_spare[kSpare][sizeof(Area::zero_chunk)] = {};
constinit uintptr_t g_spare_used = 0;

char* spare_chunk() {
  const uintptr_t mine = __atomic_fetch_add(&g_spare_used, 1, __ATOMIC_RELAXED);
  if (mine >= kSpare) die_of("out of memory for shadow memory");
  return g_spare[mine];
}

}  // namespace

char* new_chunk(uintptr_t address) {
  auto* fresh = static_cast<char*>(sys::map(chunk_bytes()));
  if (fresh == nullptr) fresh = spare_chunk();
  sys::no_huge_pages(fresh, chunk_bytes());  // a touched byte would cost 2 MiB
  uintptr_t expected = 0;
  const auto distance = static_cast<uintptr_t>(fresh - g_area.zero_chunk);
  if (!__atomic_compare_exchange_n(&g_area.chunks[chunk_index(address)], &expected, distance, false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_ACQUIRE)) {
    sys::unmap(fresh, chunk_bytes());  // another thread was quicker
    return g_area.zero_chunk + expected;
  }
  return fresh;
}

TouchedPages::TouchedPages(char* first, uintptr_t count) : count_(count) {
  PF_CHECK(count <= sizeof resident_);
  const long result =
      sys::call_on(SYS_mincore, first, static_cast<long>(count * 4096), reinterpret_cast<long>(resident_));
  if (sys::failed(result)) std::memset(resident_, 1, count);  // not known: look at all
}

}  // namespace pf::rt
