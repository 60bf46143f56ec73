// A race inside of an instrumented shared object that was loaded by dlopen: its frames and its global have names.
// RUN: %cxx -O1 -shared -fPIC -DLIBRARY %s -o %t.so && %cxx -O1 %s -o %t && %race %t %t.so | %FileCheck %s
#ifdef LIBRARY
int in_library;  // CHECK: race: write-write on global in_library of 4 bytes
extern "C" void touch() {
  in_library = 1;  // CHECK: #0 touch{{.*}}[[FILE]]:[[#@LINE]]
}
#else
#include "order.h"
#include <dlfcn.h>

int main(int, char** argv) {
  void* library = dlopen(argv[1], RTLD_NOW);
  auto touch = reinterpret_cast<Body>(dlsym(library, "touch"));
  if (touch) in_turn(touch, touch);
}
#endif
