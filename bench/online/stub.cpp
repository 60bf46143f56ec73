// A runtime that does nothing: every entry point that clang 19 calls under -fsanitize=thread returns at once, and atomics do no more than
// they say. What a program costs with it are the calls alone: no detector behind this instrumentation can be cheaper.
// c++ -O2 -fPIC -shared -o libphotofinish.so stub.cpp
#include <cstdint>
#include <cstring>

#include "../../src/runtime/abi/near_layout.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT void __tsan_init() {}
EXPORT void __tsan_func_entry(void*) {}
EXPORT void __tsan_func_exit() {}
EXPORT void __tsan_vptr_update(void**, void*) {}
EXPORT void __tsan_vptr_read(void**) {}
EXPORT void __tsan_read_range(void*, unsigned long) {}
EXPORT void __tsan_write_range(void*, unsigned long) {}
EXPORT void __tsan_ignore_thread_begin() {}
EXPORT void __tsan_ignore_thread_end() {}
EXPORT void* __tsan_memcpy(void* to, const void* from, unsigned long n) { return std::memcpy(to, from, n); }
EXPORT void* __tsan_memmove(void* to, const void* from, unsigned long n) { return std::memmove(to, from, n); }
EXPORT void* __tsan_memset(void* to, int value, unsigned long n) { return std::memset(to, value, n); }

#define ACCESS(NAME)                                                                                                   \
  EXPORT void __tsan_##NAME(void*) {}
#define ACCESSES(SIZE)                                                                                                 \
  ACCESS(read##SIZE)                                                                                                   \
  ACCESS(write##SIZE)                                                                                                  \
  ACCESS(read_write##SIZE)                                                                                             \
  ACCESS(volatile_read##SIZE)                                                                                          \
  ACCESS(volatile_write##SIZE)                                                                                         \
  ACCESS(unaligned_read##SIZE)                                                                                         \
  ACCESS(unaligned_write##SIZE)                                                                                        \
  ACCESS(unaligned_read_write##SIZE)
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

// What pf-cc linked into the program goes on by this table.
#define ENTRY(NAME) reinterpret_cast<const void*>(&__tsan_##NAME),
EXPORT const void* const __photofinish_entries[] = {PF_NEAR_ENTRIES(ENTRY)};
EXPORT void __photofinish_begin_block(void*) {}
EXPORT void __photofinish_end_block(void*) {}

#define FETCH(BITS, NAME)                                                                                              \
  EXPORT uint##BITS##_t __tsan_atomic##BITS##_fetch_##NAME(volatile uint##BITS##_t* a, uint##BITS##_t v, int) {        \
    return __atomic_fetch_##NAME(a, v, __ATOMIC_SEQ_CST);                                                              \
  }
#define EXCHANGE(BITS, NAME, WEAK)                                                                                     \
  EXPORT int __tsan_atomic##BITS##_compare_exchange_##NAME(volatile uint##BITS##_t* a, uint##BITS##_t* c,              \
                                                           uint##BITS##_t v, int, int) {                               \
    return __atomic_compare_exchange_n(a, c, v, WEAK, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                             \
  }
#define ATOMICS(BITS)                                                                                                  \
  EXPORT uint##BITS##_t __tsan_atomic##BITS##_load(const volatile uint##BITS##_t* a, int) {                            \
    return __atomic_load_n(a, __ATOMIC_SEQ_CST);                                                                       \
  }                                                                                                                    \
  EXPORT void __tsan_atomic##BITS##_store(volatile uint##BITS##_t* a, uint##BITS##_t v, int) {                         \
    __atomic_store_n(a, v, __ATOMIC_SEQ_CST);                                                                          \
  }                                                                                                                    \
  EXPORT uint##BITS##_t __tsan_atomic##BITS##_exchange(volatile uint##BITS##_t* a, uint##BITS##_t v, int) {            \
    return __atomic_exchange_n(a, v, __ATOMIC_SEQ_CST);                                                                \
  }                                                                                                                    \
  FETCH(BITS, add)                                                                                                     \
  FETCH(BITS, sub)                                                                                                     \
  FETCH(BITS, and)                                                                                                     \
  FETCH(BITS, or)                                                                                                      \
  FETCH(BITS, xor)                                                                                                     \
  FETCH(BITS, nand)                                                                                                    \
  EXCHANGE(BITS, strong, false)                                                                                        \
  EXCHANGE(BITS, weak, true)                                                                                           \
  EXPORT uint##BITS##_t __tsan_atomic##BITS##_compare_exchange_val(volatile uint##BITS##_t* a, uint##BITS##_t c,       \
                                                                   uint##BITS##_t v, int, int) {                       \
    __atomic_compare_exchange_n(a, &c, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                                  \
    return c;                                                                                                          \
  }
ATOMICS(8)
ATOMICS(16)
ATOMICS(32)
ATOMICS(64)

EXPORT void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
EXPORT void __tsan_atomic_signal_fence(int) {}
