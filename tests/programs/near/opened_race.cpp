// The same in a shared object that is opened and closed, again and again: each time it has its code, and leaves nothing behind.
// RUN: %cxx -O1 -shared -fPIC -DLIBRARY %s -o %t.so && %cxx -O1 %s -o %t && %race %t %t.so | %FileCheck %s
// CHECK-COUNT-2: calls the code
#ifdef LIBRARY
#include "near/calls.h"

long in_library;  // CHECK: race: write-{{read|write}} on global in_library of 8 bytes
extern "C" [[gnu::visibility("protected")]] void touch() {
  in_library = in_library + 1;  // CHECK: #0 touch{{.*}}[[FILE]]:[[#@LINE]]
}
extern "C" __attribute__((no_sanitize("thread"))) void tell() { tell_how_it_calls(&touch); }
#else
#include <dlfcn.h>

#include "order.h"

int main(int, char** argv) {
  constexpr int kLast = 1200;  // more than the runtime has places for at one time
  for (int i = 0; i <= kLast; ++i) {
    void* library = dlopen(argv[1], RTLD_NOW);
    const auto find = [&](const char* name) { return reinterpret_cast<Body>(dlsym(library, name)); };
    if (i == 0 || i == kLast) find("tell")();
    const Body touch = find("touch");
    if (i == kLast) {
      in_turn(touch, touch);
    } else {
      dlclose(library);
    }
  }
}
#endif
