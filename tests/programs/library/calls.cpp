// Calls into a library without instrumentation do what they do without us: arguments in all registers and on the stack, values, structures, any
// number of arguments, callbacks, exceptions and longjmp through them, threads that it makes, virtual functions, functions by address.
// RUN: %plainxx -shared -fPIC -DLIBRARY %s -o %t.so && %cxx -O1 %s %t.so -o %t && %cxx -O0 -fno-plt %s %t.so -o %t.noplt
// RUN: %with "fasttrack fasttrack,libs=barrier fasttrack,libs=arguments" %norace %t
// RUN: %with fasttrack,libs=barrier %norace %t.noplt
// RUN: %photofinish -q record -o %t.pft -- %t && %photofinish trace check %t.pft && %photofinish trace cat %t.pft | %FileCheck %s
// CHECK: miss(sum_of_many)
// CHECK: miss(call_back)
// CHECK: call(add)
// CHECK: ret(add)
// CHECK: back
#include <cstdarg>
#include <pthread.h>

struct Pair {
  double a;
  long b;
};
struct Big {
  long words[5];
  int* last;
};
struct Shape {
  virtual ~Shape();
  virtual double area(double scale) const;
};
using Callback = int (*)(int, void*);
extern "C" {
double sum_of_many(int, long, double, float, short, char, const int*, long, double, const int*, long, int*);
Pair sum_of_pair(Pair, Big);
long sum_of_any(int count, ...);
int call_back(Callback, int times, void* context);
void run_on_thread(void (*)(void*), void*);
}
Shape* new_shape();

#ifdef LIBRARY
#include <thread>
Shape::~Shape() = default;
double Shape::area(double scale) const { return 2 * scale; }
Shape* new_shape() { return new Shape; }
double sum_of_many(int a, long b, double c, float d, short e, char f, const int* g, long h, double i, const int* j,
                   long k, int* l) {
  *l = 7;
  return a + static_cast<double>(b) + c + static_cast<double>(d) + e + f + *g + static_cast<double>(h) + i + *j +
         static_cast<double>(k);
}
Pair sum_of_pair(Pair p, Big big) { return {p.a + *big.last, p.b + big.words[0] + big.words[4]}; }
long sum_of_any(int count, ...) {
  va_list rest;
  va_start(rest, count);
  double sum = 0;
  for (int i = 0; i < count; i++) sum += i % 2 ? va_arg(rest, double) : static_cast<double>(va_arg(rest, long));
  va_end(rest);
  return static_cast<long>(sum);
}
int call_back(Callback f, int times, void* context) {
  int sum = 0;
  for (int i = 0; i < times; i++) sum += f(i, context);
  return sum;
}
void run_on_thread(void (*f)(void*), void* p) { std::thread(f, p).join(); }
#else
#include <csetjmp>
#include <cstdio>
#include <cstdlib>

static void expect(bool as_it_should_be, int line) {
  if (as_it_should_be) return;
  printf("wrong in line %d\n", line);
  exit(1);
}
#define EXPECT(condition) expect(condition, __LINE__)

int calls;
extern "C" [[gnu::noinline]] int add(int n, void* context) {
  calls++;
  return n + *static_cast<int*>(context);
}
static int add_deeper(int n, void* context) { return call_back(add, 3, context) + n; }
static int throwing(int n, void*) {
  calls++;
  if (n == 2) throw n;
  return 0;
}
static jmp_buf out;
static int jumping(int n, void*) {
  calls++;
  if (n == 2) longjmp(out, 5);
  return 0;
}
static void write_to(void* p) { *static_cast<int*>(p) = 9; }

struct Square : Shape {
  double side = 3;
  double area(double scale) const override { return side * side * scale; }
};
static double area_of(const Shape& s) { return s.area(2); }

int main() {
  int one = 1, two = 2, written = 0;
  EXPECT(sum_of_many(1, 2, 3, 4, 5, 6, &one, 8, 9, &two, 11, &written) == 52);
  EXPECT(written == 7);
  const Pair pair = sum_of_pair({1.5, 2}, {{3, 0, 0, 0, 4}, &two});
  EXPECT(pair.a == 3.5 && pair.b == 9);
  EXPECT(sum_of_any(4, 1L, 2.0, 3L, 4.0) == 10);
  EXPECT(call_back(add, 4, &one) == 10 && calls == 4);
  EXPECT(call_back(add_deeper, 2, &one) == 13);
  calls = 0;
  try {
    call_back(throwing, 5, nullptr);
    EXPECT(false);
  } catch (int n) {
    EXPECT(n == 2 && calls == 3);
  }
  calls = 0;
  if (setjmp(out) == 0) {
    call_back(jumping, 5, nullptr);
    EXPECT(false);
  }
  EXPECT(calls == 3);
  for (int i = 0; i < 3; i++) {
    run_on_thread(write_to, &written);
    EXPECT(written == 9);
    written = 0;
  }
  Callback by_address[] = {add, throwing};
  EXPECT(call_back(by_address[0], 1, &two) == 2);
  auto volatile function = &sum_of_any;
  EXPECT(function == &sum_of_any && function(2, 1L, 2.0) == 3);
  Shape* shape = new_shape();
  EXPECT(area_of(*shape) == 4 && area_of(Square()) == 18);
  delete shape;
}
#endif
