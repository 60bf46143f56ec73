// The order between threads that data brings along through file descriptors.
//
// Every descriptor belongs to an object: writing, sending and closing post there before the real call, and a read, a
// receive, an end of file and a readiness that came take from there after it. No value comes out before it went in,
// so an object that is shared by too many can only hide a race, never make one up. Which object it is:
//
//   pipe, FIFO            by its inode: both ends, and duplicates, have the same
//   regular file          by its inode, whoever opened it how often
//   TCP connection        by its two ports in either order: both ends, should they be in this process
//   eventfd, timerfd, epoll, inotify, socketpair    one of its own, handed on by dup
//   other sockets, connect and listen with accept              one for all of them
//   signalfd              the one of all notices (below)
//   terminals, other devices                                   one for all terminals, one for each other device
//
// The kernel is asked at the first use of a number, so descriptors that came by other ways (inherited, received, from a
// library) are known too. An epoll instance is an object itself: epoll_ctl posts there, epoll_wait takes; and so does
// everything that goes into a pipe, eventfd or socketpair it watches, since a program need not read these once woken.
// What splice() and its like move goes from one object into another for good: what goes into the first goes into the second, too.
//
// Objects are numbers out of a fixed set, given out in turn or by hash.
//
// Notices are what the system tells the program later: that a timer ran out, that an operation is over, that there is a
// message, a signal. Whoever asks for one posts at their one object, and whatever brings it takes from there: a handler, a
// signalfd, a thread that libc makes for it.
//
// Reading is not ordered with reading, nor writing with writing, and a write that had to wait for a reader is not
// ordered after it. Not seen: io_uring, what another process passes on.
#include "runtime/descriptors.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "runtime/abi/abi.h"
#include "runtime/host.h"

namespace pf::rt::descriptors {
namespace {

// An object is a number; its name for the detector is an address that nothing else has.
enum Object : uint16_t { kUnknown, kAllSockets, kManyEpolls, kManyFlows, kNotices, kFirst };
constexpr unsigned kOfEach = 4096;
enum Range : uint16_t { kOwn = 0, kPipes = kOfEach, kFiles = 2 * kOfEach, kConnections = 3 * kOfEach };
constexpr unsigned kObjects = 4 * kOfEach;
constinit char g_names[kObjects][16] = {};  // never touched

constexpr unsigned kPiece = 4096, kDescriptors = 4096 * kPiece;
constinit Pieces<uint16_t, 12, 4096> g_object_of = {};  // by descriptor
constinit uint16_t g_watched_by[kObjects] = {};         // the epoll object; one of many for more than one
constinit uint16_t g_flows_to[kObjects] = {};           // the object; one of many for more than one
constinit bool g_is_one_of_many[kObjects] = {};         // whether something flows into it by that
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

void set(int fd, uint16_t to) {
  if (fd < 0 || !g_object_of.provide(static_cast<unsigned>(fd))) return;
  __atomic_store_n(&g_object_of[static_cast<unsigned>(fd)], to, __ATOMIC_RELAXED);
}

uint16_t stored(int fd) {
  const auto at = static_cast<unsigned>(fd);
  return g_object_of.provide(at) ? __atomic_load_n(&g_object_of[at], __ATOMIC_RELAXED) : uint16_t{kUnknown};
}

// Whether a wake-up by it may be all that a program looks at.
bool is_signal(uint16_t object) { return object >= kNotices && object < kFiles; }

void post_once(Thread& t, uint16_t o) {
  host::post(t, name(o));
  if (const uint16_t by = __atomic_load_n(&g_watched_by[o], __ATOMIC_RELAXED); by != kUnknown) host::post(t, name(by));
}

// And at whatever it flows on to, a few steps far: it may flow in a circle.
void post_at(Thread& t, uint16_t o) {
  constexpr int kSteps = 4;
  for (int i = 0; i < kSteps && o != kUnknown; ++i) {
    post_once(t, o);
    o = __atomic_load_n(&g_flows_to[o], __ATOMIC_RELAXED);
  }
}

void take_from(Thread& t, uint16_t o) {
  if (o == kUnknown) return;
  host::take(t, name(o));
  if (__atomic_load_n(&g_is_one_of_many[o], __ATOMIC_RELAXED)) host::take(t, name(kManyFlows));
}

// Lets what goes into `from` go on into `to`.
void lead(uint16_t from, uint16_t to) {
  uint16_t before = kUnknown;
  if (__atomic_compare_exchange_n(&g_flows_to[from], &before, to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) ||
      before == to)
    return;
  for (const uint16_t one : {before, to}) __atomic_store_n(&g_is_one_of_many[one], true, __ATOMIC_SEQ_CST);
  __atomic_store_n(&g_flows_to[from], kManyFlows, __ATOMIC_SEQ_CST);
}

}  // namespace

void post(Thread& t, int fd) { post_at(t, object(fd)); }
void take(Thread& t, int fd) { take_from(t, object(fd)); }

void flow(Thread& t, int in, int out) {
  const uint16_t from = object(in), to = object(out);
  if (from != kUnknown && to != kUnknown && from != to) lead(from, to);
  take_from(t, from);  // what went in before; the post hands it on
  post_at(t, to);
}

void post_at_sockets(Thread& t) { host::post(t, name(kAllSockets)); }
void take_from_sockets(Thread& t) { host::take(t, name(kAllSockets)); }

void post_notice(Thread& t) { post_at(t, kNotices); }
void take_notice(Thread& t) { host::take(t, name(kNotices)); }

void watch(Thread& t, int epoll, int fd) {
  const uint16_t watched = object(fd), by = object(epoll);
  if (!is_signal(watched)) return;
  uint16_t before = kUnknown;
  if (!__atomic_compare_exchange_n(&g_watched_by[watched], &before, by, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) &&
      before != by)
    __atomic_store_n(&g_watched_by[watched], kManyEpolls, __ATOMIC_SEQ_CST);
  host::take(t, name(watched));  // what went in before it was watched; the caller's post hands it on
}
void take_woken(Thread& t, int epoll) {
  take(t, epoll);
  host::take(t, name(kManyEpolls));
}

void opened(int fd) { set(fd, kUnknown); }
void opened_own(int fd) { set(fd, own()); }
void opened_for_notices(int fd) { set(fd, kNotices); }
void opened_pair(int a, int b) {
  const uint16_t both = own();
  set(a, both);
  set(b, both);
}
void duplicated(int from, int to) {
  const uint16_t now = object(from);
  set(to, from >= 0 && now == stored(from) ? now : uint16_t{kUnknown});  // what may still change is asked for again
}

void closing(Thread* t, int fd) {
  if (t != nullptr) post(*t, fd);
  set(fd, kUnknown);
}

void closing_all(Thread* t, unsigned first, unsigned last) {
  const unsigned end = last < kDescriptors ? last + 1 : kDescriptors;
  for (unsigned fd = first; fd < end; ++fd) {
    if (!g_object_of.has(fd)) {
      fd |= kPiece - 1;
    } else if (g_object_of[fd] != kUnknown) {
      closing(t, static_cast<int>(fd));
    }
  }
}

}  // namespace pf::rt::descriptors
