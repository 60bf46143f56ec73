// Reading and writing by file descriptor, sockets included: the buffers, and the order that data brings along.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime/descriptors.h"
#include "runtime/intercept/intercept.h"
#include "runtime/intercept/pieces.h"

using namespace pf::rt;

namespace {

using std::size_t;
namespace fds = pf::rt::descriptors;

// --- buffers ---

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
  Thread* t = n >= 0 ? calling_thread() : nullptr;
  if (t == nullptr) return n;
  fds::take(*t, fd);
  note_write(*t, to, static_cast<size_t>(n), pc);
  return n;
}

template <class Call>
ssize_t reading_pieces(int fd, const iovec* v, int count, uintptr_t pc, Call call) {
  const ssize_t n = call();
  Thread* t = n >= 0 ? calling_thread() : nullptr;
  if (t == nullptr) return n;
  fds::take(*t, fd);
  note_pieces(*t, v, count, static_cast<size_t>(n), true, pc);
  return n;
}

void writing(int fd, const void* from, size_t n, uintptr_t pc) {
  Thread* t = calling_thread();
  if (t == nullptr) return;
  note_read(*t, from, n, pc);
  fds::post(*t, fd);
}

void writing_pieces(int fd, const iovec* v, int count, uintptr_t pc) {
  Thread* t = calling_thread();
  if (t == nullptr) return;
  note_pieces(*t, v, count, SIZE_MAX, false, pc);
  fds::post(*t, fd);
}

void posting(int fd) {
  if (Thread* t = calling_thread(); t != nullptr) fds::post(*t, fd);
}
template <class Result>
Result taken(int fd, Result result) {
  Thread* t = result >= 0 ? calling_thread() : nullptr;
  if (t != nullptr) fds::take(*t, fd);
  return result;
}

// The call reads it and moves it on.
void note_offset(const off64_t* at, uintptr_t pc) {
  Thread* t = at != nullptr ? calling_thread() : nullptr;
  if (t != nullptr) note_write(*t, at, sizeof *at, pc);
}
template <class Call>
ssize_t moving(int in, int out, const off64_t* in_at, uintptr_t pc, Call call) {
  note_offset(in_at, pc);
  if (Thread* t = calling_thread(); t != nullptr) fds::flow(*t, in, out);
  return taken(in, call());
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
PF_REAL(preadv2);
PF_REAL(preadv64v2);
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
PF_EXPORT ssize_t preadv2(int fd, const iovec* v, int count, off_t at, int flags) {
  return reading_pieces(fd, v, count, PF_CALLER_PC, [&] { return real_preadv2(fd, v, count, at, flags); });
}
PF_EXPORT ssize_t preadv64v2(int fd, const iovec* v, int count, off64_t at, int flags) {
  return reading_pieces(fd, v, count, PF_CALLER_PC, [&] { return real_preadv64v2(fd, v, count, at, flags); });
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
  if (Thread* t = whole >= 0 && room != 0 ? calling_thread() : nullptr; t != nullptr) {
    note_write(*t, from, *from_size < room ? *from_size : room, PF_CALLER_PC);
    note_write(*t, from_size, sizeof *from_size, PF_CALLER_PC);
  }
  return whole;
}
PF_EXPORT ssize_t recvmsg(int fd, msghdr* m, int flags) {
  const ssize_t n = real_recvmsg(fd, m, flags);
  if (Thread* t = n >= 0 ? calling_thread() : nullptr; t != nullptr) {
    fds::take(*t, fd);
    received(*t, *m, static_cast<size_t>(n), PF_CALLER_PC);
  }
  return n;
}
PF_EXPORT int recvmmsg(int fd, mmsghdr* m, unsigned count, int flags, timespec* timeout) {
  const int n = real_recvmmsg(fd, m, count, flags, timeout);
  if (Thread* t = n >= 0 ? calling_thread() : nullptr; t != nullptr) {
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
PF_REAL(pwritev2);
PF_REAL(pwritev64v2);
PF_REAL(send);
PF_REAL(sendto);
PF_REAL(sendmsg);
PF_REAL(sendmmsg);
PF_REAL(sendfile);
PF_REAL(sendfile64);
PF_REAL(splice);
PF_REAL(tee);
PF_REAL(vmsplice);
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
PF_EXPORT ssize_t pwritev2(int fd, const iovec* v, int count, off_t at, int flags) {
  writing_pieces(fd, v, count, PF_CALLER_PC);
  return real_pwritev2(fd, v, count, at, flags);
}
PF_EXPORT ssize_t pwritev64v2(int fd, const iovec* v, int count, off64_t at, int flags) {
  writing_pieces(fd, v, count, PF_CALLER_PC);
  return real_pwritev64v2(fd, v, count, at, flags);
}
PF_EXPORT ssize_t vmsplice(int fd, const iovec* v, size_t count, unsigned flags) {
  writing_pieces(fd, v, static_cast<int>(count), PF_CALLER_PC);
  return taken(fd, real_vmsplice(fd, v, count, flags));
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
  if (Thread* t = calling_thread(); t != nullptr) {
    note_message(*t, *m, SIZE_MAX, false, PF_CALLER_PC);
    fds::post(*t, fd);
  }
  return real_sendmsg(fd, m, flags);
}
PF_EXPORT int sendmmsg(int fd, mmsghdr* m, unsigned count, int flags) {
  Thread* t = calling_thread();
  if (t != nullptr) {
    for (unsigned i = 0; i < count; ++i) note_message(*t, m[i].msg_hdr, SIZE_MAX, false, PF_CALLER_PC);
    fds::post(*t, fd);
  }
  const int n = real_sendmmsg(fd, m, count, flags);
  for (int i = 0; t != nullptr && i < n; ++i) note_write(*t, &m[i].msg_len, sizeof m[i].msg_len, PF_CALLER_PC);
  return n;
}
PF_EXPORT ssize_t sendfile(int out, int in, off_t* at, size_t n) noexcept {
  return moving(in, out, at, PF_CALLER_PC, [&] { return real_sendfile(out, in, at, n); });
}
PF_EXPORT ssize_t sendfile64(int out, int in, off64_t* at, size_t n) noexcept {
  return moving(in, out, at, PF_CALLER_PC, [&] { return real_sendfile64(out, in, at, n); });
}
PF_EXPORT ssize_t tee(int in, int out, size_t n, unsigned flags) {
  return moving(in, out, nullptr, PF_CALLER_PC, [&] { return real_tee(in, out, n, flags); });
}
PF_EXPORT ssize_t splice(int in, off64_t* in_at, int out, off64_t* out_at, size_t n, unsigned flags) {
  note_offset(out_at, PF_CALLER_PC);
  return moving(in, out, in_at, PF_CALLER_PC, [&] { return real_splice(in, in_at, out, out_at, n, flags); });
}
PF_EXPORT ssize_t copy_file_range(int in, off64_t* in_at, int out, off64_t* out_at, size_t n, unsigned flags) {
  note_offset(out_at, PF_CALLER_PC);
  return moving(in, out, in_at, PF_CALLER_PC, [&] { return real_copy_file_range(in, in_at, out, out_at, n, flags); });
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
