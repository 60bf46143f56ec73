// The user's own allocator in front of libc's: jemalloc and mimalloc as Debian has them.
// RUN: %cxx -O1 %s -o %t
// RUN: env LD_PRELOAD=libjemalloc.so.2 %norace %t jemalloc | %FileCheck %s
// RUN: env LD_PRELOAD=libmimalloc.so.2 %norace %t mimalloc | %FileCheck %s
// CHECK: all of it came from the allocator
#include "order.h"
#include <dlfcn.h>
#include <memory>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <vector>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
std::vector<std::unique_ptr<std::string>> handed;

// Blocks are handed from thread to thread, under a lock, and freed by whoever took them.
static void work() {
  for (int i = 0; i < 3000; i++) {
    auto made = std::make_unique<std::string>(100 + i % 200, 'x');
    void* p = realloc(calloc(1, 40), 4000 + i);
    memset(p, 1, 4000);
    free(p);
    std::unique_ptr<std::string> taken;
    pthread_mutex_lock(&mutex);
    if (handed.size() > 20) taken = std::move(handed.back()), handed.pop_back();
    handed.push_back(std::move(made));
    pthread_mutex_unlock(&mutex);
    if (taken) (*taken)[0]++;
  }
}

int main(int, char** arguments) {
  together(work, work);
  handed.clear();
  const std::string name = arguments[1];
  if (dlsym(RTLD_DEFAULT, name == "jemalloc" ? "malloc_stats_print" : "mi_version") == nullptr) return 1;
  puts("all of it came from the allocator");
}
