// Virtual calls in two threads read the vptr and nothing writes it; construction and destruction are ordered by join.
// RUN: %cxx -O1 %s -o %t && %norace %t
#include "order.h"

struct Base {
  virtual void work() { use(this); }
  virtual ~Base() { use(this); }
};
struct Derived : Base {
  void work() override { use(this); }
};
Base* object;

int main() {
  object = new Derived;
  use(object);
  in_turn([] { object->work(); }, [] { object->work(); });
  delete object;
}
