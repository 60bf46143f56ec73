// A spinlock in inline assembly, which no detector can see, with the annotations that describe it (unless UNANNOTATED).
#pragma once
#include "order.h"

#ifndef UNANNOTATED
extern "C" void __tsan_mutex_create(void* address, unsigned flags);
extern "C" void __tsan_mutex_destroy(void* address, unsigned flags);
extern "C" void __tsan_mutex_pre_lock(void* address, unsigned flags);
extern "C" void __tsan_mutex_post_lock(void* address, unsigned flags, int recursion);
extern "C" int __tsan_mutex_pre_unlock(void* address, unsigned flags);
extern "C" void __tsan_mutex_post_unlock(void* address, unsigned flags);
#else
static void __tsan_mutex_create(void*, unsigned) {}
static void __tsan_mutex_destroy(void*, unsigned) {}
static void __tsan_mutex_pre_lock(void*, unsigned) {}
static void __tsan_mutex_post_lock(void*, unsigned, int) {}
static int __tsan_mutex_pre_unlock(void*, unsigned) { return 0; }
static void __tsan_mutex_post_unlock(void*, unsigned) {}
#endif

struct CustomLock {
  int word = 0;

  CustomLock() { __tsan_mutex_create(this, 0); }
  ~CustomLock() { __tsan_mutex_destroy(this, 0); }

  INVISIBLE void lock() {
    __tsan_mutex_pre_lock(this, 0);
    for (int old = 1; old != 0;) {
      old = 1;
      __asm__ volatile("xchgl %0, %1" : "+r"(old), "+m"(word) : : "memory");
      long yield = 24;  // SYS_sched_yield
      if (old != 0) __asm__ volatile("syscall" : "+a"(yield) : : "rcx", "r11", "memory");
    }
    __tsan_mutex_post_lock(this, 0, 1);
  }
  INVISIBLE void unlock() {
    __tsan_mutex_pre_unlock(this, 0);
    __asm__ volatile("movl $0, %0" : "=m"(word) : : "memory");
    __tsan_mutex_post_unlock(this, 0);
  }
};
