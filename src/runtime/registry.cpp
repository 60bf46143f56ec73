#include "runtime/registry.h"

#include <utility>

#include "runtime/abi/abi.h"
#include "runtime/descriptors.h"
#include "runtime/found.h"
#include "runtime/host.h"
#include "runtime/libc.h"
#include "runtime/objects.h"
#include "runtime/quiet.h"
#include "runtime/sampler.h"
#include "runtime/say.h"

namespace pf::rt::registry {
namespace {

struct Handle : Object {
  static constexpr uint8_t kKind = kThreadHandle;
  Thread* thread;
};

constinit SpinLock g_lock;
constinit Thread* g_live = nullptr;         // guarded by g_lock
constinit Thread* g_left_behind = nullptr;  // in a forked child: who was live when it was made
constinit char g_ended = 0;                 // whose address stands for all threads that are over
constinit uint32_t g_count = 0;
constinit Pieces<ThreadInfo, 8, 1U << 16> g_infos;

ThreadInfo* new_info(uint32_t parent, depot::Id created_at) {
  const uint32_t id = __atomic_fetch_add(&g_count, 1, __ATOMIC_RELAXED);
  if (!g_infos.provide(id)) die_of("more than 16 million threads were created");
  ThreadInfo& info = g_infos[id];
  info.id = id;
  info.parent = parent;
  info.created_at = created_at;
  return &info;
}

constinit uint32_t g_announced = 0;

void be_there(Thread& t) {
  if (std::exchange(t.is_announced, false)) __atomic_fetch_sub(&g_announced, 1, __ATOMIC_RELEASE);
}

void link(Thread& t) {
  const Guard guard(g_lock);
  t.next = g_live;
  t.previous = nullptr;
  if (g_live != nullptr) g_live->previous = &t;
  g_live = &t;
  t.info->is_live = true;
  quiet::be_seen_by(t);
  be_there(t);
}

void unlink(Thread& t) {
  const Guard guard(g_lock);
  (t.previous != nullptr ? t.previous->next : g_live) = t.next;
  if (t.next != nullptr) t.next->previous = t.previous;
  t.info->is_live = false;
}

void bind_self(Thread& t) {
  const pthread_t handle = libc::pthread_self();
  Line line(handle);
  line.get<Handle>(handle, *t.arena).thread = &t;
}

// Not if the handle is another thread's by now: libc gives it away again as soon as a join is over.
void unbind(pthread_t handle, const Thread& whose, Arena& arena) {
  Line line(handle);
  auto* h = line.find<Handle>(handle);
  if (h == nullptr || h->thread != &whose) return;
  line.remove(h);
  arena.deallocate_object(h, sizeof(Handle));
}

void take_stack(Thread& t) {
  const libc::StackRange range = libc::own_stack();
  ThreadInfo& info = *t.info;
  info.stack_begin = range.begin;
  info.stack_end = range.end;
  info.tls_begin = range.tls_begin;
  info.tls_end = range.tls_end;
}

void start_on_this_thread(Thread& t) {
  t.info->os_id = sys::thread_id();
  link(t);  // before it may sample (rest.h)
  sampler::become(&t);
  take_stack(t);
}

}  // namespace

Thread* adopt_main() {
  Thread* t = host::new_thread(nullptr, new_info(0, 0));
  start_on_this_thread(*t);
  bind_self(*t);
  return t;
}

Thread* adopt() {
  Thread* t = host::new_thread(nullptr, new_info(0, 0));
  t->info->detached = true;
  start_on_this_thread(*t);
  descriptors::take_notice(*t);
  return t;
}

void expect_main() { new_info(0, 0)->os_id = sys::process_id(); }

namespace {

void read_name(ThreadInfo& info) {
  Text path;
  path.put("/proc/self/task/").number(static_cast<uint64_t>(info.os_id)).put("/comm");
  const long fd = sys::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (sys::failed(fd)) return;
  const long n = sys::read(static_cast<int>(fd), info.name, sizeof info.name - 1);
  sys::close(static_cast<int>(fd));
  info.name[n > 0 ? n - 1 : 0] = '\0';  // in the place of the line's end
}

}  // namespace

Thread* adopt_running() {
  const int id = sys::thread_id();
  Thread* t = host::new_thread(nullptr, id == info(0).os_id ? &info(0) : new_info(0, 0));
  t->info->detached = true;
  t->info->os_id = id;
  if (t->info->id != 0) read_name(*t->info);
  self = t;
  link(*t);
  return t;
}

Thread* announce(Thread& parent, uintptr_t pc) {
  const Scope scope(parent);
  __atomic_fetch_add(&g_announced, 1, __ATOMIC_RELAXED);
  Thread* child = host::new_thread(&parent, new_info(parent.info->id, stack_through_library(parent, pc)));
  child->is_announced = true;
  return child;
}
uint32_t announced() { return __atomic_load_n(&g_announced, __ATOMIC_ACQUIRE); }

void forget_announced(Thread& child) {
  child.info->ended = child.info->joined = true;
  be_there(child);
  host::destroy(child);
}

void begin(Thread& t) {
  start_on_this_thread(t);
  const Scope scope(t);
  // glibc keeps stacks (with the thread-local storage at their end) for later threads: their past is not the new one's.
  host::begin_block(t, t.info->stack_begin, t.info->stack_end - t.info->stack_begin);
  bind_self(t);
}

void end(Thread& t) {
  {
    const Scope scope(t);
    library::end_thread(t);
    count_ended(t);
    // A robust mutex goes to the next owner with all that this one did.
    for (uint32_t i = 0; i < t.held_count; ++i) host::release(t, t.held[i].address, t.held[i].mode);
    const uintptr_t size = t.info->stack_end - t.info->stack_begin;
    if (t.info->id != 0) host::begin_block(t, t.info->stack_begin, size);  // gives its shadow back
    host::post(t, address_of(&g_ended));
    host::end(t);  // last: its slot goes on from this tick
  }
  unlink(t);
  sampler::become(nullptr);
  bool detached = false;
  {
    const Guard guard(g_lock);
    t.info->ended = true;
    detached = t.info->detached;
  }
  if (!detached) return;
  unbind(libc::pthread_self(), t, *t.arena);
  host::destroy(t);
}

Thread* by_handle(pthread_t handle) {
  Line line(handle);
  const Handle* h = line.find<Handle>(handle);
  return h == nullptr ? nullptr : h->thread;
}

void joined(Thread& t, Thread* child, pthread_t handle) {
  if (child == nullptr) return;
  const Scope scope(t);
  unbind(handle, *child, *t.arena);
  while (!__atomic_load_n(&child->info->ended, __ATOMIC_ACQUIRE)) sys::yield();  // its last steps
  host::join(t, *child);
  child->info->joined = true;
  host::destroy(*child);
}

void detached(Thread& t, pthread_t handle) {
  const Scope scope(t);
  Thread* child = by_handle(handle);
  if (child == nullptr) return;
  bool ended = false;
  {
    const Guard guard(g_lock);
    child->info->detached = true;
    ended = child->info->ended;
  }
  if (!ended) return;  // it forgets itself at its end
  unbind(handle, *child, *t.arena);
  host::destroy(*child);
}

void set_name(Thread& t, const char* name) {
  for (unsigned i = 0; i < sizeof t.info->name - 1; ++i) {
    t.info->name[i] = name[i];
    if (name[i] == '\0') break;
  }
}

Thread* new_fiber(Thread& t, uintptr_t pc) {
  Thread* fiber = announce(t, pc);
  fiber->info->detached = true;
  link(*fiber);
  return fiber;
}

void end_fiber(Thread& fiber) {
  count_ended(fiber);
  host::end(fiber);
  unlink(fiber);
  fiber.info->ended = true;
  host::destroy(fiber);
}

ThreadInfo& info(uint32_t id) { return g_infos[id]; }
uint32_t count() { return __atomic_load_n(&g_count, __ATOMIC_RELAXED); }

void for_each(void (*f)(Thread&, void*), void* argument) {
  const Guard guard(g_lock);
  for (Thread* t = g_live; t != nullptr; t = t->next) f(*t, argument);
}

void close_gate(Thread& t) {
  const auto others_busy = [&] {
    for (const Thread* other = g_live; other != nullptr; other = other->next) {
      if (other != &t && __atomic_load_n(&other->busy, __ATOMIC_ACQUIRE) != 0) return true;
    }
    return false;
  };
  while (__atomic_exchange_n(&g_gate_closed, true, __ATOMIC_SEQ_CST)) sys::yield();  // another fork is on its way
  sys::barrier_on_all_threads();
  g_lock.lock();
  for (unsigned round = 0; others_busy(); ++round) {
    g_lock.unlock();  // a busy thread may want it
    relax(round);
    g_lock.lock();
  }
}

void open_gate(Thread&) {
  g_lock.unlock();
  __atomic_store_n(&g_gate_closed, false, __ATOMIC_SEQ_CST);
}

void only(Thread& t) {
  unlink(t);
  g_left_behind = g_live;
  g_live = nullptr;
  g_announced = 0;
  link(t);
  t.info->os_id = sys::thread_id();
  for (uint32_t i = 0; i < count(); ++i) {
    info(i).written = false;  // the child writes to a file of its own
    info(i).joined = true;    // nor can it join any of them
  }
}

void outlive_others(Thread& t) {
  const Scope scope(t);
  for (Thread* other = g_left_behind; other != nullptr; other = other->next) host::join(t, *other);
  host::take(t, address_of(&g_ended));
}

}  // namespace pf::rt::registry
