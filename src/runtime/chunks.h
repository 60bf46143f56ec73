// From an address of the program to what the runtime keeps about it.
//
//   address  ┌──────── chunk, 4 MiB ────────┬── granule, 8 bytes ──┬ byte ┐
//            └ bits 22..46: index of a table┴ bits 3..21: its cell ┴ 0..2 ┘
//
// A chunk has one cell per granule (the detector's history of these 8 bytes) and one line per 64 bytes (objects that live there: locks,
// atomics, heap blocks; see objects.h). Chunks are mapped when they are first needed, and their pages are touched only where the program
// touches memory; nothing is assumed about where mappings are. An entry is the distance of its chunk from a chunk that
// is always zero, so that the hot path needs no test for a chunk that is not there.
#pragma once
#include "runtime/memory.h"

namespace pf::rt {

inline constexpr unsigned kGranuleBits = 3, kLineBits = 6, kChunkBits = 22, kAddressBits = 47;
inline constexpr uintptr_t kPage = 4096;
inline constexpr uintptr_t kAddressMask = (uintptr_t{1} << kAddressBits) - 1;
inline constexpr uintptr_t kInChunk = (uintptr_t{1} << kChunkBits) - 1;
inline constexpr uintptr_t kGranulesPerChunk = uintptr_t{1} << (kChunkBits - kGranuleBits);
inline constexpr uintptr_t kLinesPerChunk = uintptr_t{1} << (kChunkBits - kLineBits);
inline constexpr uintptr_t kLinesBytes = kLinesPerChunk * sizeof(uintptr_t);

// Decided by the detector's cell (host.h).
extern const uintptr_t kCellBytes;
inline constexpr uintptr_t kMaxCellBytes = 32;

// Behind the cells, for the filter that needs them (carisma.h): a word per granule.
inline uintptr_t words_offset() { return kLinesBytes + kGranulesPerChunk * kCellBytes; }
inline constexpr uintptr_t kWordsBytes = kGranulesPerChunk * sizeof(uint32_t);
// And behind those a word per 256 bytes, for detectors that sample (quiet.h).
inline constexpr unsigned kHistoryBlockBits = 8;
inline uintptr_t blocks_offset() { return words_offset() + kWordsBytes; }
inline constexpr uintptr_t kBlocksBytes = (uintptr_t{1} << (kChunkBits - kHistoryBlockBits)) * sizeof(uint32_t);

// And behind those a few words per 16 KiB, for who owns them (owners.h).
inline constexpr uintptr_t kOwnersBehindCells = kWordsBytes + kBlocksBytes;
inline uintptr_t owners_offset() { return words_offset() + kOwnersBehindCells; }
inline constexpr uintptr_t kOwnersBytes = 4096;

// One object, so that one register is the base of both.
struct alignas(kPage) Area {
  char zero_chunk[kLinesBytes + kGranulesPerChunk * kMaxCellBytes + kWordsBytes + kBlocksBytes +
                  kOwnersBytes];  // never written
  uintptr_t chunks[uintptr_t{1} << (kAddressBits - kChunkBits)];
};
extern Area g_area;

// Any mapping is some way from the zero chunk, which as an object is no larger than itself.
[[gnu::always_inline]] inline char* chunk_at(const Area& area, uintptr_t distance) {
  return reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(&area.zero_chunk) + distance);
}

inline uintptr_t chunk_index(uintptr_t address) { return (address & kAddressMask) >> kChunkBits; }

// The chunk, or null if nothing is known of these addresses.
[[gnu::always_inline]] inline char* existing_chunk(uintptr_t address) {
  const uintptr_t distance = __atomic_load_n(&g_area.chunks[chunk_index(address)], __ATOMIC_ACQUIRE);
  return distance == 0 ? nullptr : chunk_at(g_area, distance);
}

[[gnu::noinline, gnu::cold]] char* new_chunk(uintptr_t address);

[[gnu::always_inline]] inline char* chunk(uintptr_t address) {
  char* c = existing_chunk(address);
  return c != nullptr ? c : new_chunk(address);
}

inline uintptr_t granule_index(uintptr_t address) { return address >> kGranuleBits & (kGranulesPerChunk - 1); }

// Gives back the pages of all cells of a chunk: they are zero, or are to be.
void give_back_cells(uintptr_t address);

// Gives back the pages whose records are all of [begin, end), and clear.
void give_back(uintptr_t begin, uintptr_t end, uintptr_t offset_in_chunk, uintptr_t record_bytes);

// Of the words in cells that are not zero: histories that are kept. Looks at all of them: for the end of the program.
uint64_t live_bytes();

// Which of these pages are in memory.
class TouchedPages {
 public:
  TouchedPages(char* first, uintptr_t count);
  uintptr_t count() const { return count_; }
  bool operator[](uintptr_t i) const { return (resident_[i] & 1) != 0; }

 private:
  uintptr_t count_;
  unsigned char resident_[4096];
};

// Calls f(from, to) for the parts of [begin, end) whose records may have been touched: of a large range most are not,
// and looking at them would cost memory. A page of records, the first at an offset in the chunk, is for that many bytes.
template <class F>
void for_each_touched_part(uintptr_t begin, uintptr_t end, uintptr_t offset_in_chunk, uintptr_t bytes_per_page, F&& f) {
  constexpr uintptr_t kSmall = uintptr_t{32} << 10;
  if (end - begin <= kSmall) {
    const uintptr_t chunk_end = (begin | kInChunk) + 1, border = chunk_end < end ? chunk_end : end;
    if (existing_chunk(begin) != nullptr) f(begin, border);
    if (border != end && existing_chunk(border) != nullptr) f(border, end);
    return;
  }
  for (uintptr_t from = begin, stop = 0; from < end; from = stop) {
    const uintptr_t chunk_end = (from | kInChunk) + 1;
    stop = chunk_end < end ? chunk_end : end;
    char* c = existing_chunk(from);
    if (c == nullptr) continue;
    const uintptr_t first = from & ~(bytes_per_page - 1);
    const TouchedPages pages(c + offset_in_chunk + (first & kInChunk) / bytes_per_page * kPage,
                             (stop - first + bytes_per_page - 1) / bytes_per_page);
    for (uintptr_t i = 0; i < pages.count(); ++i) {
      const uintptr_t at = first + i * bytes_per_page;
      if (pages[i]) f(at < from ? from : at, at + bytes_per_page < stop ? at + bytes_per_page : stop);
    }
  }
}

}  // namespace pf::rt
