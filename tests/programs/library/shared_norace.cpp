// A program linked against an instrumented shared object, which throws an exception through both.
// RUN: %cxx -O1 -shared -fPIC -DLIBRARY %s -o %t.so && %cxx -O1 %s %t.so -o %t && %norace %t
#ifdef LIBRARY
int in_library;
void step(int value) {
  in_library += value;
  throw value;
}
#else
#include "order.h"

void step(int value);
extern int in_library;

int main() {
  for (int i = 0; i < 3; i++) {
    in_turn(
        [] {
          try {
            step(1);
          } catch (int value) {
            use(value);
          }
        },
        [] {});
  }
  return in_library - 3;
}
#endif
