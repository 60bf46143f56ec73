// What pf-cc and pf-c++ link into every program and shared object: a block for the runtime's hot code (runtime/near.h), so that a call
// to a hot entry point is a call to that code and nothing in between. Until the runtime has filled it, and where it must not, the
// entries go on to the runtime by the table that it exports.
#include <cet.h>

#include "runtime/abi/near_layout.h"

// One entry, for all names that mean the same to every runtime.
.macro entry number, names:vararg
  .org block + \number * PF_NEAR_SLOT_BYTES, 0xCC
.irp name, \names
  .globl __tsan_\name
  .hidden __tsan_\name
  .type __tsan_\name, @function
  .size __tsan_\name, PF_NEAR_SLOT_BYTES
__tsan_\name:
.endr
  movq __photofinish_entries@GOTPCREL(%rip), %rax
  jmpq *(8 * \number)(%rax)
.endm

  .section .text.photofinish, "ax", @progbits
  .p2align 12
block:
  .cfi_startproc  // the code never moves the stack pointer (check_library.py)
  entry 0, volatile_read1, read1
  entry 1, volatile_write1, read_write1, write1
  entry 2, volatile_read2, unaligned_read2, unaligned_volatile_read2, read2
  entry 3, volatile_write2, unaligned_write2, unaligned_volatile_write2, read_write2, unaligned_read_write2, write2
  entry 4, volatile_read4, unaligned_read4, unaligned_volatile_read4, read4
  entry 5, volatile_write4, unaligned_write4, unaligned_volatile_write4, read_write4, unaligned_read_write4, write4
  entry 6, volatile_read8, unaligned_read8, unaligned_volatile_read8, vptr_read, read8
  entry 7, volatile_write8, unaligned_write8, unaligned_volatile_write8, read_write8, unaligned_read_write8, write8
  entry 8, volatile_read16, unaligned_read16, unaligned_volatile_read16, read16
  entry 9, volatile_write16, unaligned_write16, unaligned_volatile_write16, read_write16, unaligned_read_write16, write16
  entry 10, func_entry
  entry 11, func_exit
  .org block + PF_NEAR_BLOCK_BYTES, 0xCC
  .cfi_endproc

// What is not instrumented may be linked like this, too, and be loaded where there is no runtime.
  .weak __photofinish_entries

// Tells the runtime, if there is one, of the block before the module's own code runs, and when the module goes.
.macro tell what
  .weak __photofinish_\what
  .type \what, @function
\what:
  .cfi_startproc
  _CET_ENDBR
  movq __photofinish_\what@GOTPCREL(%rip), %rax
  leaq block(%rip), %rdi
  testq %rax, %rax
  jz 1f
  jmpq *%rax
1:
  retq
  .cfi_endproc
  .size \what, . - \what
.endm
  .text
  tell begin_block
  tell end_block

  .section .init_array.00000, "aw", @init_array
  .p2align 3
  .quad begin_block
  .section .fini_array, "aw", @fini_array
  .p2align 3
  .quad end_block

  .section .note.GNU-stack, "", @progbits
