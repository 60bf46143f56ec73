// What the recording runtime (runtime/record_host.h) leaves behind for the merger (trace/recording.h): windows of records, each
// window a file that its thread maps and fills. A record counts once its first word is there, and that is written last; so
// whatever ends the process, all records up to the last are whole.
//
//   window   WindowHeader, then records, then zeros
//   record   what happened (8 bytes), where and how much later (8), then the extent and the value, if the first word says so
//
// Records of a thread are in its order and their stamps never fall. Of any two events that order each other, or touch the same memory
// and one writes, the later one has the greater stamp (docs/recording.md).
#pragma once
#include "core/event.h"

namespace pf::recording {

inline constexpr uint64_t kMagic = 0x3143455246504689;  // the last digit is the version
inline constexpr uint64_t kWindowBytes = uint64_t{1} << 20, kFirstWindowBytes = uint64_t{1} << 16;

struct WindowHeader {
  uint64_t magic;  // written last
  uint32_t thread, sequence;
  uint64_t stamp;     // the thread's, before the first record
  uint64_t previous;  // of the window before this one, the last stamp: all that is lost is at most this late
};
static_assert(sizeof(WindowHeader) == 32);

// The first word: target, operation and what follows.
inline constexpr unsigned kTargetBits = 48;
inline constexpr uint64_t kTargetMask = (uint64_t{1} << kTargetBits) - 1;
inline constexpr unsigned kOpShift = 48, kOrderShift = 53, kSizeShift = 56;
inline constexpr uint64_t kHasExtent = uint64_t{1} << 59;       // 8 bytes: the size, or the bytes of a block
inline constexpr uint64_t kHasRoom = uint64_t{1} << 60;         // 8 bytes for a value
inline constexpr uint64_t kHasValue = uint64_t{1} << 61;        // and it is known
inline constexpr uint64_t kIsStamp = uint64_t{31} << kOpShift;  // no event: the second word is the stamp from here on
static_assert(kOps < 31);

// The second word: program counter, and what the stamp grew by since the last record.
inline constexpr unsigned kStepShift = 48;
inline constexpr uint64_t kMaxStep = 0xFFFF;

inline constexpr uint64_t kMaxRecordWords = 4;

// Sizes that need no extent: 1, 2, 4, 8, 16 as 1 to 5; 0 for none.
constexpr uint64_t size_code(uint64_t size) {
  switch (size) {
    case 1: return 1;
    case 2: return 2;
    case 4: return 3;
    case 8: return 4;
    case 16: return 5;
    default: return 0;
  }
}

constexpr uint64_t first_word(Op op, uint64_t target, MemoryOrder order = MemoryOrder::Relaxed) {
  return (target & kTargetMask) | (static_cast<uint64_t>(op) + 1) << kOpShift |
         static_cast<uint64_t>(order) << kOrderShift;
}
constexpr uint64_t words(uint64_t first) {
  return 2 + ((first & kHasExtent) != 0 ? 1 : 0) + ((first & kHasRoom) != 0 ? 1 : 0);
}

}  // namespace pf::recording
