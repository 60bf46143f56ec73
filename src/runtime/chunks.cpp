#include "runtime/chunks.h"

#include "runtime/say.h"

namespace pf::rt {

constinit Area g_area = {};

namespace {

std::size_t chunk_bytes() { return owners_offset() + kOwnersBytes; }

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
  const uintptr_t distance = reinterpret_cast<uintptr_t>(fresh) - reinterpret_cast<uintptr_t>(&g_area.zero_chunk);
  if (!__atomic_compare_exchange_n(&g_area.chunks[chunk_index(address)], &expected, distance, false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_ACQUIRE)) {
    sys::unmap(fresh, chunk_bytes());  // another thread was quicker
    return chunk_at(g_area, expected);
  }
  return fresh;
}

namespace {

// Calls f for each page of the range that is in memory.
template <class F>
void for_each_page_in_memory(char* first, uintptr_t bytes, F f) {
  constexpr uintptr_t kPagesAtOnce = 4096;
  for (uintptr_t done = 0; done < bytes; done += kPagesAtOnce * kPage) {
    const uintptr_t left = (bytes - done + kPage - 1) / kPage;
    const TouchedPages pages(first + done, left < kPagesAtOnce ? left : kPagesAtOnce);
    for (uintptr_t i = 0; i < pages.count(); ++i) {
      if (pages[i]) f(first + done + i * kPage);
    }
  }
}

uint64_t live_words(const char* page) {
  const auto* words = reinterpret_cast<const uint64_t*>(page);
  uint64_t live = 0;
  for (uintptr_t i = 0; i < kPage / sizeof(uint64_t); ++i) live += words[i] != 0 ? 1 : 0;
  return live;
}

}  // namespace

uint64_t live_bytes() {
  uint64_t words = 0;
  for_each_page_in_memory(reinterpret_cast<char*>(g_area.chunks), sizeof g_area.chunks, [&](const char* page) {
    const auto* distances = reinterpret_cast<const uintptr_t*>(page);
    for (uintptr_t i = 0; i < kPage / sizeof(uintptr_t); ++i) {
      if (distances[i] == 0) continue;
      char* cells = chunk_at(g_area, distances[i]) + kLinesBytes;
      for_each_page_in_memory(cells, kGranulesPerChunk * kCellBytes, [&](const char* p) { words += live_words(p); });
    }
  });
  return words * sizeof(uint64_t);
}

void give_back_cells(uintptr_t address) { sys::drop(chunk(address) + kLinesBytes, kGranulesPerChunk * kCellBytes); }

void give_back(uintptr_t begin, uintptr_t end, uintptr_t offset_in_chunk, uintptr_t record_bytes) {
  const uintptr_t bytes_per_page = kPage / record_bytes * 8;
  uintptr_t from = (begin + bytes_per_page - 1) & ~(bytes_per_page - 1);
  for (uintptr_t stop = 0; from + bytes_per_page <= end; from = stop) {
    const uintptr_t chunk_end = (from | kInChunk) + 1;
    stop = chunk_end < end ? chunk_end : end & ~(bytes_per_page - 1);
    char* c = existing_chunk(from);
    if (c != nullptr)
      sys::drop(c + offset_in_chunk + granule_index(from) * record_bytes, (stop - from) / 8 * record_bytes);
  }
}

TouchedPages::TouchedPages(char* first, uintptr_t count) : count_(count) {
  PF_CHECK(count <= sizeof resident_);
  const long result =
      sys::call_on(SYS_mincore, first, static_cast<long>(count * 4096), reinterpret_cast<long>(resident_));
  if (sys::failed(result)) std::memset(resident_, 1, count);  // not known: look at all
}

}  // namespace pf::rt
