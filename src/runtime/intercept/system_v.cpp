// Message queues and semaphores of System V. A message orders its sender before its receiver. Raising a semaphore orders
// before lowering it, and lowering it before a wait for zero.
//
// Objects are by the kernel's number, out of a fixed set: two that share one can only hide a race. Neither a message that
// had to wait for room, nor the end of a queue or a set, orders anybody.
#include <stdarg.h>
#include <sys/msg.h>
#include <sys/sem.h>

#include "runtime/intercept/intercept.h"

using namespace pf::rt;

namespace {

using std::size_t;

constexpr unsigned kOfEach = 1024;
using Names = char[kOfEach][16];  // addresses that nothing else has, never touched
constinit Names g_queues = {}, g_raised = {}, g_lowered = {}, g_set = {};

uintptr_t name(const Names& names, int id, unsigned number = 0) {
  return address_of(names[(static_cast<unsigned>(id) * 31 + number) % kOfEach]);
}

PF_REAL(msgsnd);
PF_REAL(msgrcv);
PF_REAL(semop);
PF_REAL(semtimedop);
constinit Real<int (*)(int, int, int, void*)> real_semctl{"semctl"};

void announce(Thread& t, int id, const sembuf* operations, size_t count, uintptr_t pc) {
  note_read(t, operations, count * sizeof *operations, pc);
  for (size_t i = 0; i < count; ++i) {
    const sembuf& o = operations[i];
    if (o.sem_op != 0) host::post(t, name(o.sem_op > 0 ? g_raised : g_lowered, id, o.sem_num));
  }
}
void learn(Thread& t, int id, const sembuf* operations, size_t count) {
  host::take(t, name(g_set, id));
  for (size_t i = 0; i < count; ++i) {
    const sembuf& o = operations[i];
    if (o.sem_op <= 0) host::take(t, name(o.sem_op < 0 ? g_raised : g_lowered, id, o.sem_num));
  }
}

template <class Call>
int operating(int id, const sembuf* operations, size_t count, uintptr_t pc, Call call) {
  Thread* t = calling_thread();
  if (t != nullptr) announce(*t, id, operations, count, pc);
  const int result = call();
  if (t != nullptr && result == 0) learn(*t, id, operations, count);
  return result;
}

}  // namespace

PF_EXPORT int msgsnd(int id, const void* from, size_t n, int flags) {
  if (Thread* t = calling_thread(); t != nullptr) {
    note_read(*t, from, sizeof(long) + n, PF_CALLER_PC);
    host::post(*t, name(g_queues, id));
  }
  return real_msgsnd(id, from, n, flags);
}
PF_EXPORT ssize_t msgrcv(int id, void* to, size_t room, long type, int flags) {
  const ssize_t n = real_msgrcv(id, to, room, type, flags);
  if (Thread* t = n >= 0 ? calling_thread() : nullptr; t != nullptr) {
    host::take(*t, name(g_queues, id));
    note_write(*t, to, sizeof(long) + static_cast<size_t>(n), PF_CALLER_PC);
  }
  return n;
}

PF_EXPORT int semop(int id, sembuf* operations, size_t count) noexcept {
  return operating(id, operations, count, PF_CALLER_PC, [&] { return real_semop(id, operations, count); });
}
PF_EXPORT int semtimedop(int id, sembuf* operations, size_t count, const timespec* limit) noexcept {
  return operating(id, operations, count, PF_CALLER_PC, [&] { return real_semtimedop(id, operations, count, limit); });
}

// A value that is set counts for all who use the set later; who looks at one comes after whatever made it.
PF_INTERCEPT(int, semctl, (int id, int number, int command, ...)) {
  va_list rest;
  va_start(rest, command);
  void* argument = va_arg(rest, void*);
  va_end(rest);
  Thread* t = calling_thread();
  if (t != nullptr && (command == SETVAL || command == SETALL)) host::post(*t, name(g_set, id));
  const int result = real_semctl(id, number, command, argument);
  if (t != nullptr && result >= 0 && (command == GETVAL || command == GETNCNT || command == GETZCNT)) {
    host::take(*t, name(g_set, id));
    for (const Names* names : {&g_raised, &g_lowered}) host::take(*t, name(*names, id, static_cast<unsigned>(number)));
  }
  return result;
}
