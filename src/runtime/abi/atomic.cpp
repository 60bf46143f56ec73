// Atomics of 1 to 16 bytes and fences. The operation is made here, under the Line of its address, so that the order of
// operations and the order in which the rules see them are the same. An atomic that spans two Lines cannot be: they are aligned.
#include "runtime/abi/abi.h"
#include "runtime/this_detector.h"

using namespace pf;
using namespace pf::rt;

namespace {

// Clang passes hints above the order; they do not matter here.
MemoryOrder order_of(int order) { return static_cast<MemoryOrder>(order & 7); }

__extension__ using Wide = unsigned __int128;

// The thread, if there is one to tell of it. It is the program's own code that runs.
Thread* program_thread() {
  Thread* t = current();
  if (t != nullptr) library::look_around(*t);
  return t;
}

// Made as sequentially consistent: at least as strong as any order asked for.
template <class T>
T exchange_if(volatile T* a, T expected, T desired) {
  if constexpr (sizeof(T) == 16) {
    auto low = static_cast<uint64_t>(expected), high = static_cast<uint64_t>(expected >> 64);
    __asm__ volatile("lock cmpxchg16b %0"
                     : "+m"(*a), "+a"(low), "+d"(high)
                     : "b"(static_cast<uint64_t>(desired)), "c"(static_cast<uint64_t>(desired >> 64))
                     : "cc", "memory");
    return static_cast<T>(high) << 64 | low;
  } else {
    __atomic_compare_exchange_n(a, &expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return expected;
  }
}

// Any read-modify-write; returns what was there before.
template <class T, class F>
T modify(volatile T* a, F next) {
  T seen = sizeof(T) == 16 ? exchange_if<T>(a, 0, 0) : *a;
  for (;;) {
    const T found = exchange_if<T>(a, seen, next(seen));
    if (found == seen) return seen;
    seen = found;
  }
}

// The processor's own instruction for it; of 16 bytes there is none.
#define PF_CHANGE(NAME, BUILTIN, EXPRESSION)                                                                           \
  struct NAME {                                                                                                        \
    template <class T>                                                                                                 \
    static T by_cpu(volatile T* a, T v) {                                                                              \
      return BUILTIN(a, v, __ATOMIC_SEQ_CST);                                                                          \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    static T next([[maybe_unused]] T x, T v) {                                                                         \
      return static_cast<T>(EXPRESSION);                                                                               \
    }                                                                                                                  \
  };
PF_CHANGE(Exchange, __atomic_exchange_n, v)
PF_CHANGE(Add, __atomic_fetch_add, x + v)
PF_CHANGE(Subtract, __atomic_fetch_sub, x - v)
PF_CHANGE(And, __atomic_fetch_and, x& v)
PF_CHANGE(Or, __atomic_fetch_or, x | v)
PF_CHANGE(Xor, __atomic_fetch_xor, x ^ v)
PF_CHANGE(Nand, __atomic_fetch_nand, ~(x& v))

template <class Change, class T>
T changed(volatile T* a, T v) {
  if constexpr (sizeof(T) == 16)
    return modify<T>(a, [v](T x) { return Change::next(x, v); });
  else
    return Change::by_cpu(a, v);
}

template <class T>
T load_value(const volatile T* a) {
  if constexpr (sizeof(T) == 16) return exchange_if<T>(const_cast<volatile T*>(a), 0, 0);
  return __atomic_load_n(a, __ATOMIC_SEQ_CST);
}

// A host that keeps no order of atomics itself: they are made in the order asked for, and mostly it only wants to know the thread.
template <class H>
concept LeavesOrderToTheCpu = requires { H::synchronizing_thread(uintptr_t{}, 0U); };

// One that may make an operation without more ado, where it means nothing to the detector.
template <class H>
concept MakesIdly = H::kHolds;

// Always true: an operation has a result.
template <class T>
bool store_value(volatile T* a, T value, int order) {
  if constexpr (sizeof(T) == 16) {
    modify<T>(a, [value](T) { return value; });
  } else if (order_of(order) != MemoryOrder::SeqCst) {
    __atomic_store_n(a, value, __ATOMIC_RELEASE);
  } else {
    __atomic_store_n(a, value, __ATOMIC_SEQ_CST);
  }
  return true;
}

// `real` makes the operation at the address it is given. What else it knows are two words, so that all of this fits into registers, and the
// usual way needs no frame.
template <class H, class T, class Real>
auto told(volatile T* a, Op op, int order, uintptr_t pc, Real real) {
  Thread* t = program_thread();
  if (t == nullptr) return real(a);
  return H::atomic(of(*t), address_of(a), sizeof(T), op, order_of(order), pc, [=] { return real(a); });
}
template <class H, class T, class Real>
[[gnu::noinline]] auto told_out_of_line(volatile T* a, Op op, int order, uintptr_t pc, Real real) {
  return told<H>(a, op, order, pc, real);
}

template <class H, class T, class Value, class Real>
[[gnu::always_inline]] inline bool made_idly(volatile T* a, Op op, int order, Real real, Value& value) {
  Thread* t = self;
  if (t == nullptr) return false;
  H::deliver_signals_of_rest(*t);
  return !t->is_outside && H::make_idly(of(*t), address_of(a), sizeof(T), op, order_of(order), real, value);
}

// `real` made at rest, or what `otherwise` makes of it.
template <class H, class T, class Real, class Otherwise>
[[gnu::always_inline]] inline auto made_at_rest(volatile T* a, Real real, Otherwise otherwise) {
  decltype(real(a)) value{};
  bool has_more = false;
  Thread* t = self;
  if (t == nullptr || t->is_outside || !H::make_at_rest(*t, address_of(a), [=] { return real(a); }, value, has_more))
    return otherwise();
  return has_more ? H::after_rest(*t, value) : value;
}
template <class H, class T, class Real>
[[gnu::noinline]] auto made_idly_or_told(volatile T* a, Op op, int order, uintptr_t pc, Real real) {
  decltype(real(a)) value{};
  const auto here = [=] { return real(a); };
  return made_idly<H>(a, op, order, here, value) ? value : told_out_of_line<H>(a, op, order, pc, real);
}

template <class H, class T, class Real>
[[gnu::always_inline]] inline auto make(volatile T* a, Op op, int order, uintptr_t pc, Real real) {
  if constexpr (MakesIdly<H>) {
    return made_at_rest<H>(a, real, [=] { return made_idly_or_told<H>(a, op, order, pc, real); });
  } else if constexpr (!LeavesOrderToTheCpu<H>) {
    return told<H>(a, op, order, pc, real);
  } else if (auto* t = H::synchronizing_thread(address_of(a), sizeof(T)); t != nullptr) [[likely]] {
    return H::unwatched_atomic(*t, op, order_of(order), [=] { return real(a); });
  } else {
    return told_out_of_line<H>(a, op, order, pc, real);
  }
}

template <class T>
T load(const volatile T* a, int order, uintptr_t pc) {
  return make<Host>(const_cast<volatile T*>(a), Op::AtomicLoad, order, pc,
                    [](volatile T* at) { return load_value(at); });
}

template <class T>
void store(volatile T* a, T value, int order, uintptr_t pc) {
  make<Host>(a, Op::AtomicStore, order, pc, [value, order](volatile T* at) { return store_value(at, value, order); });
}

template <class Change, class T>
T rmw(volatile T* a, T v, int order, uintptr_t pc) {
  return make<Host>(a, Op::AtomicRmw, order, pc, [v](volatile T* at) { return changed<Change>(at, v); });
}

template <class H, class T, class Real>
bool compare_told(volatile T* a, int success, int failure, uintptr_t pc, Real real) {
  Thread* t = program_thread();
  if (t == nullptr) return real(a);
  return H::compare_exchange(of(*t), address_of(a), sizeof(T), order_of(success), order_of(failure), pc,
                             [=] { return real(a); });
}
template <class H, class T, class Real>
[[gnu::noinline]] bool compare_told_out_of_line(volatile T* a, int success, int failure, uintptr_t pc, Real real) {
  return compare_told<H>(a, success, failure, pc, real);
}

template <class H, class T, class Real>
[[gnu::noinline]] bool compared_idly_or_told(volatile T* a, int success, int failure, uintptr_t pc, Real real) {
  bool done = false;
  const auto here = [=] { return real(a); };
  return made_idly<H>(a, Op::AtomicRmw, success, here, done)
             ? done
             : compare_told_out_of_line<H>(a, success, failure, pc, real);
}

template <class H, class T, class Real>
[[gnu::always_inline]] inline bool compare_by(volatile T* a, int success, int failure, uintptr_t pc, Real real) {
  if constexpr (MakesIdly<H>) {
    // A load, if it fails; then it is idle as well.
    return made_at_rest<H>(a, real, [=] { return compared_idly_or_told<H>(a, success, failure, pc, real); });
  } else if constexpr (!LeavesOrderToTheCpu<H>) {
    return compare_told<H>(a, success, failure, pc, real);
  } else if (auto* t = H::synchronizing_thread(address_of(a), sizeof(T)); t != nullptr) [[likely]] {
    return H::unwatched_compare_exchange(*t, order_of(success), order_of(failure), [=] { return real(a); });
  } else {
    return compare_told_out_of_line<H>(a, success, failure, pc, real);
  }
}

template <class T>
[[gnu::always_inline]] inline bool compare_exchange(volatile T* a, T* expected, T desired, int success, int failure,
                                                    uintptr_t pc) {
  const auto real = [=](volatile T* at) {
    const T found = exchange_if<T>(at, *expected, desired);
    const bool done = found == *expected;
    if (!done) *expected = found;
    return done;
  };
  return compare_by<Host>(a, success, failure, pc, real);
}

}  // namespace

#define PF_RMW(BITS, T, NAME, CHANGE)                                                                                  \
  PF_EXPORT T __tsan_atomic##BITS##_##NAME(volatile T* a, T v, int order) {                                            \
    return rmw<CHANGE, T>(a, v, order, PF_CALLER_PC);                                                                  \
  }
#define PF_COMPARE(BITS, T, STRENGTH)                                                                                  \
  PF_EXPORT int __tsan_atomic##BITS##_compare_exchange_##STRENGTH(volatile T* a, T* c, T v, int order, int fail) {     \
    return compare_exchange<T>(a, c, v, order, fail, PF_CALLER_PC) ? 1 : 0;                                            \
  }
#define PF_ATOMICS(BITS, T)                                                                                            \
  PF_EXPORT T __tsan_atomic##BITS##_load(const volatile T* a, int order) { return load<T>(a, order, PF_CALLER_PC); }   \
  PF_EXPORT void __tsan_atomic##BITS##_store(volatile T* a, T v, int order) { store<T>(a, v, order, PF_CALLER_PC); }   \
  PF_RMW(BITS, T, exchange, Exchange)                                                                                  \
  PF_RMW(BITS, T, fetch_add, Add)                                                                                      \
  PF_RMW(BITS, T, fetch_sub, Subtract)                                                                                 \
  PF_RMW(BITS, T, fetch_and, And)                                                                                      \
  PF_RMW(BITS, T, fetch_or, Or)                                                                                        \
  PF_RMW(BITS, T, fetch_xor, Xor)                                                                                      \
  PF_RMW(BITS, T, fetch_nand, Nand)                                                                                    \
  PF_COMPARE(BITS, T, strong)                                                                                          \
  PF_COMPARE(BITS, T, weak)                                                                                            \
  PF_EXPORT T __tsan_atomic##BITS##_compare_exchange_val(volatile T* a, T c, T v, int order, int fail) {               \
    compare_exchange<T>(a, &c, v, order, fail, PF_CALLER_PC);                                                          \
    return c;                                                                                                          \
  }

PF_ATOMICS(8, uint8_t)
PF_ATOMICS(16, uint16_t)
PF_ATOMICS(32, uint32_t)
PF_ATOMICS(64, uint64_t)
PF_ATOMICS(128, Wide)

PF_EXPORT void __tsan_atomic_thread_fence(int order) {
  if (Thread* t = program_thread(); t != nullptr) host::fence(*t, static_cast<int>(order_of(order)));
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
// Orders the thread with its own signal handlers only.
PF_EXPORT void __tsan_atomic_signal_fence(int) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
