// Asynchronous I/O. An operation is a thread of its own: it begins where it is asked for, reads or writes the whole buffer,
// and comes before whoever learns that it is over. So who touches the buffer meanwhile races with it, though it was ordered
// after the request.
//
// Those threads are few, and used in turn: an operation also comes after the one that had the same before, which can only hide a race.
#include <aio.h>
#include <errno.h>

#include "runtime/descriptors.h"
#include "runtime/intercept/intercept.h"
#include "runtime/registry.h"
#include "runtime/spin.h"

using namespace pf::rt;

namespace {

namespace fds = pf::rt::descriptors;

PF_REAL(aio_read);
PF_REAL(aio_read64);
PF_REAL(aio_write);
PF_REAL(aio_write64);
PF_REAL(aio_fsync);
PF_REAL(aio_fsync64);
PF_REAL(aio_error);
PF_REAL(aio_error64);
PF_REAL(aio_return);
PF_REAL(aio_return64);
PF_REAL(aio_suspend);
PF_REAL(aio_suspend64);
PF_REAL(aio_cancel);
PF_REAL(aio_cancel64);
PF_REAL(lio_listio);
PF_REAL(lio_listio64);
static_assert(sizeof(aiocb) == sizeof(aiocb64));

struct Operator {
  SpinLock lock;
  Thread* thread = nullptr;
};
constexpr unsigned kOperators = 64, kDescriptors = 256;
constinit Operator g_operators[kOperators];
constinit unsigned g_next = 0;
constinit char g_of_descriptor[kDescriptors][16] = {};  // addresses for all operations on one; never touched

uintptr_t all_on(int fd) { return address_of(g_of_descriptor[static_cast<unsigned>(fd) % kDescriptors]); }

// What it does, as far as the detector is concerned, at once: only its end is learned of later.
void operate(Thread& t, Operator& by, const aiocb& request, int operation, uintptr_t pc) {
  const Guard guard(by.lock);
  if (by.thread == nullptr) {
    by.thread = registry::new_fiber(t, pc);
    registry::set_name(*by.thread, "aio");
  }
  Thread& own = *by.thread;
  host::post(t, address_of(&by));
  host::take(own, address_of(&by));
  if (operation == LIO_READ) note_write(own, const_cast<const void*>(request.aio_buf), request.aio_nbytes, pc);
  if (operation == LIO_WRITE) note_read(own, const_cast<const void*>(request.aio_buf), request.aio_nbytes, pc);
  host::post(own, address_of(&request));
  host::post(own, all_on(request.aio_fildes));
  fds::post_notice(own);
}

void request(const aiocb* what, int operation, uintptr_t pc) {
  Thread* t = calling_thread();
  if (t == nullptr) return;
  note_read(*t, what, offsetof(aiocb, __next_prio), pc);
  if (operation != LIO_READ) fds::post(*t, what->aio_fildes);
  const Scope scope(*t);  // a handler that comes in between would wait for the operator for ever
  operate(*t, g_operators[__atomic_fetch_add(&g_next, 1, __ATOMIC_RELAXED) % kOperators], *what, operation, pc);
}

void over(Thread& t, const aiocb& what) {
  host::take(t, address_of(&what));
  fds::take(t, what.aio_fildes);
}
void learn_of(const aiocb* what) {
  if (Thread* t = calling_thread(); t != nullptr) over(*t, *what);
}
void learn_of_all(const aiocb* const* list, int count) {
  Thread* t = calling_thread();
  for (int i = 0; t != nullptr && i < count; ++i) {
    if (list[i] != nullptr && real_aio_error(list[i]) != EINPROGRESS) over(*t, *list[i]);
  }
}

int looked(int error, const aiocb* what) {
  if (error != EINPROGRESS) learn_of(what);
  return error;
}
int suspended(int result, const aiocb* const* list, int count) {
  if (result != 0) return result;
  learn_of_all(list, count);
  return result;
}
int cancelled(int result, int fd, const aiocb* what) {
  Thread* t = result == AIO_CANCELED || result == AIO_ALLDONE ? calling_thread() : nullptr;
  if (t != nullptr) host::take(*t, what != nullptr ? address_of(what) : all_on(fd));
  return result;
}

template <class Call>
int listing(int mode, const aiocb* const* list, int count, uintptr_t pc, Call call) {
  for (int i = 0; i < count; ++i) {
    if (list[i] != nullptr && list[i]->aio_lio_opcode != LIO_NOP) request(list[i], list[i]->aio_lio_opcode, pc);
  }
  const int result = call();
  if (mode == LIO_WAIT) learn_of_all(list, count);
  return result;
}

const aiocb* same(const aiocb64* what) { return reinterpret_cast<const aiocb*>(what); }
const aiocb* const* same(const aiocb64* const* list) { return reinterpret_cast<const aiocb* const*>(list); }

}  // namespace

PF_EXPORT int aio_read(aiocb* what) noexcept {
  request(what, LIO_READ, PF_CALLER_PC);
  return real_aio_read(what);
}
PF_EXPORT int aio_read64(aiocb64* what) noexcept {
  request(same(what), LIO_READ, PF_CALLER_PC);
  return real_aio_read64(what);
}
PF_EXPORT int aio_write(aiocb* what) noexcept {
  request(what, LIO_WRITE, PF_CALLER_PC);
  return real_aio_write(what);
}
PF_EXPORT int aio_write64(aiocb64* what) noexcept {
  request(same(what), LIO_WRITE, PF_CALLER_PC);
  return real_aio_write64(what);
}
PF_EXPORT int aio_fsync(int how, aiocb* what) noexcept {
  request(what, LIO_NOP, PF_CALLER_PC);
  return real_aio_fsync(how, what);
}
PF_EXPORT int aio_fsync64(int how, aiocb64* what) noexcept {
  request(same(what), LIO_NOP, PF_CALLER_PC);
  return real_aio_fsync64(how, what);
}
PF_EXPORT int lio_listio(int mode, aiocb* const* list, int count, sigevent* how) noexcept {
  return listing(mode, list, count, PF_CALLER_PC, [&] { return real_lio_listio(mode, list, count, how); });
}
PF_EXPORT int lio_listio64(int mode, aiocb64* const* list, int count, sigevent* how) noexcept {
  return listing(mode, same(list), count, PF_CALLER_PC, [&] { return real_lio_listio64(mode, list, count, how); });
}

PF_EXPORT int aio_error(const aiocb* what) noexcept { return looked(real_aio_error(what), what); }
PF_EXPORT int aio_error64(const aiocb64* what) noexcept { return looked(real_aio_error64(what), same(what)); }
PF_EXPORT ssize_t aio_return(aiocb* what) noexcept {
  learn_of(what);
  return real_aio_return(what);
}
PF_EXPORT ssize_t aio_return64(aiocb64* what) noexcept {
  learn_of(same(what));
  return real_aio_return64(what);
}
PF_EXPORT int aio_suspend(const aiocb* const* list, int count, const timespec* limit) {
  return suspended(real_aio_suspend(list, count, limit), list, count);
}
PF_EXPORT int aio_suspend64(const aiocb64* const* list, int count, const timespec* limit) {
  return suspended(real_aio_suspend64(list, count, limit), same(list), count);
}
PF_EXPORT int aio_cancel(int fd, aiocb* what) noexcept { return cancelled(real_aio_cancel(fd, what), fd, what); }
PF_EXPORT int aio_cancel64(int fd, aiocb64* what) noexcept {
  return cancelled(real_aio_cancel64(fd, what), fd, same(what));
}
