// A destructor that runs while another thread makes a virtual call: the call's read of the vptr meets the write of the
// base class's destructor.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <new>

struct Base {
  virtual void work() { use(this); }
  virtual ~Base() { use(this); }
};
struct Derived : Base {
  void work() override { use(this); }
  ~Derived() override { use(this); }
};
alignas(
    Derived) char storage[sizeof(Derived)];  // CHECK: race: {{read|write}}-{{read|write}} on global storage of 8 bytes
Base* object;

int main() {
  object = new (storage) Derived;
  use(object);
  together(
      [] {
        object->work();  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        order_done(1);
      },
      [] {
        order_wait(1);
        object->~Base();
      });
}
