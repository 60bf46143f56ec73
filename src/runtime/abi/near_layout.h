// A block of hot code (near.h), as those see it who do not share a compiler: the runtime, and what pf-cc links into a module
// (abi/linked_calls.S). Programs are linked once and run with later runtimes: entries may be added at the end, and nothing else may change.
#pragma once

// Seven lines of the cache for each entry: an odd number, so that entries are in different sets of whatever goes by addresses. With 512
// bytes, and so the same low bits, zstd took 5% longer.
// NOLINTBEGIN(modernize-macro-to-enum): the assembler reads them, too
#define PF_NEAR_SLOT_BYTES 448
#define PF_NEAR_ENTRY_COUNT 12
#define PF_NEAR_BLOCK_BYTES 8192 /* whole pages */
// NOLINTEND(modernize-macro-to-enum)

// The entries in their order: E(name).
#define PF_NEAR_ENTRIES_OF(SIZE, E) E(read##SIZE) E(write##SIZE)
#define PF_NEAR_ENTRIES(E)                                                                                             \
  PF_NEAR_ENTRIES_OF(1, E)                                                                                             \
  PF_NEAR_ENTRIES_OF(2, E)                                                                                             \
  PF_NEAR_ENTRIES_OF(4, E)                                                                                             \
  PF_NEAR_ENTRIES_OF(8, E)                                                                                             \
  PF_NEAR_ENTRIES_OF(16, E)                                                                                            \
  E(func_entry) E(func_exit)
