// File descriptors come and go: the calls that make, duplicate, connect and close them.
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "runtime/descriptors.h"
#include "runtime/intercept/intercept.h"
#include "runtime/output.h"

using namespace pf::rt;

namespace {

using std::size_t;
namespace fds = pf::rt::descriptors;

void posting(int fd) {
  if (Thread* t = calling_thread(); t != nullptr) fds::post(*t, fd);
}

int made(int fd) {
  fds::opened(fd);
  return fd;
}
int made_own(int fd) {
  fds::opened_own(fd);
  return fd;
}
int duplicated(int from, int to) {
  if (to >= 0) fds::duplicated(from, to);
  return to;
}
void note_pair(const int* pair, uintptr_t pc) {
  if (Thread* t = calling_thread(); t != nullptr) note_write(*t, pair, 2 * sizeof *pair, pc);
}
// The kernel's inode tells that these two belong together.
int made_pipe(int result, const int* pair, uintptr_t pc) {
  if (result != 0) return result;
  fds::opened(pair[0]);
  fds::opened(pair[1]);
  note_pair(pair, pc);
  return result;
}

}  // namespace

// --- making ---

using Open = int (*)(const char*, int, mode_t);
using OpenAt = int (*)(int, const char*, int, mode_t);
constinit static Real<Open> real_open{"open"}, real_open64{"open64"};
constinit static Real<OpenAt> real_openat{"openat"}, real_openat64{"openat64"};
constinit static Real<int (*)(int, int, void*)> real_fcntl{"fcntl"}, real_fcntl64{"fcntl64"};
PF_REAL(creat);
PF_REAL(creat64);
PF_REAL(dup);
PF_REAL(dup2);
PF_REAL(dup3);
PF_REAL(pipe);
PF_REAL(pipe2);
PF_REAL(socket);
PF_REAL(socketpair);
PF_REAL(eventfd);
PF_REAL(timerfd_create);
PF_REAL(timerfd_settime);
PF_REAL(signalfd);
PF_REAL(inotify_init);
PF_REAL(inotify_init1);
PF_REAL(memfd_create);

// The argument after the last named one, whether or not the caller gave it.
#define PF_REST(T, LAST)                                                                                               \
  va_list rest;                                                                                                        \
  va_start(rest, LAST);                                                                                                \
  T argument = va_arg(rest, T);                                                                                        \
  va_end(rest)

PF_INTERCEPT(int, open, (const char* path, int flags, ...)) {
  PF_REST(mode_t, flags);
  return made(real_open(path, flags, argument));
}
PF_INTERCEPT(int, open64, (const char* path, int flags, ...)) {
  PF_REST(mode_t, flags);
  return made(real_open64(path, flags, argument));
}
PF_INTERCEPT(int, openat, (int at, const char* path, int flags, ...)) {
  PF_REST(mode_t, flags);
  return made(real_openat(at, path, flags, argument));
}
PF_INTERCEPT(int, openat64, (int at, const char* path, int flags, ...)) {
  PF_REST(mode_t, flags);
  return made(real_openat64(at, path, flags, argument));
}
PF_EXPORT int creat(const char* path, mode_t mode) { return made(real_creat(path, mode)); }
PF_EXPORT int creat64(const char* path, mode_t mode) { return made(real_creat64(path, mode)); }

PF_INTERCEPT(int, fcntl, (int fd, int command, ...)) {
  PF_REST(void*, command);
  const int result = real_fcntl(fd, command, argument);
  return command == F_DUPFD || command == F_DUPFD_CLOEXEC ? duplicated(fd, result) : result;
}
PF_INTERCEPT(int, fcntl64, (int fd, int command, ...)) {
  PF_REST(void*, command);
  const int result = real_fcntl64(fd, command, argument);
  return command == F_DUPFD || command == F_DUPFD_CLOEXEC ? duplicated(fd, result) : result;
}
PF_EXPORT int dup(int fd) noexcept { return duplicated(fd, real_dup(fd)); }
PF_EXPORT int dup2(int fd, int to) noexcept {
  output::make_way(to);
  if (fd != to) posting(to);  // its end
  return duplicated(fd, real_dup2(fd, to));
}
PF_EXPORT int dup3(int fd, int to, int flags) noexcept {
  output::make_way(to);
  if (fd != to) posting(to);
  return duplicated(fd, real_dup3(fd, to, flags));
}

PF_EXPORT int pipe(int* pair) noexcept { return made_pipe(real_pipe(pair), pair, PF_CALLER_PC); }
PF_EXPORT int pipe2(int* pair, int flags) noexcept { return made_pipe(real_pipe2(pair, flags), pair, PF_CALLER_PC); }
PF_EXPORT int socketpair(int family, int type, int protocol, int* pair) noexcept {
  const int result = real_socketpair(family, type, protocol, pair);
  if (result != 0) return result;
  fds::opened_pair(pair[0], pair[1]);
  note_pair(pair, PF_CALLER_PC);
  return result;
}
PF_EXPORT int socket(int family, int type, int protocol) noexcept { return made(real_socket(family, type, protocol)); }
PF_EXPORT int memfd_create(const char* name, unsigned flags) noexcept { return made(real_memfd_create(name, flags)); }
PF_EXPORT int eventfd(unsigned initial, int flags) noexcept { return made_own(real_eventfd(initial, flags)); }
PF_EXPORT int timerfd_create(clockid_t clock, int flags) noexcept {
  return made_own(real_timerfd_create(clock, flags));
}
PF_EXPORT int timerfd_settime(int fd, int flags, const itimerspec* next, itimerspec* before) noexcept {
  posting(fd);
  return real_timerfd_settime(fd, flags, next, before);
}
// With a descriptor it changes that one.
PF_EXPORT int signalfd(int fd, const sigset_t* mask, int flags) noexcept {
  const int result = real_signalfd(fd, mask, flags);
  if (fd == -1) fds::opened_for_notices(result);
  return result;
}
PF_EXPORT int inotify_init() noexcept { return made_own(real_inotify_init()); }
PF_EXPORT int inotify_init1(int flags) noexcept { return made_own(real_inotify_init1(flags)); }

PF_REAL(eventfd_read);
PF_REAL(eventfd_write);
PF_EXPORT int eventfd_read(int fd, eventfd_t* value) {
  const int result = real_eventfd_read(fd, value);
  if (Thread* t = result == 0 ? calling_thread() : nullptr; t != nullptr) {
    fds::take(*t, fd);
    note_write(*t, value, sizeof *value, PF_CALLER_PC);
  }
  return result;
}
PF_EXPORT int eventfd_write(int fd, eventfd_t value) {
  posting(fd);
  return real_eventfd_write(fd, value);
}

// --- closing: ours stay open, whoever means all of them ---

PF_REAL(close);
PF_REAL(close_range);
PF_REAL(closefrom);

PF_EXPORT int close(int fd) {
  if (output::is_ours(fd)) return 0;
  fds::closing(calling_thread(), fd);
  return real_close(fd);
}

PF_EXPORT int close_range(unsigned first, unsigned last, int flags) noexcept {
  const auto ours = static_cast<unsigned>(output::descriptor());
  if ((static_cast<unsigned>(flags) & CLOSE_RANGE_CLOEXEC) != 0 || first > last)
    return real_close_range(first, last, flags);
  fds::closing_all(calling_thread(), first, last);
  if (ours < first || ours > last) return real_close_range(first, last, flags);
  const int below = ours > first ? real_close_range(first, ours - 1, flags) : 0;
  if (below != 0 || ours == last) return below;
  return real_close_range(ours + 1, last, flags);
}
PF_EXPORT void closefrom(int first) noexcept {
  const int ours = output::descriptor(), from = first < 0 ? 0 : first;
  fds::closing_all(calling_thread(), static_cast<unsigned>(from), ~0U);
  if (ours < from) return real_closefrom(from);
  if (ours > from) real_close_range(static_cast<unsigned>(from), static_cast<unsigned>(ours) - 1, 0);
  real_closefrom(ours + 1);
}

// --- connections ---

PF_REAL(bind);
PF_REAL(listen);
PF_REAL(connect);
PF_REAL(accept);
PF_REAL(accept4);

PF_EXPORT int bind(int fd, const sockaddr* address, socklen_t size) noexcept {
  if (Thread* t = calling_thread(); t != nullptr) {
    note_read(*t, address, size, PF_CALLER_PC);
    fds::post_at_sockets(*t);
  }
  return real_bind(fd, address, size);
}
PF_EXPORT int listen(int fd, int backlog) noexcept {
  if (Thread* t = calling_thread(); t != nullptr) fds::post_at_sockets(*t);
  return real_listen(fd, backlog);
}
PF_EXPORT int connect(int fd, const sockaddr* address, socklen_t size) {
  if (Thread* t = calling_thread(); t != nullptr) {
    note_read(*t, address, size, PF_CALLER_PC);
    fds::post_at_sockets(*t);
  }
  const int result = real_connect(fd, address, size);
  fds::opened(fd);  // has a peer now
  if (Thread* t = result == 0 ? calling_thread() : nullptr; t != nullptr) fds::take_from_sockets(*t);
  return result;
}
static int accepted(int fd, const sockaddr* from, const socklen_t* from_size, socklen_t room, uintptr_t pc) {
  if (fd < 0) return fd;
  fds::opened(fd);
  Thread* t = calling_thread();
  if (t == nullptr) return fd;
  fds::take_from_sockets(*t);
  if (room == 0) return fd;
  note_write(*t, from, *from_size < room ? *from_size : room, pc);
  note_write(*t, from_size, sizeof *from_size, pc);
  return fd;
}
PF_EXPORT int accept(int fd, sockaddr* from, socklen_t* size) {
  const socklen_t room = from != nullptr && size != nullptr ? *size : 0;
  return accepted(real_accept(fd, from, size), from, size, room, PF_CALLER_PC);
}
PF_EXPORT int accept4(int fd, sockaddr* from, socklen_t* size, int flags) {
  const socklen_t room = from != nullptr && size != nullptr ? *size : 0;
  return accepted(real_accept4(fd, from, size, flags), from, size, room, PF_CALLER_PC);
}
