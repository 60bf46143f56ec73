// The initializer of a static local runs once and is ordered before every use, by the guard.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"

struct Table {
  int words[4];
  Table() {
    for (int& word : words) word = 7;
    use(this);
  }
};
static Table& table() {
  static Table instance;
  return instance;
}
static void work() { use(table().words[3]); }

int main() {
  in_turn(work, work);
  together(work, work);
}
