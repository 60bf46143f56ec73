/* Included by pf-c++ and pf-cc in front of what GCC compiles (docs/compilers.md). GCC expands __builtin_memcpy and the
   like, which its C++ library uses, to plain moves when it knows the size, and instruments none of them.
   Under another name they are functions like any other, and the runtime sees the call. */
#if !defined(PF_GCC_CALLS_H) && !defined(__ASSEMBLER__) && defined(__GNUC__) && !defined(__clang__)
#define PF_GCC_CALLS_H
#pragma GCC system_header /* whatever warnings the user asks for */

#ifdef __cplusplus
extern "C" {
#endif
#define PF_CALLS(name) __asm__(#name) __attribute__((__nothrow__))
extern void* __pf_memcpy(void*, const void*, __SIZE_TYPE__) PF_CALLS(memcpy);
extern void* __pf_memmove(void*, const void*, __SIZE_TYPE__) PF_CALLS(memmove);
extern void* __pf_memset(void*, int, __SIZE_TYPE__) PF_CALLS(memset);
extern int __pf_memcmp(const void*, const void*, __SIZE_TYPE__) PF_CALLS(memcmp);
#undef PF_CALLS
#ifdef __cplusplus
}
#endif

#define __builtin_memcpy __pf_memcpy
#define __builtin_memmove __pf_memmove
#define __builtin_memset __pf_memset
#ifdef __cplusplus
/* This one may be part of a constant. */
#define __builtin_memcmp(...)                                                                                          \
  (__builtin_is_constant_evaluated() ? __builtin_memcmp(__VA_ARGS__) : __pf_memcmp(__VA_ARGS__))
#else
#define __builtin_memcmp __pf_memcmp
#endif

#endif
