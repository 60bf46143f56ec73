// Signals. A handler runs in between the program's own instructions, as ever; but not while the runtime is at work on the thread:
// then the signal is kept and handled when the runtime leaves. Who sends a signal comes before its handler.
#include <errno.h>
#include <pthread.h>
#include <signal.h>

#include "runtime/descriptors.h"
#include "runtime/intercept/intercept.h"
#include "runtime/literace.h"
#include "runtime/past.h"
#include "runtime/rest.h"
#include "runtime/runtime.h"

using namespace pf::rt;

namespace {

PF_REAL(sigaction);
PF_REAL(raise);
PF_REAL(kill);
PF_REAL(pthread_kill);
PF_REAL(sigqueue);
PF_REAL(pthread_sigqueue);
PF_REAL(sigwait);
PF_REAL(sigwaitinfo);
PF_REAL(sigtimedwait);
PF_REAL(sigsuspend);
PF_REAL(sigprocmask);
PF_REAL(pthread_sigmask);

constexpr int kSignals = 65;

// What the program set; the kernel has our own handler in its place. Guarded by g_lock where it changes.
struct Handler {
  union {
    void (*function)(int, siginfo_t*, void*);
    void (*plain)(int);  // without SA_SIGINFO
  };
  int flags;
  sigset_t mask;
};
constinit Handler g_handlers[kSignals] = {};
constinit SpinLock g_lock;

constinit bool g_watches_traps = false;  // SIGTRAP is ours whatever the program does with it
constexpr int kOfTraps = SA_SIGINFO | SA_NODEFER | SA_ONSTACK | SA_RESTART;  // even its handler may trap

uintptr_t order_of(int number) { return address_of(&g_handlers[number]); }
bool is_signal(int number) { return number > 0 && number < kSignals; }

// A breakpoint in code that runs with SIGTRAP blocked would end the program.
sigset_t without_traps(sigset_t set) {
  if (g_watches_traps) set.__val[0] &= ~(1UL << (SIGTRAP - 1));
  return set;
}

// The same for what a handler interrupted: ppoll() and its like have masks of their own. Until the handler returns.
void let_traps_through() {
  const unsigned long traps = 1UL << (SIGTRAP - 1);
  sys::call(SYS_rt_sigprocmask, SIG_UNBLOCK, reinterpret_cast<long>(&traps), 0, sizeof traps);
}

// Raised by the instruction itself: it cannot wait.
bool is_synchronous(int number) {
  return number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE || number == SIGTRAP ||
         number == SIGABRT || number == SIGSYS;
}

// Calls f with g_lock held. Busy meanwhile: a signal would want the lock, too.
template <class F>
auto locked(Thread* t, F f) {
  if (t == nullptr) {
    const Guard guard(g_lock);
    return f();
  }
  const Scope scope(*t);
  const Guard guard(g_lock);
  return f();
}

// A trap that is not ours and that the program has no handler for: as without us.
void trap_by_default(void (*what)(int)) {
  if (what == SIG_IGN) return;
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  real_sigaction(SIGTRAP, &action, nullptr);
  sys::call(SYS_tgkill, sys::process_id(), sys::thread_id(), SIGTRAP);
}

// Else a thread or a process sent it.
bool is_of_system(const siginfo_t& info) {
  return info.si_code != SI_USER && info.si_code != SI_QUEUE && info.si_code != SI_TKILL;
}

void handle(Thread* t, int number, siginfo_t* info, void* context) {
  const Handler handler = locked(t, [number] {
    const Handler now = g_handlers[number];
    if ((static_cast<unsigned>(now.flags) & SA_RESETHAND) != 0) g_handlers[number].function = nullptr;
    return now;
  });
  if (number == SIGTRAP && (handler.plain == SIG_DFL || handler.plain == SIG_IGN))
    return trap_by_default(handler.plain);
  if (handler.function == nullptr) return;
  const uint32_t inside = t != nullptr ? t->inside : 0;  // the handler is the program's, whatever it interrupts
  if (t != nullptr) {
    t->inside = 0;
    host::interrupted(*t);
    host::take(*t, order_of(number));
    if (is_of_system(*info)) descriptors::take_notice(*t);
    // The interrupted instruction may be about to fill the next frame.
    const auto* machine = static_cast<const ucontext_t*>(context);
    for (int i = 0; i < 2; ++i) {
      enter_function(*t, static_cast<uintptr_t>(machine->uc_mcontext.gregs[REG_RIP]) + 1,
                     address_of(__builtin_frame_address(0)));
    }
    literace::look_at_top(*t);
  }
  if ((handler.flags & SA_SIGINFO) != 0) {
    handler.function(number, info, context);
  } else {
    handler.plain(number);
  }
  if (t == nullptr) return;
  leave_function(*t);
  leave_function(*t);
  literace::look_at_top(*t);
  host::resumed(*t);
  t->inside = inside;
}

// Standard signals do not queue in the kernel either.
void keep(Thread& t, int number, const siginfo_t* info, const void* context) {
  if (t.pending == nullptr) {
    t.pending = static_cast<PendingSignal*>(map_or_die(Thread::kPendingMax * sizeof(PendingSignal), "signals"));
  }
  for (uint32_t i = 0; i < t.pending_count; ++i) {
    if (t.pending[i].number == number && number < __SIGRTMIN) return;
  }
  if (t.pending_count == Thread::kPendingMax) return;
  PendingSignal& p = t.pending[t.pending_count];
  p.number = number;
  p.info = *info;
  p.context = *static_cast<const ucontext_t*>(context);
  ++t.pending_count;
}

// The first that the mask lets through.
bool take_pending(Thread& t, unsigned long mask, PendingSignal& p) {
  for (uint32_t i = 0; i < t.pending_count; ++i) {
    if ((mask >> (t.pending[i].number - 1) & 1) != 0) continue;
    p = t.pending[i];
    --t.pending_count;
    for (; i < t.pending_count; ++i) t.pending[i] = t.pending[i + 1];
    return true;
  }
  return false;
}

void on_signal(int number, siginfo_t* info, void* context) {
  if (number == SIGTRAP && host::trapped(*info, *static_cast<ucontext_t*>(context))) return;
  if (g_watches_traps) let_traps_through();
  const int saved = errno;
  Thread* t = self;
  const bool is_busy = t != nullptr && (t->busy != 0 || t->at_rest);
  if (is_busy && !is_synchronous(number)) {
    keep(*t, number, info, context);
  } else if (is_busy) {
    // The runtime itself faulted on the program's behalf (a bad pointer given to an atomic): let the handler see it.
    const uint32_t busy = t->busy;
    const bool at_rest = t->at_rest;
    t->busy = 0;
    t->at_rest = false;
    handle(t, number, info, context);
    t->busy = busy;
    t->at_rest = at_rest;
  } else {
    handle(t, number, info, context);
  }
  errno = saved;
}

void sending(int number) {
  Thread* t = current();
  if (t == nullptr || !is_signal(number)) return;
  host::post(*t, order_of(number));
  descriptors::post_notice(*t);  // a signalfd may bring it
}

int received(int number) {
  Thread* t = current();
  if (t == nullptr || !is_signal(number)) return number;
  host::take(*t, order_of(number));
  descriptors::take_notice(*t);
  return number;
}

bool is_function(const struct sigaction& action) {
  return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}

int set_action_locked(int number, const struct sigaction* action, struct sigaction* before) {
  struct sigaction ours = action != nullptr ? *action : decltype(ours){};
  const Handler old = g_handlers[number];
  const bool keeps_ours = number == SIGTRAP && g_watches_traps;
  if (action != nullptr && is_function(*action)) {
    rest::expect_interruptions();
    past::expect_handler(number);
  }
  if (action != nullptr && (keeps_ours || is_function(*action))) {
    g_handlers[number] = {{action->sa_sigaction}, action->sa_flags, action->sa_mask};
    ours.sa_sigaction = &on_signal;
    ours.sa_flags |= SA_SIGINFO;
    ours.sa_mask = without_traps(ours.sa_mask);
    if (keeps_ours) ours.sa_flags = kOfTraps;
  }
  const int result = real_sigaction(number, action != nullptr ? &ours : nullptr, before);
  if (result != 0) g_handlers[number] = old;
  if (result == 0 && before != nullptr && before->sa_sigaction == &on_signal) {
    before->sa_sigaction = old.function;
    before->sa_flags = old.flags;
    before->sa_mask = old.mask;
  }
  return result;
}

int set_action(int number, const struct sigaction* action, struct sigaction* before) {
  if (!is_signal(number) || (action == nullptr && before == nullptr)) return real_sigaction(number, action, before);
  return locked(current(), [=] { return set_action_locked(number, action, before); });
}

sighandler_t set_handler(int number, sighandler_t handler, int flags) {
  struct sigaction action = {}, before = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  return set_action(number, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}

}  // namespace

namespace pf::rt {

namespace {

// To the kernel itself: libc would add to what was there.
void give_back(int number) {
  struct {
    void (*function)(int, siginfo_t*, void*);
    unsigned long flags;
    void (*restorer)();
    unsigned long mask;
  } action = {};
  constexpr unsigned long kRestorer = 0x04000000;  // SA_RESTORER
  struct sigaction now = {};
  const Guard guard(g_lock);
  if (real_sigaction(number, nullptr, &now) != 0 || now.sa_sigaction != &on_signal) return;
  const Handler& handler = g_handlers[number];
  action.function = handler.function;
  action.flags = static_cast<unsigned>(handler.flags);
  action.mask = handler.mask.__val[0];
  if (handler.plain != SIG_DFL && handler.plain != SIG_IGN) action.flags |= kRestorer;
  if ((action.flags & kRestorer) != 0) action.restorer = now.sa_restorer;
  sys::call(SYS_rt_sigaction, number, reinterpret_cast<long>(&action), 0, sizeof action.mask);
}

}  // namespace

void take_over_handlers() {
  for (int number = 1; number < kSignals; ++number) {
    struct sigaction now = {};
    if (number == SIGTRAP || real_sigaction(number, nullptr, &now) != 0) continue;
    if (is_function(now) && now.sa_sigaction != &on_signal)
      locked(self, [&] { return set_action_locked(number, &now, nullptr); });
  }
}

void give_handlers_back() {
  for (int number = 1; number < kSignals; ++number) {
    if (number != SIGTRAP) give_back(number);
  }
}

void unwatch_traps() {
  g_watches_traps = false;
  give_back(SIGTRAP);
}

void watch_traps() {
  struct sigaction action = {}, before = {};
  action.sa_sigaction = &on_signal;
  action.sa_flags = kOfTraps;
  real_sigaction(SIGTRAP, &action, &before);
  if (before.sa_sigaction != &on_signal) g_handlers[SIGTRAP] = {{before.sa_sigaction}, before.sa_flags, before.sa_mask};
  g_watches_traps = true;
  let_traps_through();
}

// Only those that are not blocked: inside of a handler, what is pending may be the very signal that it handles.
void deliver_pending_signals(Thread& t) {
  while (t.pending_count != 0) {
    sigset_t blocked, before;
    for (auto& word : blocked.__val) word = ~0UL;
    sys::call(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&blocked), reinterpret_cast<long>(&before), 8);
    PendingSignal p;
    sigset_t during;
    t.busy = 1;  // to copy is to call memcpy, which is ours: it must not deliver, too
    const bool taken = take_pending(t, before.__val[0], p);
    if (taken) {
      during = without_traps(g_handlers[p.number].mask);
      during.__val[0] |= before.__val[0] | 1UL << (p.number - 1);
    }
    t.busy = 0;
    if (taken) {
      sys::call(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&during), 0, 8);
      const int saved = errno;
      handle(&t, p.number, &p.info, &p.context);
      errno = saved;
    }
    sys::call(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&before), 0, 8);
    if (!taken) return;
  }
}

}  // namespace pf::rt

PF_EXPORT int sigaction(int number, const struct sigaction* action, struct sigaction* before) noexcept {
  if (action != nullptr) sending(number);
  return set_action(number, action, before);
}
PF_EXPORT sighandler_t signal(int number, sighandler_t handler) noexcept {
  sending(number);
  return set_handler(number, handler, SA_RESTART);
}
PF_EXPORT sighandler_t bsd_signal(int number, sighandler_t handler) noexcept {
  sending(number);
  return set_handler(number, handler, SA_RESTART);
}
PF_EXPORT sighandler_t sysv_signal(int number, sighandler_t handler) noexcept {
  sending(number);
  return set_handler(number, handler, static_cast<int>(SA_RESETHAND | SA_NODEFER));
}

PF_EXPORT int raise(int number) noexcept {
  sending(number);
  return real_raise(number);
}
PF_EXPORT int kill(pid_t process, int number) noexcept {
  sending(number);
  return real_kill(process, number);
}
PF_EXPORT int pthread_kill(pthread_t thread, int number) noexcept {
  sending(number);
  return real_pthread_kill(thread, number);
}
PF_EXPORT int sigqueue(pid_t process, int number, const union sigval value) noexcept {
  sending(number);
  return real_sigqueue(process, number, value);
}
PF_EXPORT int pthread_sigqueue(pthread_t thread, int number, const union sigval value) noexcept {
  sending(number);
  return real_pthread_sigqueue(thread, number, value);
}
PF_EXPORT int sigwait(const sigset_t* set, int* number) {
  const int result = real_sigwait(set, number);
  if (result == 0) received(*number);
  return result;
}
PF_EXPORT int sigwaitinfo(const sigset_t* set, siginfo_t* info) { return received(real_sigwaitinfo(set, info)); }
namespace {

// Calls f with the set to be blocked; unblocking is the program's business.
template <class F>
int with_mask(int how, const sigset_t* set, F f) {
  if (set == nullptr || how == SIG_UNBLOCK) return f(set);
  const sigset_t ours = without_traps(*set);
  return f(&ours);
}

}  // namespace

PF_EXPORT int sigprocmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  return with_mask(how, set, [=](const sigset_t* ours) { return real_sigprocmask(how, ours, before); });
}
PF_EXPORT int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  return with_mask(how, set, [=](const sigset_t* ours) { return real_pthread_sigmask(how, ours, before); });
}
PF_EXPORT int sigsuspend(const sigset_t* set) {
  return with_mask(SIG_SETMASK, set, [](const sigset_t* ours) { return real_sigsuspend(ours); });
}

PF_EXPORT int sigtimedwait(const sigset_t* set, siginfo_t* info, const timespec* limit) {
  return received(real_sigtimedwait(set, info, limit));
}
