// rethrow_exception gives both threads the same exception object: its reference count is safe, its members are not.
// RUN: %cxx -O1 %s -o %t && %race %t | %FileCheck %s
#include "order.h"
#include <exception>

struct Problem {
  int code = 0;
};
std::exception_ptr problem;
// CHECK: race: write-write on
int main() {
  problem = std::make_exception_ptr(Problem());
  in_turn(
      [] {
        try {
          std::rethrow_exception(problem);
        } catch (Problem& caught) {
          caught.code = 1;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        }
      },
      [] {
        try {
          std::rethrow_exception(problem);
        } catch (Problem& caught) {
          caught.code = 2;  // CHECK: #0 {{.*}}[[FILE]]:[[#@LINE]]
        }
      });
}
