// The functions of host.h for one detector: each brings an event to its rule under the lock of its object.
#include "runtime/carisma.h"
#include "runtime/host.h"
#include "runtime/near.h"
#include "runtime/options.h"
#include "runtime/output.h"
#include "runtime/this_detector.h"

namespace pf::rt {

const uintptr_t kCellBytes = Host::Store::kBytesPerGranule;
static_assert(kCellBytes <= kMaxCellBytes);
const char kDetectorName[] = PF_DETECTOR_NAME;
const bool kIsForSampling = false;

namespace host {
namespace {

using D = Host::D;

using tree::Message;

constexpr auto kNever = [] { return false; };

// An event of thread t at an object of kind T, brought to `rule` unless the program asked us to look away, or it is seen to change nothing.
template <class T, class Rule, class IsIdle = decltype(kNever)>
void at_object(Thread& t, uintptr_t address, Message message, Rule rule, IsIdle is_idle = kNever) {
  if (t.ignore_sync != 0) return;
  ++t.events;
  Host::pass_time(of(t));
  if (is_idle()) return;
  const Scope scope(t);
  Host::at<T>(of(t), address, [&](T& object) {
    Host::message(t, message, object);
    rule(of(t).state, object.state, of(t).env);
    of(t).renew();
  });
}

}  // namespace

void start() {
  sampler::start();
  if constexpr (Host::kHolds) {
    rest::allow({&Host::epoch,
                 &Host::has_told_nobody,
                 &Host::knows,
                 &Host::learn,
                 {.forget = &Host::forget_block, .search = &Host::search}});
  }
  if constexpr (Host::kSamples) sampling::begin(output::directory());
  install_near_code();
}
void start_in_child() {
  if constexpr (Host::kHolds) rest::start_in_child(of(*self).env.sampling);
}
void put_statistics(Text&) {}
// What the handler does is not what it interrupted has done, or is about to do again (CompactStore::repeat).
void interrupted(Thread& t) {
  of(t).env.learn();
  Host::message(t);
  rest::be_interrupted(t);
  past::be_interrupted(t);
}
void resumed(Thread&) {}
bool trapped(const siginfo_t&, ucontext_t&) { return false; }

Thread* new_thread(Thread* parent, ThreadInfo* info) {
  return Host::new_thread(static_cast<Host::HostThread*>(parent), info);
}
void end(Thread& t) { Host::end(of(t)); }
void join(Thread& t, Thread& child) { Host::join(of(t), of(child)); }
void destroy(Thread& child) { Host::destroy(of(child), of(child)); }
ClockOperations clock_operations(Thread& t) { return of(t).env.clock_operations; }

namespace {

constexpr bool kIsHybrid = rt::kIsHybrid<D>;

// What a thread holds is true even while the program asked us to look away from the order that it makes. But a set that got smaller
// must be of another epoch, as the rules rely on: then the thread ticks, by a release that nobody will acquire.
[[maybe_unused]] void let_go_of(Thread& t, HeldLock l) {
  if (t.ignore_sync != 0) {
    D::Lock nobodys{};
    D::release(of(t).state, nobodys, of(t).env);
    D::forget(nobodys, of(t).env);
    of(t).renew();
  }
  of(t).env.let_go(l);
}

}  // namespace

// The Scope is around both halves: no handler of a signal is to find the locks and the epoch of different moments.
void acquire(Thread& t, uintptr_t lock, LockMode mode) {
  const Scope scope(t);
  at_object<Host::Lock>(
      t, lock, Message::None,
      [&](auto& thread, auto& l, auto& env) {
        Hindsight<D>::acquiring(of(t), lock, l, mode);
        mode == LockMode::Write ? D::acquire(thread, l, env) : D::read_acquire(thread, l, env);
      },
      [&] { return Host::acquire_is_idle(of(t), lock, mode) || Host::acquire_at_a_glance(of(t), lock, mode); });
  if constexpr (kIsHybrid) of(t).env.hold({lock, mode});
}
void release(Thread& t, uintptr_t lock, LockMode mode) {
  const Scope scope(t);
  at_object<Host::Lock>(
      t, lock, Message::None,
      [&](auto& thread, auto& l, auto& env) {
        Hindsight<D>::releasing(of(t), l, mode);
        mode == LockMode::Write ? D::release(thread, l, env) : D::read_release(thread, l, env);
      },
      [&] { return Host::release_is_idle(of(t), lock, mode); });
  if (g_options.tree_exact) tree::note_release(*t.tree);
  if constexpr (kIsHybrid) let_go_of(t, {lock, mode});
}

void wait(Thread& t, uintptr_t condition) {
  at_object<Host::Condition>(t, condition, Message::None, [&](auto& thread, auto& c, auto& env) {
    D::wait(thread, c, env);
    rest::expect_notices(t, c.notices);
    sleep::expect(t, c.sleepers);
  });
}
void wake(Thread& t, uintptr_t condition, bool by_notice) {
  at_object<Host::Condition>(t, condition, Message::Received, [&](auto& thread, auto& c, auto& env) {
    D::wake(thread, env);
    sleep::wake(t, c.sleepers, by_notice);
  });
}
void notify(Thread& t, uintptr_t condition, bool all) {
  if (t.ignore_sync != 0) past::count_on_nobody();
  at_object<Host::Condition>(t, condition, Message::Sent, [&](auto& thread, auto& c, auto& env) {
    D::notify(thread, c, env);
    rest::notify(t, c.notices);
    sleep::notify(c.sleepers, all);
  });
}

void barrier_enter(Thread& t, uintptr_t barrier) {
  at_object<Host::Barrier>(t, barrier, Message::Sent, &D::barrier_enter);
}
void barrier_leave(Thread& t, uintptr_t barrier) {
  at_object<Host::Barrier>(t, barrier, Message::Received,
                           [](auto& thread, auto&, auto& env) { D::barrier_leave(thread, env); });
}

void post(Thread& t, uintptr_t address) { at_object<Host::Semaphore>(t, address, Message::Sent, &D::sem_post); }
void take(Thread& t, uintptr_t address) { at_object<Host::Semaphore>(t, address, Message::Received, &D::sem_wait); }
void release_atomic(Thread& t, uintptr_t address) {
  at_object<Host::Atomic>(t, address, Message::Sent, [](auto& thread, auto& a, auto& env) {
    D::atomic_after(thread, a, Op::AtomicRmw, MemoryOrder::Release, env);
  });
}
void acquire_atomic(Thread& t, uintptr_t address) {
  at_object<Host::Atomic>(t, address, Message::Received, [](auto& thread, auto& a, auto& env) {
    D::atomic_before(thread, a, Op::AtomicLoad, MemoryOrder::Acquire, env);
  });
}
namespace {

// An event of a call into a library, where the detector orders by them.
template <class AnyHost, class Rule>
void at_library(Thread& t, Rule rule) {
  if constexpr (OrdersLibraries<typename AnyHost::D>) {
    if (t.ignore_sync != 0) return;
    ++t.events;
    Host::message(t);
    rule(OnlineLibrary<AnyHost>{}, of(t));
  }
}

}  // namespace

void begin_library(Thread& t, library::Call& call) {
  at_library<Host>(t, [&](auto libraries, auto& thread) { libraries.begin(thread, call); });
}
void end_library(Thread& t, library::Call& call) {
  at_library<Host>(t, [&](auto libraries, auto& thread) { libraries.end(thread, call); });
}
void begin_callback(Thread& t, library::Call& call) {
  at_library<Host>(t, [&](auto libraries, auto& thread) { libraries.begin_callback(thread, call); });
}
void end_callback(Thread& t, library::Call& call) {
  at_library<Host>(t, [&](auto libraries, auto& thread) { libraries.end_callback(thread, call); });
}
void fence(Thread& t, int order) {
  if (t.ignore_sync != 0) return;
  const Scope scope(t);
  ++t.events;
  Host::message(t);
  Host::pass_time(of(t));
  D::fence(of(t).state, static_cast<MemoryOrder>(order), of(t).env);
  of(t).renew();
}

namespace {

template <Op kOp>
void access_any(Thread& t, uintptr_t address, uintptr_t size, uintptr_t pc) {
  ++t.accesses;
  if (watched != nullptr && Host::is_quiet(of(t), address, size)) return;
  if (!Host::is_wanted<kOp>(t, address, size)) return;
  Host::look_at_period(of(t));
  Host::access_scattered<kOp>(t, address, size, pc);
}

}  // namespace

void access(Thread& t, uintptr_t address, uintptr_t size, bool write, uintptr_t pc) {
  write ? access_any<Op::Write>(t, address, size, pc) : access_any<Op::Read>(t, address, size, pc);
}
void begin_block(Thread& t, uintptr_t address, uintptr_t size) {
  if (size == 0) return;
  const Scope scope(t);
  if (g_options.tree) tree::new_life(address, size);
  if (g_options.carisma) carisma::forget(address, size);
  Host::pass_time(of(t));
  Host::begin_block(of(t), address, size);
}
bool is_end_noticed(uintptr_t, uintptr_t) {
  if constexpr (Host::kHolds) return self == nullptr || !Host::is_all_known(of(*self));
  return true;
}
void end_block(Thread& t, uintptr_t address, uintptr_t size, uintptr_t pc) {
  if (size == 0 || t.ignore_writes != 0) return;
  const Scope scope(t);
  if (g_options.tree) tree::new_life(address, size);
  Host::pass_time(of(t));
  Host::end_block(of(t), address, size, pc);
}
void drop_block(Thread& t, uintptr_t address, uintptr_t size, uintptr_t pc) {
  if (size == 0 || t.ignore_writes != 0) return;
  if (g_options.tree) tree::new_life(address, size);
  const Scope scope(t);
  Host::drop_block(of(t), address, size, pc);
  if (g_options.carisma) carisma::drop(address, size);
}
void forget_object(Thread& t, uintptr_t address) {
  const Scope scope(t);
  Host::forget_object(of(t), address);
}

}  // namespace host
}  // namespace pf::rt
