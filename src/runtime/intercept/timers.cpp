// Timers: who sets one comes before what it starts, be that a handler or a thread of libc's.
#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "runtime/descriptors.h"
#include "runtime/intercept/intercept.h"

using namespace pf::rt;

namespace {

PF_REAL(timer_create);
PF_REAL(timer_settime);
PF_REAL(alarm);
PF_REAL(ualarm);
PF_REAL(setitimer);

void setting() {
  if (Thread* t = calling_thread(); t != nullptr) descriptors::post_notice(*t);
}

}  // namespace

PF_EXPORT int timer_create(clockid_t clock, sigevent* how, timer_t* timer) noexcept {
  setting();
  return real_timer_create(clock, how, timer);
}
PF_EXPORT int timer_settime(timer_t timer, int flags, const itimerspec* next, itimerspec* before) noexcept {
  setting();
  return real_timer_settime(timer, flags, next, before);
}
PF_EXPORT unsigned alarm(unsigned seconds) noexcept {
  setting();
  return real_alarm(seconds);
}
PF_EXPORT useconds_t ualarm(useconds_t value, useconds_t interval) noexcept {
  setting();
  return real_ualarm(value, interval);
}
PF_EXPORT int setitimer(__itimer_which_t which, const itimerval* next, itimerval* before) noexcept {
  setting();
  return real_setitimer(which, next, before);
}
