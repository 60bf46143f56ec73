// An allocator that the user preloads: its blocks are seen as any, and what it does inside is not the program's.
// RUN: %cxx -O1 %s -o %t
// RUN: %cc -O2 -fno-sanitize=thread -fno-builtin -fPIC -shared -DALLOCATOR -x c %s -o %t.so
// RUN: env LD_PRELOAD=%t.so %norace %t | %FileCheck %s
#ifdef ALLOCATOR

#include <stddef.h>
#include <string.h>

// Hands out the same few blocks over and over, ordered by atomics that no detector sees; and what is not of their size
// once, never again.
enum { kBlocks = 64, kSize = 400 };
static char blocks[kBlocks][kSize] __attribute__((aligned(16)));
static int taken[kBlocks];
static char rest[(size_t)1 << 30] __attribute__((aligned(16)));
static size_t used;

void* malloc(size_t size) {
  for (int i = 0; size == kSize; i = (i + 1) % kBlocks) {
    if (__atomic_exchange_n(&taken[i], 1, __ATOMIC_ACQUIRE) == 0) return memset(blocks[i], 0, kSize);
  }
  const size_t at = __atomic_fetch_add(&used, (size + 31) / 16 * 16, __ATOMIC_RELAXED) + 16;
  *(size_t*)(rest + at - 16) = size;
  return rest + at;
}
static int is_block(const void* p) { return (const char*)p >= blocks[0] && (const char*)p < blocks[kBlocks]; }
void* calloc(size_t count, size_t size) { return malloc(count * size); }
void* realloc(void* p, size_t size) {
  void* fresh = malloc(size);
  if (p == NULL) return fresh;
  const size_t old = is_block(p) ? kSize : *(size_t*)((char*)p - 16);
  return memcpy(fresh, p, old < size ? old : size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  const size_t p = (size_t)malloc(size + alignment + 16);
  const size_t at = (p + 16 + alignment - 1) / alignment * alignment;
  *(size_t*)(at - 16) = size;
  return (void*)at;
}
void* memalign(size_t alignment, size_t size) { return aligned_alloc(alignment, size); }
int posix_memalign(void** to, size_t alignment, size_t size) {
  *to = aligned_alloc(alignment, size);
  return 0;
}
void free(void* p) {
  if (is_block(p)) __atomic_store_n(&taken[((char*)p - blocks[0]) / kSize], 0, __ATOMIC_RELEASE);
}

#else

#include "order.h"
#include <stdio.h>
#include <stdlib.h>

static void* work(void*) {
  for (int i = 0; i < 1000; i++) {
    auto* p = static_cast<int*>(malloc(400));
    use(p);
    p[i % 100]++;
    free(p);
  }
  return nullptr;
}

int main() {
  pthread_t threads[4];
  for (pthread_t& t : threads) pthread_create(&t, nullptr, work, nullptr);
  for (pthread_t t : threads) pthread_join(t, nullptr);
  if (system("true") != 0) return 1;
  puts("end");  // CHECK: end
}

#endif
