// A shared object loaded and unloaded by one thread after the other: what was known of its globals goes with it.
// RUN: %cxx -O1 -shared -fPIC -DLIBRARY %s -o %t.so && %cxx -O1 %s -o %t && %norace %t %t.so
#ifdef LIBRARY
int in_library[100];
extern "C" void touch() {
  for (int& word : in_library) word++;
}
#else
#include "order.h"
#include <dlfcn.h>

char* name;
int failures;

static void load() {
  void* library = dlopen(name, RTLD_NOW);
  if (library == nullptr) {
    failures++;
    return;
  }
  reinterpret_cast<Body>(dlsym(library, "touch"))();
  dlclose(library);
}

int main(int, char** argv) {
  name = argv[1];
  in_turn(load, [] {});
  in_turn([] {}, load);
  for (int i = 0; i < 3; i++) in_turn(load, [] {});
  return failures;
}
#endif
