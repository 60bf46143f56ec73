// The public interface of tsan_interface.h: what programs say about their own synchronization, and what they ask about reports.
#include <cstddef>

#include "runtime/abi/abi.h"
#include "runtime/found.h"
#include "runtime/host.h"
#include "runtime/intercept/intercept.h"
#include "runtime/registry.h"
#include "runtime/sampler.h"

using namespace pf;
using namespace pf::rt;

namespace {

// Flags of mutex annotations, by their values in tsan_interface.h.
enum MutexFlags : unsigned {
  kReadLock = 1U << 3,
  kTryLockFailed = 1U << 5,
};

LockMode mode_of(unsigned flags) { return (flags & kReadLock) != 0 ? LockMode::Read : LockMode::Write; }

// Inside of a lock that the program makes itself, nothing is watched: its atomics are not what orders.
void look_away(Thread& t) {
  ++t.ignore_reads;
  ++t.ignore_writes;
  ++t.ignore_sync;
}
void look_again(Thread& t) {
  --t.ignore_reads;
  --t.ignore_writes;
  --t.ignore_sync;
}

template <class F>
void with_thread(F f) {
  if (Thread* t = current(); t != nullptr) f(*t);
}

}  // namespace

PF_EXPORT void __tsan_acquire(void* p) {
  with_thread([p](Thread& t) { host::take(t, address_of(p)); });
}
PF_EXPORT void __tsan_release(void* p) {
  with_thread([p](Thread& t) { host::post(t, address_of(p)); });
}

// --- mutexes made by the program ---

PF_EXPORT void __tsan_mutex_create(void*, unsigned) {}
PF_EXPORT void __tsan_mutex_destroy(void* m, unsigned) {
  const uintptr_t pc = PF_CALLER_PC;
  with_thread([m, pc](Thread& t) {
    if (held_as(t, address_of(m)) != nullptr) misuse(t, "destroy of a locked mutex", address_of(m), pc);
    host::forget_object(t, address_of(m));
  });
}
PF_EXPORT void __tsan_mutex_pre_lock(void*, unsigned) { with_thread(look_away); }
PF_EXPORT void __tsan_mutex_post_lock(void* m, unsigned flags, int) {
  const uintptr_t pc = PF_CALLER_PC;
  with_thread([m, flags, pc](Thread& t) {
    look_again(t);
    if ((flags & kTryLockFailed) == 0) lock_taken(t, address_of(m), mode_of(flags), pc);
  });
}
PF_EXPORT int __tsan_mutex_pre_unlock(void* m, unsigned) {
  const uintptr_t pc = PF_CALLER_PC;
  with_thread([m, pc](Thread& t) {
    lock_given_up(t, address_of(m), pc);
    look_away(t);
  });
  return 0;
}
PF_EXPORT void __tsan_mutex_post_unlock(void*, unsigned) { with_thread(look_again); }
PF_EXPORT void __tsan_mutex_pre_signal(void*, unsigned) { with_thread(look_away); }
PF_EXPORT void __tsan_mutex_post_signal(void*, unsigned) { with_thread(look_again); }
PF_EXPORT void __tsan_mutex_pre_divert(void*, unsigned) { with_thread(look_again); }
PF_EXPORT void __tsan_mutex_post_divert(void*, unsigned) { with_thread(look_away); }

PF_EXPORT void __tsan_check_no_mutexes_held() {
  const uintptr_t pc = PF_CALLER_PC;
  with_thread([pc](Thread& t) {
    if (t.held_count != 0) misuse(t, "mutex held in the wrong context", t.held[0].address, pc);
  });
}

PF_EXPORT void __tsan_ignore_thread_begin() { with_thread(look_away); }
PF_EXPORT void __tsan_ignore_thread_end() { with_thread(look_again); }

// --- accesses that the program announces itself ---

PF_EXPORT void* __tsan_external_register_tag(const char* name) { return const_cast<char*>(name); }
PF_EXPORT void __tsan_external_register_header(void*, const char*) {}
PF_EXPORT void __tsan_external_assign_tag(void*, void*) {}
PF_EXPORT void __tsan_external_read(void* p, void* caller, void*) {
  with_thread([=](Thread& t) { host::access(t, address_of(p), 1, false, address_of(caller) - 1); });
}
PF_EXPORT void __tsan_external_write(void* p, void* caller, void*) {
  with_thread([=](Thread& t) { host::access(t, address_of(p), 1, true, address_of(caller) - 1); });
}

// --- fibers: a thread's identity moves from stack to stack ---

PF_EXPORT void* __tsan_get_current_fiber() { return current(); }
PF_EXPORT void* __tsan_create_fiber(unsigned) {
  Thread* t = current();
  return t == nullptr ? nullptr : registry::new_fiber(*t, PF_CALLER_PC);
}
PF_EXPORT void __tsan_destroy_fiber(void* fiber) {
  if (fiber != nullptr) registry::end_fiber(*static_cast<Thread*>(fiber));
}
PF_EXPORT void __tsan_switch_to_fiber(void* fiber, unsigned flags) {
  constexpr unsigned kNoOrder = 1;
  Thread* t = current();
  if (t == nullptr || fiber == nullptr) return;
  if ((flags & kNoOrder) == 0) host::post(*t, address_of(fiber));
  sampler::become(static_cast<Thread*>(fiber));
  if ((flags & kNoOrder) == 0) host::take(*self, address_of(fiber));
}
PF_EXPORT void __tsan_set_fiber_name(void* fiber, const char* name) {
  if (fiber != nullptr) registry::set_name(*static_cast<Thread*>(fiber), name);
}

PF_EXPORT void __tsan_flush_memory() {}

// --- what the suites of our peers use ---

// A barrier is one word: how many it waits for in the lowest bits, and how many came above them.
namespace {

constexpr uint32_t kArrival = 1024;

uint32_t arrivals(uint32_t barrier) { return barrier / kArrival; }

}  // namespace

PF_EXPORT void __tsan_testonly_barrier_init(uint32_t* barrier, unsigned count) { *barrier = count; }
// Orders nothing that a detector could see.
PF_EXPORT void __tsan_testonly_barrier_wait(uint32_t* barrier) {
  const uint32_t before = __atomic_fetch_add(barrier, kArrival, __ATOMIC_SEQ_CST);
  const uint32_t size = before % kArrival;
  const uint32_t last = arrivals(before) / size * size + size;
  if (arrivals(before) + 1 == last) sys::call_on(SYS_futex, barrier, FUTEX_WAKE, 0x7FFFFFFF);
  for (;;) {
    const uint32_t now = __atomic_load_n(barrier, __ATOMIC_SEQ_CST);
    if (arrivals(now) >= last) return;
    sys::call_on(SYS_futex, barrier, FUTEX_WAIT, now);
  }
}
PF_EXPORT unsigned long __tsan_testonly_shadow_stack_current_size() {
  const Thread* t = current();
  return t == nullptr ? 0 : static_cast<unsigned long>(t->top - t->bottom);
}
