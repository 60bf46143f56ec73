// Waiting for several descriptors at once: whoever is told that something is ready comes after what made it so.
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include <cstddef>

#include "runtime/descriptors.h"
#include "runtime/intercept/intercept.h"

using namespace pf::rt;

using std::size_t;
namespace fds = pf::rt::descriptors;

PF_REAL(poll);
PF_REAL(ppoll);
PF_REAL(select);
PF_REAL(pselect);
PF_REAL(epoll_create);
PF_REAL(epoll_create1);
PF_REAL(epoll_ctl);
PF_REAL(epoll_wait);
PF_REAL(epoll_pwait);
PF_REAL(epoll_pwait2);

static int polled(int result, const pollfd* p, nfds_t count, uintptr_t pc) {
  Thread* t = result >= 0 ? calling_thread() : nullptr;
  if (t == nullptr) return result;
  for (nfds_t i = 0; i < count; ++i) {
    note_write(*t, &p[i].revents, sizeof p[i].revents, pc);
    if (p[i].revents != 0) fds::take(*t, p[i].fd);
  }
  return result;
}
static void polling(const pollfd* p, nfds_t count, uintptr_t pc) {
  Thread* t = calling_thread();
  for (nfds_t i = 0; t != nullptr && i < count; ++i) {
    note_read(*t, &p[i], offsetof(pollfd, revents), pc);  // the rest is written
  }
}
PF_EXPORT int poll(pollfd* p, nfds_t count, int timeout) {
  polling(p, count, PF_CALLER_PC);
  return polled(real_poll(p, count, timeout), p, count, PF_CALLER_PC);
}
PF_EXPORT int ppoll(pollfd* p, nfds_t count, const timespec* timeout, const sigset_t* mask) {
  polling(p, count, PF_CALLER_PC);
  return polled(real_ppoll(p, count, timeout, mask), p, count, PF_CALLER_PC);
}
constinit static Real<int (*)(pollfd*, nfds_t, int, size_t)> real___poll_chk{"__poll_chk"};
PF_EXPORT int __poll_chk(pollfd* p, nfds_t count, int timeout, size_t room) {
  return polled(real___poll_chk(p, count, timeout, room), p, count, PF_CALLER_PC);
}

static int selected(int result, int count, const fd_set* a, const fd_set* b, const fd_set* c, uintptr_t pc) {
  Thread* t = result >= 0 ? calling_thread() : nullptr;
  if (t == nullptr) return result;
  const fd_set* sets[] = {a, b, c};
  for (const fd_set* s : sets) {
    if (s == nullptr) continue;
    note_write(*t, s, static_cast<size_t>(count + 63) / 64 * 8, pc);
    // Not FD_ISSET: a program may pass more than FD_SETSIZE bits.
    const auto* words = reinterpret_cast<const unsigned long*>(s);
    for (int fd = 0; fd < count; ++fd) {
      if ((words[fd / 64] >> (fd % 64) & 1) != 0) fds::take(*t, fd);
    }
  }
  return result;
}
PF_EXPORT int select(int count, fd_set* in, fd_set* out, fd_set* other, timeval* timeout) {
  return selected(real_select(count, in, out, other, timeout), count, in, out, other, PF_CALLER_PC);
}
PF_EXPORT int pselect(int count, fd_set* in, fd_set* out, fd_set* other, const timespec* timeout,
                      const sigset_t* mask) {
  return selected(real_pselect(count, in, out, other, timeout, mask), count, in, out, other, PF_CALLER_PC);
}

static int made(int epoll) {
  fds::opened_own(epoll);
  return epoll;
}
PF_EXPORT int epoll_create(int size) noexcept { return made(real_epoll_create(size)); }
PF_EXPORT int epoll_create1(int flags) noexcept { return made(real_epoll_create1(flags)); }
PF_EXPORT int epoll_ctl(int epoll, int operation, int fd, epoll_event* event) noexcept {
  if (Thread* t = calling_thread(); t != nullptr) {
    if (operation != EPOLL_CTL_DEL) note_read(*t, event, sizeof *event, PF_CALLER_PC);
    if (operation == EPOLL_CTL_ADD) fds::watch(*t, epoll, fd);
    fds::post(*t, epoll);
  }
  return real_epoll_ctl(epoll, operation, fd, event);
}
static int epoll_woken(int result, int epoll, const epoll_event* events, uintptr_t pc) {
  Thread* t = result > 0 ? calling_thread() : nullptr;
  if (t == nullptr) return result;
  fds::take_woken(*t, epoll);
  note_write(*t, events, static_cast<size_t>(result) * sizeof *events, pc);
  return result;
}
PF_EXPORT int epoll_wait(int epoll, epoll_event* events, int room, int timeout) {
  return epoll_woken(real_epoll_wait(epoll, events, room, timeout), epoll, events, PF_CALLER_PC);
}
PF_EXPORT int epoll_pwait(int epoll, epoll_event* events, int room, int timeout, const sigset_t* mask) {
  return epoll_woken(real_epoll_pwait(epoll, events, room, timeout, mask), epoll, events, PF_CALLER_PC);
}
PF_EXPORT int epoll_pwait2(int epoll, epoll_event* events, int room, const timespec* timeout, const sigset_t* mask) {
  return epoll_woken(real_epoll_pwait2(epoll, events, room, timeout, mask), epoll, events, PF_CALLER_PC);
}
