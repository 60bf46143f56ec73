// The same in a shared object that is opened, closed and opened again.
// RUN: %cxx -O1 -shared -fPIC -DLIBRARY %s -o %t.so && %cxx -O1 %s -o %t && %race %t %t.so | %FileCheck %s
// CHECK-COUNT-3: calls the code
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
  for (int i = 0; i < 3; ++i) {
    void* library = dlopen(argv[1], RTLD_NOW);
    const auto find = [&](const char* name) { return reinterpret_cast<Body>(dlsym(library, name)); };
    find("tell")();
    const Body touch = find("touch");
    if (i == 2) in_turn(touch, touch);
    if (i < 2) dlclose(library);
  }
}
#endif
