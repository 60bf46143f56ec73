// The entry points of plain accesses, each once: PLAIN(name, operation, size), and WITH_PC for those that are told their place.
#pragma once

#define PF_ACCESSES_OF(SIZE, PLAIN, WITH_PC)                                                                           \
  PLAIN(read##SIZE, Op::Read, SIZE)                                                                                    \
  PLAIN(write##SIZE, Op::Write, SIZE)                                                                                  \
  PLAIN(read_write##SIZE, Op::Write, SIZE) /* not atomic: what the write finds, the read would find too */             \
  PLAIN(volatile_read##SIZE, Op::Read, SIZE)                                                                           \
  PLAIN(volatile_write##SIZE, Op::Write, SIZE)                                                                         \
  WITH_PC(read##SIZE##_pc, Op::Read, SIZE)                                                                             \
  WITH_PC(write##SIZE##_pc, Op::Write, SIZE)
#define PF_UNALIGNED_OF(SIZE, PLAIN)                                                                                   \
  PLAIN(unaligned_read##SIZE, Op::Read, SIZE)                                                                          \
  PLAIN(unaligned_write##SIZE, Op::Write, SIZE)                                                                        \
  PLAIN(unaligned_read_write##SIZE, Op::Write, SIZE)                                                                   \
  PLAIN(unaligned_volatile_read##SIZE, Op::Read, SIZE)                                                                 \
  PLAIN(unaligned_volatile_write##SIZE, Op::Write, SIZE)

#define PF_ALL_ACCESSES(PLAIN, WITH_PC)                                                                                \
  PF_ACCESSES_OF(1, PLAIN, WITH_PC)                                                                                    \
  PF_ACCESSES_OF(2, PLAIN, WITH_PC)                                                                                    \
  PF_ACCESSES_OF(4, PLAIN, WITH_PC)                                                                                    \
  PF_ACCESSES_OF(8, PLAIN, WITH_PC)                                                                                    \
  PF_ACCESSES_OF(16, PLAIN, WITH_PC)                                                                                   \
  PF_UNALIGNED_OF(2, PLAIN)                                                                                            \
  PF_UNALIGNED_OF(4, PLAIN)                                                                                            \
  PF_UNALIGNED_OF(8, PLAIN)                                                                                            \
  PF_UNALIGNED_OF(16, PLAIN)

// Declares them all.
#define PF_DECLARE(NAME, OP, SIZE) extern "C" void __tsan_##NAME(void*);
#define PF_DECLARE_PC(NAME, OP, SIZE) extern "C" void __tsan_##NAME(void*, void*);
#define PF_DECLARE_ALL_ACCESSES PF_ALL_ACCESSES(PF_DECLARE, PF_DECLARE_PC)
