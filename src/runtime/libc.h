// The functions of libc that the runtime itself calls: the real ones, behind our own interceptors. Few, and none that
// takes memory or prints.
#pragma once
#include <dlfcn.h>
#include <pthread.h>

#include <cstdint>

namespace pf::rt::libc {

// The next definition after ours, of the default version or of the one given; null if there is none.
void* next(const char* name);
void* next(const char* name, const char* version);

// In a program that we came into late there is no order in which we are first: `find` knows the definitions.
void find_next_by(void* (*find)(const char* name));

pthread_t pthread_self();

struct StackRange {
  uintptr_t begin, end;  // the whole mapping that the thread runs on
  uintptr_t tls_begin, tls_end;
};
StackRange own_stack();

}  // namespace pf::rt::libc
