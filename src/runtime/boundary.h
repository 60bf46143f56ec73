// Where instrumented code calls code that is not: the entries of its tables of addresses are pointed at trampolines, which tell
// library_calls.h of the call and jump on to where it was going. No return address is touched, so exceptions, longjmp and
// debuggers see what they always see.
//
// Seen are calls by name into another module, and of the virtual functions of classes whose tables it exports. Not seen: calls through
// other pointers (dlsym, tables of functions, a class inside the library), and code without instrumentation inside of an
// instrumented module.
#pragma once
#include <cstdint>

namespace pf::rt::boundary {

enum class Kind : uint8_t {
  Instrumented,
  Known,      // libc and its like, and we ourselves: what they order is known without
  Stateless,  // orders by nothing but what its callers hand to it: the C++ library, and what the user says is so
  Stateful,   // may keep locks and queues of its own
};

struct Module {
  uintptr_t begin, end, data_begin, data_end, text_begin, text_end;  // data: without constants
  Kind kind;
  uint32_t reached_count;
  const Module** reached;  // the stateful ones that a call into this one may come to, itself included
};

// As of the last install(); null for what is in none.
const Module* module_at(uintptr_t address);

struct Function {
  uintptr_t target;  // first: the trampoline jumps there
  const Module* owner;
  uintptr_t trampoline;
  bool loads_modules;  // dlopen: when it is back there may be more to install
};

// In what is loaded now. To be called again after each change.
void install();

// Whether the name is among the patterns, which stand apart by '/'; '*' is any text.
bool matches(const char* name, const char* patterns, uintptr_t size);

}  // namespace pf::rt::boundary
