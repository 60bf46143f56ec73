// libstdc++ counts the owners of a filesystem_error's paths inside of the library, in a virtual destructor: who lets go last frees what others have read.
// RUN: %cxx -O1 %s -o %t && %cxx -O1 -DRACE %s -o %t.race
// RUN: %with fasttrack %race %t | %FileCheck --check-prefix=UNKNOWN %s
// RUN: %with "fasttrack,libs=barrier fasttrack,libs=arguments" %norace %t
// RUN: %with "fasttrack,libs=barrier fasttrack,libs=arguments" %race %t.race | %FileCheck %s
// RUN: %photofinish -q record -o %t.pft -- %t && %photofinish analyze -e rdit %t.pft
// RUN: %photofinish -q record -o %t.race.pft -- %t.race && %exits 66 %photofinish analyze -e rdit %t.race.pft | %FileCheck %s
// UNKNOWN: race: read-free on freed heap block
// CHECK-NOT: heap block
// CHECK: race: write-write on {{(global )?}}racy
#include "order.h"
#include <filesystem>

using std::filesystem::filesystem_error;
filesystem_error *mine, *yours;
int sum, racy;

static void read_and_let_go() {
  for (const char c : mine->path1().native()) sum += c;
  delete mine;
#ifdef RACE
  racy = 1;
#endif
}
static void let_go() {
#ifdef RACE
  racy = 2;
#endif
  delete yours;
}

int main() {
  mine = new filesystem_error("", "/a/path/that/is/too/long/to/be/kept/inside/of/a/string", std::error_code());
  yours = new filesystem_error(*mine);
  in_turn(read_and_let_go, let_go);
  use(sum);
}
