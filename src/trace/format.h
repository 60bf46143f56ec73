// The binary trace, version 1: the numbers that reader and writer share. docs/trace-format.md has every byte.
//
//   header   magic, version
//   blocks   tables (names, always before their first use) and events (up to kBlockEvents of them), each compressed
//            and with a checksum of its own; every events block can be decoded without the ones before it
//   index    where each block is
//   trailer  where the index is; its absence means that the writer never finished
#pragma once
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace pf::format {

inline constexpr std::string_view kMagic{"\x89PFT\r\n\x1a\n", 8};
inline constexpr std::string_view kEndMagic{"PFT-END\n", 8};
inline constexpr uint32_t kVersion = 1;
inline constexpr uint32_t kBlockMagic = 0x31424650;  // "PFB1"
inline constexpr uint32_t kBlockEvents = 1U << 16;
inline constexpr uint32_t kMaxBlockBytes = 1U << 26;
inline constexpr std::size_t kPadding = 16;  // readable bytes past the payload, so that loads need no check

struct FileHeader {
  char magic[8];
  uint32_t version;
  uint32_t zero;
};
static_assert(sizeof(FileHeader) == 16);

enum class BlockKind : uint32_t { Tables = 1, Events = 2, Index = 3 };

struct BlockHeader {
  uint32_t magic;
  BlockKind kind;
  uint32_t raw_bytes;     // of the payload
  uint32_t stored_bytes;  // as it is in the file, zstd-compressed
  uint64_t first_event;   // number of events in the blocks before
  uint32_t events;        // in this block
  uint32_t zero;
  uint64_t nanoseconds;  // since the start of the program, when the block was begun; 0 if unknown
  uint64_t checksum;     // XXH3-64 of the header with this field 0, then of the stored payload
};
static_assert(sizeof(BlockHeader) == 48);

struct IndexEntry {
  uint64_t offset;
  uint64_t first_event;
  uint64_t nanoseconds;
  uint32_t events;
  BlockKind kind;
};
static_assert(sizeof(IndexEntry) == 32);

struct Trailer {
  uint64_t index_offset;
  uint64_t events;
  char magic[8];
};
static_assert(sizeof(Trailer) == 24);

// Records of a tables block: a kind byte, then its fields; numbers are LEB128, strings a length and bytes.
enum class TableRecord : uint8_t { Thread = 1, Site = 2, Object = 3, Symbol = 4 };

// Columns of an events block: six 32-bit lengths, then the columns.
enum Column : unsigned { Ops, Control, Targets, Sites, Threads, Extras, kColumns };

// Ops, one byte an event: the operation, and which extras follow.
inline constexpr uint8_t kOpMask = 0x1F;
inline constexpr uint8_t kHasValue = 0x20;   // Extras: 8 bytes
inline constexpr uint8_t kHasSize = 0x40;    // Extras: LEB128; else kVariableSize for accesses, 0 for the rest
inline constexpr uint8_t kNewThread = 0x80;  // Threads: LEB128; else the thread of the event before

// Control, one byte an event: bytes of the target delta (3 bits), of the site delta (2 bits), memory order (3 bits).
// Deltas are against the thread's last memory or object target and its last site in this block, zigzag-coded.
inline constexpr std::array<uint8_t, 8> kTargetBytes = {0, 1, 2, 3, 4, 5, 6, 8};
inline constexpr std::array<uint8_t, 4> kSiteBytes = {0, 1, 2, 4};

constexpr uint64_t zigzag(uint64_t delta) { return delta << 1 ^ (0 - (delta >> 63)); }
constexpr uint64_t unzigzag(uint64_t z) { return z >> 1 ^ (0 - (z & 1)); }

}  // namespace pf::format
