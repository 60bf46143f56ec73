// POSIX message queues: descriptors of a kind. A message orders its sender before its receiver, and before a notification of it.
#include <fcntl.h>
#include <mqueue.h>
#include <stdarg.h>

#include "runtime/descriptors.h"
#include "runtime/intercept/intercept.h"

using namespace pf::rt;

namespace {

using std::size_t;
namespace fds = pf::rt::descriptors;

constinit Real<mqd_t (*)(const char*, int, mode_t, mq_attr*)> real_mq_open{"mq_open"};
constinit Real<mqd_t (*)(const char*, int)> real___mq_open_2{"__mq_open_2"};
PF_REAL(mq_close);
PF_REAL(mq_getattr);
PF_REAL(mq_setattr);
PF_REAL(mq_notify);
PF_REAL(mq_send);
PF_REAL(mq_timedsend);
PF_REAL(mq_receive);
PF_REAL(mq_timedreceive);

mqd_t made(mqd_t queue) {
  fds::opened(queue);
  return queue;
}

void sending(mqd_t queue, const char* from, size_t n, uintptr_t pc) {
  Thread* t = calling_thread();
  if (t == nullptr) return;
  note_read(*t, from, n, pc);
  fds::post(*t, queue);
  fds::post_notice(*t);
}

ssize_t received(ssize_t n, mqd_t queue, const char* to, const unsigned* priority, uintptr_t pc) {
  Thread* t = n >= 0 ? calling_thread() : nullptr;
  if (t == nullptr) return n;
  fds::take(*t, queue);
  note_write(*t, to, static_cast<size_t>(n), pc);
  if (priority != nullptr) note_write(*t, priority, sizeof *priority, pc);
  return n;
}

int noted_attributes(int result, const mq_attr* a, uintptr_t pc) {
  Thread* t = result == 0 && a != nullptr ? calling_thread() : nullptr;
  if (t != nullptr) note_write(*t, a, sizeof *a, pc);
  return result;
}

}  // namespace

PF_INTERCEPT(mqd_t, mq_open, (const char* path, int flags, ...)) {
  va_list rest;
  va_start(rest, flags);
  const bool creates = (flags & O_CREAT) != 0;
  const mode_t mode = creates ? va_arg(rest, mode_t) : 0;
  mq_attr* attributes = creates ? va_arg(rest, mq_attr*) : nullptr;
  va_end(rest);
  return made(real_mq_open(path, flags, mode, attributes));
}
PF_INTERCEPT(mqd_t, __mq_open_2, (const char* path, int flags)) { return made(real___mq_open_2(path, flags)); }
PF_EXPORT int mq_close(mqd_t queue) noexcept {
  fds::closing(calling_thread(), queue);
  return real_mq_close(queue);
}

PF_EXPORT int mq_getattr(mqd_t queue, mq_attr* to) noexcept {
  return noted_attributes(real_mq_getattr(queue, to), to, PF_CALLER_PC);
}
PF_EXPORT int mq_setattr(mqd_t queue, const mq_attr* from, mq_attr* before) noexcept {
  if (Thread* t = calling_thread(); t != nullptr) note_read(*t, from, sizeof *from, PF_CALLER_PC);
  return noted_attributes(real_mq_setattr(queue, from, before), before, PF_CALLER_PC);
}

PF_EXPORT int mq_notify(mqd_t queue, const sigevent* how) noexcept {
  if (Thread* t = calling_thread(); t != nullptr && how != nullptr) {
    note_read(*t, how, sizeof *how, PF_CALLER_PC);
    fds::post_notice(*t);
  }
  return real_mq_notify(queue, how);
}

PF_EXPORT int mq_send(mqd_t queue, const char* from, size_t n, unsigned priority) {
  sending(queue, from, n, PF_CALLER_PC);
  return real_mq_send(queue, from, n, priority);
}
PF_EXPORT int mq_timedsend(mqd_t queue, const char* from, size_t n, unsigned priority, const timespec* until) {
  sending(queue, from, n, PF_CALLER_PC);
  return real_mq_timedsend(queue, from, n, priority, until);
}
PF_EXPORT ssize_t mq_receive(mqd_t queue, char* to, size_t room, unsigned* priority) {
  return received(real_mq_receive(queue, to, room, priority), queue, to, priority, PF_CALLER_PC);
}
PF_EXPORT ssize_t mq_timedreceive(mqd_t queue, char* to, size_t room, unsigned* priority, const timespec* until) {
  return received(real_mq_timedreceive(queue, to, room, priority, until), queue, to, priority, PF_CALLER_PC);
}
