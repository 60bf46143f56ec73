// What every family of interceptors needs. An interceptor is a function of libc's name that our library exports: the program calls it, it
// tells the detector, and calls the real one. It leaves errno as the real one left it: the runtime makes raw system calls only.
#pragma once
#include "runtime/abi/abi.h"
#include "runtime/host.h"
#include "runtime/libc.h"
#include "runtime/thread.h"

namespace pf::rt {

// The real function behind an interceptor, found at the first call.
template <class F>
class Real;
template <class R, class... A, bool kNoThrow>
class Real<R (*)(A...) noexcept(kNoThrow)> {
 public:
  using Function = R (*)(A...);
  consteval explicit Real(const char* name, const char* version = nullptr) : name_(name), version_(version) {}

  template <class... B>
  R operator()(B... arguments) {
    return get()(arguments...);
  }
  Function get() {
    Function f = __atomic_load_n(&found_, __ATOMIC_RELAXED);
    return f != nullptr ? f : find();
  }
  bool exists() { return get() != nullptr; }
  // Null while nobody looked for it.
  Function known() const { return __atomic_load_n(&found_, __ATOMIC_RELAXED); }

 private:
  [[gnu::noinline, gnu::cold]] Function find() {
    auto f = reinterpret_cast<Function>(version_ != nullptr ? libc::next(name_, version_) : libc::next(name_));
    __atomic_store_n(&found_, f, __ATOMIC_RELAXED);
    return f;
  }

  const char* name_;
  const char* version_;
  Function found_ = nullptr;
};

// The thread, if it is the program that called: not the runtime itself, nor a function that is intercepted already.
inline Thread* caller_thread() {
  Thread* t = self;
  return t != nullptr && (t->busy | t->inside) == 0 ? t : nullptr;
}

// The same, and the runtime meets the thread if it is new.
inline Thread* calling_thread() { return current() == nullptr ? nullptr : caller_thread(); }

// What the program reads and writes by a call.
inline void note_read(Thread& t, const volatile void* p, std::size_t n, uintptr_t pc) {
  if (n != 0) host::access(t, address_of(p), n, false, pc);
}
inline void note_write(Thread& t, const volatile void* p, std::size_t n, uintptr_t pc) {
  if (n != 0) host::access(t, address_of(p), n, true, pc);
}

// Memory allocated and freed meanwhile was so where the program called, whatever library function calls malloc; and so was what is
// recorded of locks and conditions.
class [[nodiscard]] CalledAt {
 public:
  explicit CalledAt(uintptr_t pc) : thread_(self), before_(thread_ == nullptr ? 0 : thread_->caller) {
    if (thread_ != nullptr && before_ == 0) thread_->caller = pc;
  }
  ~CalledAt() {
    if (thread_ != nullptr) thread_->caller = before_;
  }
  CalledAt(const CalledAt&) = delete;
  CalledAt& operator=(const CalledAt&) = delete;

 private:
  Thread* thread_;
  uintptr_t before_;
};

// A mutex-like lock at an address, whatever it is made of (mutex.cpp).
void lock_taken(Thread& t, uintptr_t lock, LockMode mode);
void lock_given_up(Thread& t, uintptr_t lock, uintptr_t pc);

}  // namespace pf::rt

// Declares the real function of that name with the type its header gives it.
#define PF_REAL(NAME)                                                                                                  \
  static constinit ::pf::rt::Real<decltype(&::NAME)> real_##NAME { #NAME }
// Defines an interceptor by its symbol only, where the header's declarations (overloads, variadic ones) are in the way.
#define PF_INTERCEPT(RESULT, NAME, PARAMETERS)                                                                         \
  extern "C" [[gnu::visibility("default"), gnu::used]] RESULT our_##NAME PARAMETERS __asm__(#NAME);                    \
  RESULT our_##NAME PARAMETERS
