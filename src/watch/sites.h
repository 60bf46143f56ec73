// What `photofinish sample` and the runtime inside an unmodified program share: which instructions access memory and how, where
// breakpoints may be planted, and what came of them. One file in the run directory, mapped by both.
//
// Outside, the instructions are found and breakpoints are written into the program's code; inside, whoever runs into one puts the first byte
// of the instruction back, takes the access for a sample, and goes on with the instruction where it is: nothing has to be
// emulated or moved. A breakpoint that is left behind, since photofinish was killed, costs one trap.
#pragma once
#include <cstdint>

namespace pf::watch {

struct Site {
  static constexpr uint8_t kNone = 0xFF, kInstructionPointer = 16;  // else the number of a general register
  enum Flags : uint8_t { kReads = 1, kWrites = 2, kAtomic = 4, kKnown = 8 };

  uint32_t offset;  // of its first byte from where the module is loaded
  int32_t displacement;
  uint8_t base, index;
  uint8_t scale;       // of the index: its logarithm
  uint8_t size;        // bytes accessed
  uint8_t length;      // of the instruction
  uint8_t first_byte;  // of the instruction
  uint8_t flags;       // kKnown: debug information would tell if it were atomic
  uint8_t unused;
};
static_assert(sizeof(Site) == 16);

// The instructions of one mapped module, by offset.
struct Segment {
  uint64_t start, end;  // addresses of its code
  uint64_t base;        // where the module is loaded
  uint64_t first, count;
};

struct Board {
  static constexpr uint64_t kMagic = 0x3165746973667030;
  static constexpr unsigned kSegments = 256, kFired = 4096, kConfirm = 64;
  static constexpr uint64_t kSites = uint64_t{1} << 24;  // at most; the file has holes

  uint64_t magic;
  uint64_t owner;       // photofinish's process
  uint64_t process;     // whose breakpoints these are; a forked child has copies, but takes no samples
  uint64_t generation;  // counts the runtimes that have started in the process: one more after an exec
  uint64_t stopped;     // breakpoints are put back, nothing else
  uint64_t lock;        // held while code is written to, or unloaded
  uint64_t segments;
  Segment segment[kSegments];

  // Instructions to be sampled with a delay, since a clock race was found there; pc 0: none. So many times, or until it was seen.
  static constexpr uint64_t kTries = 64;
  struct Confirm {
    uint64_t pc, tries;
  } confirm[kConfirm];

  // Breakpoints that were met, by number; counted on, the place is fired % kFired.
  uint64_t fired;
  uint64_t fired_at[kFired];
  uint64_t spent;   // nanoseconds of processor time in the handler
  uint64_t traps;   // of data breakpoints, most of them the sampler's own accesses
  uint64_t inside;  // threads that are in it

  // Of a process that was attached to: hardware breakpoints that each thread has, and threads that have none.
  uint64_t watching, unwatched;
};

inline constexpr uint64_t kSitesOffset = (sizeof(Board) + 4095) / 4096 * 4096;
inline constexpr uint64_t kBoardBytes = kSitesOffset + Board::kSites * sizeof(Site);

// The last site of the segment at or before the address, or null. `at` is the array of all sites.
inline const Site* last_site_up_to(const Segment& segment, const Site* at, uint64_t address) {
  const Site* low = at + segment.first;
  const Site* high = low + segment.count;
  while (low < high) {
    const Site* middle = low + (high - low) / 2;
    if (segment.base + middle->offset <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low == at + segment.first ? nullptr : low - 1;
}

// The segment that has the address; null if none is known.
inline const Segment* segment_of(const Board& board, uint64_t address) {
  const uint64_t count = __atomic_load_n(&board.segments, __ATOMIC_ACQUIRE);
  for (uint64_t i = 0; i < count; ++i) {
    const Segment& s = board.segment[i];
    if (address >= s.start && address < __atomic_load_n(&s.end, __ATOMIC_RELAXED)) return &s;
  }
  return nullptr;
}

// The site at this very address, or null.
inline const Site* site_at(const Board& board, const Site* at, uint64_t address) {
  const Segment* s = segment_of(board, address);
  const Site* site = s == nullptr ? nullptr : last_site_up_to(*s, at, address);
  return site != nullptr && s->base + site->offset == address ? site : nullptr;
}

// The site of the instruction that ends at this address, or null; `begin` is where it starts.
inline const Site* site_before(const Board& board, const Site* at, uint64_t address, uint64_t& begin) {
  const Segment* s = segment_of(board, address - 1);
  const Site* site = s == nullptr ? nullptr : last_site_up_to(*s, at, address - 1);
  if (site == nullptr) return nullptr;
  begin = s->base + site->offset;
  return begin + site->length == address ? site : nullptr;
}

// The board's lock is never waited for long: who held it may have been killed.
inline bool try_lock(Board& board) {
  uint64_t free = 0;
  return __atomic_compare_exchange_n(&board.lock, &free, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}
inline void unlock(Board& board) { __atomic_store_n(&board.lock, 0, __ATOMIC_RELEASE); }

}  // namespace pf::watch
