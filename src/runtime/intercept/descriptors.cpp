// File descriptors: what a call reads from or writes to buffers, and the order between threads that data brings along.
//
// Every descriptor belongs to an object: writing, sending and closing post there before the real call, and a read, a
// receive, an end of file and a readiness that came take from there after it. No value comes out before it went in,
// so an object that is shared by too many can only hide a race, never make one up. Which object it is:
//
//   pipe, FIFO            by its inode: both ends, and duplicates, have the same
//   regular file          by its inode, whoever opened it how often
//   TCP connection        by its two ports in either order: both ends, should they be in this process
//   eventfd, timerfd, epoll, signalfd, inotify, socketpair    one of its own, handed on by dup
//   other sockets, connect and listen with accept              one for all of them
//   terminals, other devices                                   one for all terminals, one for each other device
//
// The kernel is asked at the first use of a number, so descriptors that came by other ways (inherited, received, from a
// library) are known too. An epoll instance is an object itself: epoll_ctl posts there, epoll_wait takes; and so does
// everything that goes into a pipe, eventfd or socketpair it watches, since a program need not read these once woken.
// Objects are numbers out of a fixed set, given out in turn or by hash.
//
// Reading is not ordered with reading, nor writing with writing, and a write that had to wait for a reader is not
// ordered after it. Not seen: io_uring, aio, message queues, what another process passes on.
#include "runtime/intercept/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime/output.h"

using namespace pf::rt;

namespace pf::rt::descriptors {
namespace {

// An object is a number; its name for the detector is an address that nothing else has.
enum Object : uint16_t { kUnknown, kAllSockets, kManyEpolls, kFirst };
constexpr unsigned kOfEach = 4096;
enum Range : uint16_t { kOwn = 0, kPipes = kOfEach, kFiles = 2 * kOfEach, kConnections = 3 * kOfEach };
constexpr unsigned kObjects = 4 * kOfEach;
constinit char g_names[kObjects][16] = {};  // never touched

constexpr unsigned kPiece = 4096, kDescriptors = 4096 * kPiece;
constinit Pieces<uint16_t, 12, 4096> g_object_of = {};  // by descriptor
constinit uint16_t g_watched_by[kObjects] = {};         // the epoll object; one of many for more than one
constinit uint32_t g_given = 0;

uintptr_t name(unsigned object) { return address_of(g_names[object]); }

uint16_t hashed(Range range, uint64_t a, uint64_t b) {
  const uint64_t hash = (a * 0x9E3779B97F4A7C15U ^ b) * 0xC2B2AE3D27D4EB4FU;
  return static_cast<uint16_t>(range + (hash >> 32) % kOfEach);
}
uint16_t own() {
  const uint32_t n = __atomic_fetch_add(&g_given, 1, __ATOMIC_RELAXED);
  return static_cast<uint16_t>(kFirst + n % (kOfEach - kFirst));
}

// The kernel's word for the socket's own or its peer's port; 0 for what is not of the internet, -1 for none.
int port(long call, int fd) {
  sockaddr_in6 address{};
  socklen_t size = sizeof address;
  if (sys::failed(sys::call(call, fd, reinterpret_cast<long>(&address), reinterpret_cast<long>(&size)))) return -1;
  return address.sin6_family == AF_INET || address.sin6_family == AF_INET6 ? address.sin6_port : 0;
}

struct Kind {
  uint16_t object;
  bool stays;  // until the number is closed
};

Kind kind_of_socket(int fd) {
  int type = 0;
  socklen_t size = sizeof type;
  sys::call(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, reinterpret_cast<long>(&type), reinterpret_cast<long>(&size));
  const int mine = port(SYS_getsockname, fd);
  if (type != SOCK_STREAM || mine <= 0) return {kAllSockets, true};
  const int peers = port(SYS_getpeername, fd);
  if (peers <= 0) return {kAllSockets, false};  // not connected yet
  return {hashed(kConnections, static_cast<uint64_t>(mine < peers ? mine : peers),
                 static_cast<uint64_t>(mine < peers ? peers : mine)),
          true};
}

Kind kind_of(int fd) {
  struct stat is{};
  if (sys::failed(sys::call(SYS_fstat, fd, reinterpret_cast<long>(&is)))) return {kUnknown, false};
  if (S_ISSOCK(is.st_mode)) return kind_of_socket(fd);
  if (S_ISFIFO(is.st_mode)) return {hashed(kPipes, is.st_dev, is.st_ino), true};
  if (!S_ISCHR(is.st_mode)) return {hashed(kFiles, is.st_dev, is.st_ino), true};
  const unsigned driver = major(is.st_rdev);
  const bool terminal = driver == 4 || driver == 5 || (driver >= 128 && driver < 144);
  return {hashed(kFiles, 0, terminal ? 0 : is.st_rdev), true};
}

uint16_t object(int fd) {
  if (fd < 0) return kUnknown;
  if (!g_object_of.provide(static_cast<unsigned>(fd))) return kAllSockets;
  uint16_t& entry = g_object_of[static_cast<unsigned>(fd)];
  uint16_t known = __atomic_load_n(&entry, __ATOMIC_RELAXED);
  if (known != kUnknown) return known;
  const Kind kind = kind_of(fd);
  if (!kind.stays ||
      __atomic_compare_exchange_n(&entry, &known, kind.object, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    return kind.object;
  return known;
}

void set(int fd, uint16_t object) {
  if (fd < 0 || !g_object_of.provide(static_cast<unsigned>(fd))) return;
  __atomic_store_n(&g_object_of[static_cast<unsigned>(fd)], object, __ATOMIC_RELAXED);
}

// Calls f(fd) for the numbers in a range that we know something of.
template <class F>
void for_each_known(unsigned first, unsigned last, F f) {
  const unsigned end = last < kDescriptors ? last + 1 : kDescriptors;
  for (unsigned fd = first; fd < end; ++fd) {
    if (!g_object_of.has(fd)) {
      fd |= kPiece - 1;
    } else if (g_object_of[fd] != kUnknown) {
      f(static_cast<int>(fd));
    }
  }
}

// Whether a wake-up by it may be all that a program looks at.
bool is_signal(uint16_t object) { return object >= kFirst && object < kFiles; }

void watch(int epoll, int fd) {
  const uint16_t watched = object(fd), by = object(epoll);
  if (!is_signal(watched)) return;
  uint16_t before = kUnknown;
  if (__atomic_compare_exchange_n(&g_watched_by[watched], &before, by, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
      before == by)
    return;
  __atomic_store_n(&g_watched_by[watched], kManyEpolls, __ATOMIC_RELAXED);
}

void take_woken(Thread& t, int epoll) {
  take(t, epoll);
  host::take(t, name(kManyEpolls));
}

}  // namespace

void post(Thread& t, int fd) {
  const uint16_t o = object(fd);
  if (o == kUnknown) return;
  host::post(t, name(o));
  if (const uint16_t by = __atomic_load_n(&g_watched_by[o], __ATOMIC_RELAXED); by != kUnknown) host::post(t, name(by));
}

void take(Thread& t, int fd) {
  if (const uint16_t o = object(fd); o != kUnknown) host::take(t, name(o));
}

void opened(int fd) { set(fd, kUnknown); }

void closing(Thread* t, int fd) {
  if (t != nullptr) post(*t, fd);
  set(fd, kUnknown);
}

}  // namespace pf::rt::descriptors

namespace {

using std::size_t;
namespace fds = pf::rt::descriptors;

Thread* calling() { return current() == nullptr ? nullptr : caller_thread(); }

// --- buffers ---

void note_pieces(Thread& t, const iovec* v, int count, size_t bytes, bool write, uintptr_t pc) {
  if (count <= 0) return;
  note_read(t, v, static_cast<size_t>(count) * sizeof *v, pc);
  for (int i = 0; i < count && bytes != 0; ++i) {
    const size_t n = v[i].iov_len < bytes ? v[i].iov_len : bytes;
    if (n != 0) host::access(t, address_of(v[i].iov_base), n, write, pc);
    bytes -= n;
  }
}
void note_message(Thread& t, const msghdr& m, size_t bytes, bool write, uintptr_t pc) {
  note_pieces(t, m.msg_iov, static_cast<int>(m.msg_iovlen), bytes, write, pc);
  if (m.msg_name != nullptr && m.msg_namelen != 0) host::access(t, address_of(m.msg_name), m.msg_namelen, write, pc);
  if (m.msg_control != nullptr && m.msg_controllen != 0)
    host::access(t, address_of(m.msg_control), m.msg_controllen, write, pc);
}

// --- the shapes of calls; `call` is the real one ---

template <class Call>
ssize_t reading(int fd, void* to, uintptr_t pc, Call call) {
  const ssize_t n = call();
  Thread* t = n >= 0 ? calling() : nullptr;
  if (t == nullptr) return n;
  fds::take(*t, fd);
  note_write(*t, to, static_cast<size_t>(n), pc);
  return n;
}

template <class Call>
ssize_t reading_pieces(int fd, const iovec* v, int count, uintptr_t pc, Call call) {
  const ssize_t n = call();
  Thread* t = n >= 0 ? calling() : nullptr;
  if (t == nullptr) return n;
  fds::take(*t, fd);
  note_pieces(*t, v, count, static_cast<size_t>(n), true, pc);
  return n;
}

void writing(int fd, const void* from, size_t n, uintptr_t pc) {
  Thread* t = calling();
  if (t == nullptr) return;
  note_read(*t, from, n, pc);
  fds::post(*t, fd);
}

void writing_pieces(int fd, const iovec* v, int count, uintptr_t pc) {
  Thread* t = calling();
  if (t == nullptr) return;
  note_pieces(*t, v, count, SIZE_MAX, false, pc);
  fds::post(*t, fd);
}

void posting(int fd) {
  if (Thread* t = calling(); t != nullptr) fds::post(*t, fd);
}
template <class Result>
Result taken(int fd, Result result) {
  Thread* t = result >= 0 ? calling() : nullptr;
  if (t != nullptr) fds::take(*t, fd);
  return result;
}

int made(int fd) {
  fds::opened(fd);
  return fd;
}
int made_own(int fd) {
  fds::set(fd, fds::own());
  return fd;
}
int made_pair(int result, const int* pair, bool own, uintptr_t pc) {
  if (result != 0) return result;
  const uint16_t object = own ? fds::own() : uint16_t{fds::kUnknown};
  fds::set(pair[0], object);
  fds::set(pair[1], object);
  if (Thread* t = calling(); t != nullptr) note_write(*t, pair, 2 * sizeof *pair, pc);
  return result;
}
int duplicated(int from, int to) {
  if (to >= 0) fds::set(to, fds::object(from));
  return to;
}

// Descriptors that came in a message are new here.
void open_received(msghdr& m) {
  for (cmsghdr* c = CMSG_FIRSTHDR(&m); c != nullptr; c = CMSG_NXTHDR(&m, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const size_t bytes = c->cmsg_len - CMSG_LEN(0);
    for (size_t at = 0; at + sizeof(int) <= bytes; at += sizeof(int)) {
      int fd = -1;
      __builtin_memcpy(&fd, CMSG_DATA(c) + at, sizeof fd);
      fds::opened(fd);
    }
  }
}
void received(Thread& t, msghdr& m, size_t bytes, uintptr_t pc) {
  note_message(t, m, bytes, true, pc);
  open_received(m);
}

}  // namespace

// --- reading ---

PF_REAL(read);
PF_REAL(pread);
PF_REAL(pread64);
PF_REAL(readv);
PF_REAL(preadv);
PF_REAL(preadv64);
PF_REAL(recv);
PF_REAL(recvfrom);
PF_REAL(recvmsg);
PF_REAL(recvmmsg);

PF_EXPORT ssize_t read(int fd, void* to, size_t n) {
  return reading(fd, to, PF_CALLER_PC, [&] { return real_read(fd, to, n); });
}
PF_EXPORT ssize_t pread(int fd, void* to, size_t n, off_t at) {
  return reading(fd, to, PF_CALLER_PC, [&] { return real_pread(fd, to, n, at); });
}
PF_EXPORT ssize_t pread64(int fd, void* to, size_t n, off64_t at) {
  return reading(fd, to, PF_CALLER_PC, [&] { return real_pread64(fd, to, n, at); });
}
PF_EXPORT ssize_t readv(int fd, const iovec* v, int count) {
  return reading_pieces(fd, v, count, PF_CALLER_PC, [&] { return real_readv(fd, v, count); });
}
PF_EXPORT ssize_t preadv(int fd, const iovec* v, int count, off_t at) {
  return reading_pieces(fd, v, count, PF_CALLER_PC, [&] { return real_preadv(fd, v, count, at); });
}
PF_EXPORT ssize_t preadv64(int fd, const iovec* v, int count, off64_t at) {
  return reading_pieces(fd, v, count, PF_CALLER_PC, [&] { return real_preadv64(fd, v, count, at); });
}
// With MSG_TRUNC the answer may be more than there was room for.
PF_EXPORT ssize_t recv(int fd, void* to, size_t n, int flags) {
  ssize_t whole = 0;
  reading(fd, to, PF_CALLER_PC, [&] {
    whole = real_recv(fd, to, n, flags);
    return whole > static_cast<ssize_t>(n) ? static_cast<ssize_t>(n) : whole;
  });
  return whole;
}
PF_EXPORT ssize_t recvfrom(int fd, void* to, size_t n, int flags, sockaddr* from, socklen_t* from_size) {
  const socklen_t room = from != nullptr && from_size != nullptr ? *from_size : 0;
  ssize_t whole = 0;
  reading(fd, to, PF_CALLER_PC, [&] {
    whole = real_recvfrom(fd, to, n, flags, from, from_size);
    return whole > static_cast<ssize_t>(n) ? static_cast<ssize_t>(n) : whole;
  });
  if (Thread* t = whole >= 0 && room != 0 ? calling() : nullptr; t != nullptr) {
    note_write(*t, from, *from_size < room ? *from_size : room, PF_CALLER_PC);
    note_write(*t, from_size, sizeof *from_size, PF_CALLER_PC);
  }
  return whole;
}
PF_EXPORT ssize_t recvmsg(int fd, msghdr* m, int flags) {
  const ssize_t n = real_recvmsg(fd, m, flags);
  if (Thread* t = n >= 0 ? calling() : nullptr; t != nullptr) {
    fds::take(*t, fd);
    received(*t, *m, static_cast<size_t>(n), PF_CALLER_PC);
  }
  return n;
}
PF_EXPORT int recvmmsg(int fd, mmsghdr* m, unsigned count, int flags, timespec* timeout) {
  const int n = real_recvmmsg(fd, m, count, flags, timeout);
  if (Thread* t = n >= 0 ? calling() : nullptr; t != nullptr) {
    fds::take(*t, fd);
    for (int i = 0; i < n; ++i) {
      note_write(*t, &m[i].msg_len, sizeof m[i].msg_len, PF_CALLER_PC);
      received(*t, m[i].msg_hdr, m[i].msg_len, PF_CALLER_PC);
    }
  }
  return n;
}

#define PF_READ_CHECKED(NAME, PARAMETERS, ...)                                                                         \
  static constinit Real<ssize_t(*) PARAMETERS> real_##NAME{#NAME};                                                     \
  PF_EXPORT ssize_t NAME PARAMETERS {                                                                                  \
    return reading(fd, to, PF_CALLER_PC, [&] { return real_##NAME(__VA_ARGS__); });                                    \
  }
PF_READ_CHECKED(__read_chk, (int fd, void* to, size_t n, size_t room), fd, to, n, room)
PF_READ_CHECKED(__pread_chk, (int fd, void* to, size_t n, off_t at, size_t room), fd, to, n, at, room)
PF_READ_CHECKED(__pread64_chk, (int fd, void* to, size_t n, off64_t at, size_t room), fd, to, n, at, room)
PF_READ_CHECKED(__recv_chk, (int fd, void* to, size_t n, size_t room, int flags), fd, to, n, room, flags)
PF_READ_CHECKED(__recvfrom_chk,
                (int fd, void* to, size_t n, size_t room, int flags, sockaddr* from, socklen_t* from_size), fd, to, n,
                room, flags, from, from_size)

// --- writing ---

PF_REAL(write);
PF_REAL(pwrite);
PF_REAL(pwrite64);
PF_REAL(writev);
PF_REAL(pwritev);
PF_REAL(pwritev64);
PF_REAL(send);
PF_REAL(sendto);
PF_REAL(sendmsg);
PF_REAL(sendmmsg);
PF_REAL(sendfile);
PF_REAL(sendfile64);
PF_REAL(splice);
PF_REAL(tee);
PF_REAL(copy_file_range);
PF_REAL(shutdown);
PF_REAL(flock);

PF_EXPORT ssize_t write(int fd, const void* from, size_t n) {
  writing(fd, from, n, PF_CALLER_PC);
  return real_write(fd, from, n);
}
PF_EXPORT ssize_t pwrite(int fd, const void* from, size_t n, off_t at) {
  writing(fd, from, n, PF_CALLER_PC);
  return real_pwrite(fd, from, n, at);
}
PF_EXPORT ssize_t pwrite64(int fd, const void* from, size_t n, off64_t at) {
  writing(fd, from, n, PF_CALLER_PC);
  return real_pwrite64(fd, from, n, at);
}
PF_EXPORT ssize_t writev(int fd, const iovec* v, int count) {
  writing_pieces(fd, v, count, PF_CALLER_PC);
  return real_writev(fd, v, count);
}
PF_EXPORT ssize_t pwritev(int fd, const iovec* v, int count, off_t at) {
  writing_pieces(fd, v, count, PF_CALLER_PC);
  return real_pwritev(fd, v, count, at);
}
PF_EXPORT ssize_t pwritev64(int fd, const iovec* v, int count, off64_t at) {
  writing_pieces(fd, v, count, PF_CALLER_PC);
  return real_pwritev64(fd, v, count, at);
}
PF_EXPORT ssize_t send(int fd, const void* from, size_t n, int flags) {
  writing(fd, from, n, PF_CALLER_PC);
  return real_send(fd, from, n, flags);
}
PF_EXPORT ssize_t sendto(int fd, const void* from, size_t n, int flags, const sockaddr* to, socklen_t to_size) {
  writing(fd, from, n, PF_CALLER_PC);
  return real_sendto(fd, from, n, flags, to, to_size);
}
PF_EXPORT ssize_t sendmsg(int fd, const msghdr* m, int flags) {
  if (Thread* t = calling(); t != nullptr) {
    note_message(*t, *m, SIZE_MAX, false, PF_CALLER_PC);
    fds::post(*t, fd);
  }
  return real_sendmsg(fd, m, flags);
}
PF_EXPORT int sendmmsg(int fd, mmsghdr* m, unsigned count, int flags) {
  Thread* t = calling();
  if (t != nullptr) {
    for (unsigned i = 0; i < count; ++i) note_message(*t, m[i].msg_hdr, SIZE_MAX, false, PF_CALLER_PC);
    fds::post(*t, fd);
  }
  const int n = real_sendmmsg(fd, m, count, flags);
  for (int i = 0; t != nullptr && i < n; ++i) note_write(*t, &m[i].msg_len, sizeof m[i].msg_len, PF_CALLER_PC);
  return n;
}
PF_EXPORT ssize_t sendfile(int out, int in, off_t* at, size_t n) noexcept {
  posting(out);
  return taken(in, real_sendfile(out, in, at, n));
}
PF_EXPORT ssize_t sendfile64(int out, int in, off64_t* at, size_t n) noexcept {
  posting(out);
  return taken(in, real_sendfile64(out, in, at, n));
}
PF_EXPORT ssize_t splice(int in, off64_t* in_at, int out, off64_t* out_at, size_t n, unsigned flags) {
  posting(out);
  return taken(in, real_splice(in, in_at, out, out_at, n, flags));
}
PF_EXPORT ssize_t tee(int in, int out, size_t n, unsigned flags) {
  posting(out);
  return taken(in, real_tee(in, out, n, flags));
}
PF_EXPORT ssize_t copy_file_range(int in, off64_t* in_at, int out, off64_t* out_at, size_t n, unsigned flags) {
  posting(out);
  return taken(in, real_copy_file_range(in, in_at, out, out_at, n, flags));
}
PF_EXPORT int shutdown(int fd, int how) noexcept {
  posting(fd);
  return real_shutdown(fd, how);
}
PF_EXPORT int flock(int fd, int operation) noexcept {
  posting(fd);  // unlocks, or trades one lock for another
  const int result = real_flock(fd, operation);
  return (operation & LOCK_UN) != 0 ? result : taken(fd, result);
}

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

PF_EXPORT int pipe(int* pair) noexcept { return made_pair(real_pipe(pair), pair, false, PF_CALLER_PC); }
PF_EXPORT int pipe2(int* pair, int flags) noexcept {
  return made_pair(real_pipe2(pair, flags), pair, false, PF_CALLER_PC);
}
PF_EXPORT int socketpair(int family, int type, int protocol, int* pair) noexcept {
  return made_pair(real_socketpair(family, type, protocol, pair), pair, true, PF_CALLER_PC);
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
  return fd == -1 ? made_own(result) : result;
}
PF_EXPORT int inotify_init() noexcept { return made_own(real_inotify_init()); }
PF_EXPORT int inotify_init1(int flags) noexcept { return made_own(real_inotify_init1(flags)); }

PF_REAL(eventfd_read);
PF_REAL(eventfd_write);
PF_EXPORT int eventfd_read(int fd, eventfd_t* value) {
  const int result = taken(fd, real_eventfd_read(fd, value));
  if (Thread* t = result == 0 ? calling() : nullptr; t != nullptr) note_write(*t, value, sizeof *value, PF_CALLER_PC);
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
  fds::closing(calling(), fd);
  return real_close(fd);
}

// Of the numbers in a range, those that were ever used here are few.
static void closing_all(unsigned first, unsigned last) {
  Thread* t = calling();
  fds::for_each_known(first, last, [t](int fd) { fds::closing(t, fd); });
}

PF_EXPORT int close_range(unsigned first, unsigned last, int flags) noexcept {
  const auto ours = static_cast<unsigned>(output::descriptor());
  if ((static_cast<unsigned>(flags) & CLOSE_RANGE_CLOEXEC) != 0 || first > last)
    return real_close_range(first, last, flags);
  closing_all(first, last);
  if (ours < first || ours > last) return real_close_range(first, last, flags);
  const int below = ours > first ? real_close_range(first, ours - 1, flags) : 0;
  if (below != 0 || ours == last) return below;
  return real_close_range(ours + 1, last, flags);
}
PF_EXPORT void closefrom(int first) noexcept {
  const int ours = output::descriptor(), from = first < 0 ? 0 : first;
  closing_all(static_cast<unsigned>(from), ~0U);
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
  if (Thread* t = calling(); t != nullptr) {
    note_read(*t, address, size, PF_CALLER_PC);
    host::post(*t, fds::name(fds::kAllSockets));
  }
  return real_bind(fd, address, size);
}
PF_EXPORT int listen(int fd, int backlog) noexcept {
  if (Thread* t = calling(); t != nullptr) host::post(*t, fds::name(fds::kAllSockets));
  return real_listen(fd, backlog);
}
PF_EXPORT int connect(int fd, const sockaddr* address, socklen_t size) {
  if (Thread* t = calling(); t != nullptr) {
    note_read(*t, address, size, PF_CALLER_PC);
    host::post(*t, fds::name(fds::kAllSockets));
  }
  const int result = real_connect(fd, address, size);
  fds::opened(fd);  // has a peer now
  if (Thread* t = result == 0 ? calling() : nullptr; t != nullptr) host::take(*t, fds::name(fds::kAllSockets));
  return result;
}
static int accepted(int fd, const sockaddr* from, const socklen_t* from_size, socklen_t room, uintptr_t pc) {
  if (fd < 0) return fd;
  fds::opened(fd);
  Thread* t = calling();
  if (t == nullptr) return fd;
  host::take(*t, fds::name(fds::kAllSockets));
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

// --- waiting for several ---

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
  Thread* t = result >= 0 ? calling() : nullptr;
  if (t == nullptr) return result;
  for (nfds_t i = 0; i < count; ++i) {
    note_write(*t, &p[i].revents, sizeof p[i].revents, pc);
    if (p[i].revents != 0) fds::take(*t, p[i].fd);
  }
  return result;
}
static void polling(const pollfd* p, nfds_t count, uintptr_t pc) {
  Thread* t = calling();
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
  Thread* t = result >= 0 ? calling() : nullptr;
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

PF_EXPORT int epoll_create(int size) noexcept { return made_own(real_epoll_create(size)); }
PF_EXPORT int epoll_create1(int flags) noexcept { return made_own(real_epoll_create1(flags)); }
PF_EXPORT int epoll_ctl(int epoll, int operation, int fd, epoll_event* event) noexcept {
  if (Thread* t = calling(); t != nullptr) {
    if (operation != EPOLL_CTL_DEL) note_read(*t, event, sizeof *event, PF_CALLER_PC);
    if (operation == EPOLL_CTL_ADD) fds::watch(epoll, fd);
    fds::post(*t, epoll);
  }
  return real_epoll_ctl(epoll, operation, fd, event);
}
static int epoll_woken(int result, int epoll, const epoll_event* events, uintptr_t pc) {
  Thread* t = result > 0 ? calling() : nullptr;
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
