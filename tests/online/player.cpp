// Plays traces with real threads: every event is the real operation, compiled with instrumentation, and every access has a
// place of its own in the code. The stage (stage.h) says whose turn it is; the detector cannot see it.
//
// Usage: player SCRIPT PLACES ENDINGS (script.h has their form). Each batch runs in a process of its own.
#include "online/stage.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <new>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#ifdef __clang__
#define INVISIBLE __attribute__((disable_sanitizer_instrumentation, noinline))
#else
#define INVISIBLE __attribute__((no_sanitize("thread"), noinline))
#endif
#define USE(value) __asm__ volatile("" : : "r"(value) : "memory")

using namespace pf::online;

namespace {

using uint128_t = unsigned __int128;

// --- accesses: the only code that the detector sees reading and writing ---

template <class T>
struct [[gnu::packed]] Unaligned {
  T value;
};
template <class T>
[[gnu::always_inline]] inline void use_whole(T value) {
  if constexpr (sizeof(T) <= 8) {
    USE(value);
  } else {
    USE(static_cast<uint64_t>(value));
    USE(static_cast<uint64_t>(value >> 64));
  }
}
template <class T>
[[gnu::always_inline]] inline void read(char* p) {
  use_whole(*reinterpret_cast<T*>(p));
}
template <class T>
[[gnu::always_inline]] inline void write(char* p, int value) {
  *reinterpret_cast<T*>(p) = static_cast<T>(value);
  USE(p);
}
template <class T>
[[gnu::always_inline]] inline void read_unaligned(char* p) {
  use_whole<T>(reinterpret_cast<Unaligned<T>*>(p)->value);
}
template <class T>
[[gnu::always_inline]] inline void write_unaligned(char* p, int value) {
  reinterpret_cast<Unaligned<T>*>(p)->value = static_cast<T>(value);
  USE(p);
}

// The compiler shall not wonder how it was made.
[[gnu::always_inline]] inline void delete_block(void* p) {
  __asm__ volatile("" : "+r"(p));
  operator delete(p);
}

#define ARM(NAME, ...)                                                                                                 \
  case static_cast<int>(Arm::NAME): __VA_ARGS__; return
#define ORDERED(NAME, ORDER, ...)                                                                                      \
  case static_cast<int>(Arm::NAME) + ORDER: __VA_ARGS__; return
#define OF_EACH_ORDER(NAME, MACRO)                                                                                     \
  ORDERED(NAME, 0, MACRO(__ATOMIC_RELAXED));                                                                           \
  ORDERED(NAME, 1, MACRO(__ATOMIC_CONSUME));                                                                           \
  ORDERED(NAME, 2, MACRO(__ATOMIC_ACQUIRE));                                                                           \
  ORDERED(NAME, 3, MACRO(__ATOMIC_RELEASE));                                                                           \
  ORDERED(NAME, 4, MACRO(__ATOMIC_ACQ_REL));                                                                           \
  ORDERED(NAME, 5, MACRO(__ATOMIC_SEQ_CST))
#define LOAD(ORDER) USE(__atomic_load_n(a, ORDER))
#define STORE(ORDER) __atomic_store_n(a, N + 1, ORDER)
#define SWAP(ORDER) USE(__atomic_exchange_n(a, N + 1, ORDER))
#define ADD(ORDER) USE(__atomic_fetch_add(a, N + 1, ORDER))
#define SUCCEED(ORDER) USE(__atomic_compare_exchange_n(a, &expected, expected + N, N % 2, ORDER, __ATOMIC_RELAXED))
#define FAIL(ORDER) USE(__atomic_compare_exchange_n(a, &other, N, N % 2, __ATOMIC_SEQ_CST, ORDER))

// Of other sizes by the entry points themselves: these take the order as it comes.
#define ATOMICS(BITS, T)                                                                                               \
  extern "C" T __tsan_atomic##BITS##_load(const volatile T*, int);                                                     \
  extern "C" void __tsan_atomic##BITS##_store(volatile T*, T, int);                                                    \
  extern "C" T __tsan_atomic##BITS##_exchange(volatile T*, T, int);                                                    \
  extern "C" T __tsan_atomic##BITS##_fetch_add(volatile T*, T, int);                                                   \
  extern "C" int __tsan_atomic##BITS##_compare_exchange_strong(volatile T*, T*, T, int, int);                          \
  [[gnu::always_inline]] inline void access_atomically(T* a, Arm what, int order, T change) {                          \
    T expected = static_cast<T>(peek<T>(a)), other = static_cast<T>(~expected);                                        \
    switch (what) {                                                                                                    \
      case Arm::Load: __tsan_atomic##BITS##_load(a, order); return;                                                    \
      case Arm::FailedExchange:                                                                                        \
        __tsan_atomic##BITS##_compare_exchange_strong(a, &other, change, __ATOMIC_SEQ_CST, order);                     \
        return;                                                                                                        \
      case Arm::Store: __tsan_atomic##BITS##_store(a, change, order); return;                                          \
      case Arm::Swap: __tsan_atomic##BITS##_exchange(a, change, order); return;                                        \
      case Arm::Add: __tsan_atomic##BITS##_fetch_add(a, change, order); return;                                        \
      default: __tsan_atomic##BITS##_compare_exchange_strong(a, &expected, change, order, __ATOMIC_RELAXED);           \
    }                                                                                                                  \
  }
template <class T>
INVISIBLE T peek(const T* a) {
  if constexpr (sizeof(T) <= 8) return static_cast<T>(stage_peek(a));
  const auto* words = reinterpret_cast<const uint64_t*>(a);
  return static_cast<T>(uint128_t{stage_peek(words + 1)} << 64 | stage_peek(words));
}
ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(128, uint128_t)

[[gnu::always_inline]] inline void access_atomically(int arm, char* p, size_t size, unsigned change) {
  const int number = arm - static_cast<int>(Arm::OtherSizes);
  const auto what = static_cast<Arm>(static_cast<int>(Arm::Load) + number / 6 * 6);
  const int order = number % 6;
  switch (size) {
    case 1: return access_atomically(reinterpret_cast<uint8_t*>(p), what, order, static_cast<uint8_t>(change));
    case 2: return access_atomically(reinterpret_cast<uint16_t*>(p), what, order, static_cast<uint16_t>(change));
    case 4: return access_atomically(reinterpret_cast<uint32_t*>(p), what, order, change);
    default: return access_atomically(reinterpret_cast<uint128_t*>(p), what, order, change);
  }
}

template <unsigned N>
[[gnu::noinline]] void site(int arm, char* p, size_t size) {
  __asm__ volatile("" : : "i"(N));  // no two of them are the same function
  if (arm >= static_cast<int>(Arm::OtherSizes)) return access_atomically(arm, p, size, N + 1);
  auto* a = reinterpret_cast<uint64_t*>(p);
  char copy[32];
  switch (arm) {
    ARM(Read1, read<uint8_t>(p));
    ARM(Read2, read<uint16_t>(p));
    ARM(Read4, read<uint32_t>(p));
    ARM(Read8, read<uint64_t>(p));
    ARM(Read16, read<uint128_t>(p));
    ARM(ReadUnaligned2, read_unaligned<uint16_t>(p));
    ARM(ReadUnaligned4, read_unaligned<uint32_t>(p));
    ARM(ReadUnaligned8, read_unaligned<uint64_t>(p));
    ARM(ReadUnaligned16, read_unaligned<uint128_t>(p));
    ARM(ReadByCall, memcpy(copy, p, size); USE(copy));
    ARM(Write1, write<uint8_t>(p, N));
    ARM(Write2, write<uint16_t>(p, N));
    ARM(Write4, write<uint32_t>(p, N));
    ARM(Write8, write<uint64_t>(p, N));
    ARM(Write16, write<uint128_t>(p, N));
    ARM(WriteUnaligned2, write_unaligned<uint16_t>(p, N));
    ARM(WriteUnaligned4, write_unaligned<uint32_t>(p, N));
    ARM(WriteUnaligned8, write_unaligned<uint64_t>(p, N));
    ARM(WriteUnaligned16, write_unaligned<uint128_t>(p, N));
    ARM(WriteByCall, memset(p, static_cast<int>(N), size));
    ARM(Free, free(p));
    ARM(Delete, delete_block(p));
    ARM(Shrink, USE(realloc(p, 0)));
    ARM(Move, USE(realloc(p, size)));
    default: break;
  }
  uint64_t expected = stage_peek(p), other = ~expected;
  switch (arm) {
    ORDERED(Load, 0, LOAD(__ATOMIC_RELAXED));
    ORDERED(Load, 1, LOAD(__ATOMIC_CONSUME));
    ORDERED(Load, 2, LOAD(__ATOMIC_ACQUIRE));
    ORDERED(Load, 5, LOAD(__ATOMIC_SEQ_CST));
    ORDERED(FailedExchange, 0, FAIL(__ATOMIC_RELAXED));
    ORDERED(FailedExchange, 1, FAIL(__ATOMIC_CONSUME));
    ORDERED(FailedExchange, 2, FAIL(__ATOMIC_ACQUIRE));
    ORDERED(FailedExchange, 5, FAIL(__ATOMIC_SEQ_CST));
    ORDERED(Store, 0, STORE(__ATOMIC_RELAXED));
    ORDERED(Store, 3, STORE(__ATOMIC_RELEASE));
    ORDERED(Store, 5, STORE(__ATOMIC_SEQ_CST));
    OF_EACH_ORDER(Swap, SWAP);
    OF_EACH_ORDER(Add, ADD);
    OF_EACH_ORDER(CompareExchange, SUCCEED);
    default: abort();
  }
}

using Site = void (*)(int, char*, size_t);
template <size_t... N>
constexpr auto make_sites(std::index_sequence<N...>) {
  struct Table {
    Site site[sizeof...(N)];
  };
  return Table{{&site<N>...}};
}
constexpr auto kTable = make_sites(std::make_index_sequence<kSites + 1>());

// --- everything else ---

extern "C" void AnnotateSampling(const char* file, int line, int on);  // the runtime's

pthread_mutex_t g_mutexes[3][kLocks];
pthread_rwlock_t g_rwlocks[kLocks];
pthread_spinlock_t g_spinlocks[kLocks];
pthread_cond_t g_conditions[kObjects];
pthread_barrier_t g_barriers[kObjects];
sem_t g_semaphores[kObjects];
pthread_t g_threads[kThreads];
const Step* g_steps;
uint32_t g_count;
Cast g_cast;
sem_t g_gone;  // posted by each thread that is detached, at its end

[[noreturn]] INVISIBLE void fail(const char* what) {
  dprintf(2, "player: %s\n", what);
  _exit(3);
}
INVISIBLE void expect(bool holds, const char* what) {
  if (!holds) fail(what);
}

constexpr timespec kNever = {.tv_sec = 1L << 40, .tv_nsec = 0};

INVISIBLE void make_objects() {
  constexpr int kTypes[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK};
  for (int kind = 0; kind < 3; ++kind) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, kTypes[kind]);
    for (auto& m : g_mutexes[kind]) pthread_mutex_init(&m, &attributes);
  }
  for (auto& l : g_rwlocks) pthread_rwlock_init(&l, nullptr);
  for (auto& l : g_spinlocks) pthread_spin_init(&l, PTHREAD_PROCESS_PRIVATE);
  for (auto& c : g_conditions) pthread_cond_init(&c, nullptr);
  for (auto& b : g_barriers) pthread_barrier_init(&b, nullptr, 1);
  for (auto& s : g_semaphores) sem_init(&s, 0, 0);
  sem_init(&g_gone, 0, 0);
}

INVISIBLE int take(uint32_t number, unsigned variant) {
  const auto kind = static_cast<LockKind>(number / kLocks);
  const unsigned i = number % kLocks;
  if (kind == LockKind::Spin)
    return variant == 0 ? pthread_spin_trylock(&g_spinlocks[i]) : pthread_spin_lock(&g_spinlocks[i]);
  if (kind == LockKind::ReadWrite) {
    if (variant == 0) return pthread_rwlock_trywrlock(&g_rwlocks[i]);
    return variant == 1 ? pthread_rwlock_timedwrlock(&g_rwlocks[i], &kNever) : pthread_rwlock_wrlock(&g_rwlocks[i]);
  }
  pthread_mutex_t* m = &g_mutexes[static_cast<unsigned>(kind)][i];
  if (variant == 0) return pthread_mutex_trylock(m);
  return variant == 1 ? pthread_mutex_timedlock(m, &kNever) : pthread_mutex_lock(m);
}

INVISIBLE int take_to_read(uint32_t number, unsigned variant) {
  pthread_rwlock_t* l = &g_rwlocks[number % kLocks];
  if (variant == 0) return pthread_rwlock_tryrdlock(l);
  return variant == 1 ? pthread_rwlock_timedrdlock(l, &kNever) : pthread_rwlock_rdlock(l);
}

INVISIBLE int give_up(uint32_t number) {
  const auto kind = static_cast<LockKind>(number / kLocks);
  const unsigned i = number % kLocks;
  if (kind == LockKind::Spin) return pthread_spin_unlock(&g_spinlocks[i]);
  if (kind == LockKind::ReadWrite) return pthread_rwlock_unlock(&g_rwlocks[i]);
  return pthread_mutex_unlock(&g_mutexes[static_cast<unsigned>(kind)][i]);
}

INVISIBLE void wait(const Step& s) {
  pthread_cond_t* c = &g_conditions[s.object];
  pthread_mutex_t* m = &g_mutexes[s.lock / kLocks][s.lock % kLocks];
  stage_block(s.entered, s.leave, 0);
  if (s.variant == 0) {
    pthread_cond_timedwait(c, m, &kNever);
  } else if (s.variant == 1) {
    pthread_cond_clockwait(c, m, CLOCK_MONOTONIC, &kNever);
  } else {
    pthread_cond_wait(c, m);
  }
}

INVISIBLE int take_semaphore(const Step& s) {
  if (s.variant == 0) return sem_trywait(&g_semaphores[s.object]);
  return s.variant == 1 ? sem_timedwait(&g_semaphores[s.object], &kNever) : sem_wait(&g_semaphores[s.object]);
}

INVISIBLE void allocate(const Step& s) {
  char* place = stage_arena + s.object;
  stage_place(place);
  void* p = s.variant == 0   ? operator new(s.size)
            : s.variant == 1 ? calloc(1, s.size)
            : s.variant == 2 ? malloc(s.size)
                             : realloc(nullptr, s.size);
  expect(p == place, "a block is not where it was asked for");
  USE(p);
}

// Instrumented, or the detector would see none of them.
[[gnu::noinline]] void fence(unsigned order) {
  switch (order) {
    case 1: return __atomic_thread_fence(__ATOMIC_CONSUME);
    case 2: return __atomic_thread_fence(__ATOMIC_ACQUIRE);
    case 3: return __atomic_thread_fence(__ATOMIC_RELEASE);
    case 4: return __atomic_thread_fence(__ATOMIC_ACQ_REL);
    case 5: return __atomic_thread_fence(__ATOMIC_SEQ_CST);
    default: fail("no such fence");
  }
}

void* play_thread(void* number);

// Threads whose last event is over, while they are on their way out.
pid_t g_leaving[kThreads];

// A thread that ends before another begins in the trace is gone by then: the detector has let go of it.
INVISIBLE void await_the_gone() {
  for (pid_t& t : g_leaving) {
    while (t != 0 && tgkill(getpid(), t, 0) == 0) sched_yield();
    t = 0;
  }
}

INVISIBLE bool is_in(uint64_t threads, uint32_t thread) { return (threads >> thread & 1) != 0; }
INVISIBLE bool detaches(uint32_t thread, Detach how) {
  return is_in(g_cast.detached, thread) && static_cast<Detach>(thread % kDetaches) == how;
}

INVISIBLE void create(uint32_t thread) {
  await_the_gone();
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (detaches(thread, Detach::Created)) pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  const int result =
      pthread_create(&g_threads[thread], &attributes, &play_thread, reinterpret_cast<void*>(uintptr_t{thread}));
  expect(result == 0, "no thread");
  if (detaches(thread, Detach::ByCreator)) expect(pthread_detach(g_threads[thread]) == 0, "no thread to detach");
}

// What waits to be cancelled is not on its way out.
INVISIBLE void end(uint32_t thread) {
  if (!is_in(g_cast.cancelled, thread)) g_leaving[thread] = gettid();
}
[[noreturn]] INVISIBLE void await_cancellation() {
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, nullptr);
  for (;;) pause();
}
INVISIBLE void join(uint32_t thread) {
  if (is_in(g_cast.cancelled, thread)) expect(pthread_cancel(g_threads[thread]) == 0, "no thread to cancel");
  expect(pthread_join(g_threads[thread], nullptr) == 0, "no thread to join");
}

INVISIBLE void access(const Step& s) {
  if (static_cast<Arm>(s.variant) == Arm::Move) stage_place(stage_arena + s.lock);
  kTable.site[s.site](s.variant, stage_arena + s.object, s.size);
}

INVISIBLE void play(const Step& s) {
  switch (s.act) {
    case Act::Nothing:
    case Act::End: return;
    case Act::Access: return access(s);
    case Act::Allocate: return allocate(s);
    case Act::Lock: return expect(take(s.object, s.variant) == 0, "a lock is not free");
    case Act::ReadLock: return expect(take_to_read(s.object, s.variant) == 0, "a read lock is not free");
    case Act::Unlock: return expect(give_up(s.object) == 0, "a lock is not held");
    case Act::Create: return create(s.object);
    case Act::Join: return join(s.object);
    case Act::Wait: return wait(s);
    case Act::Notify:
      s.variant == 0 ? pthread_cond_signal(&g_conditions[s.object]) : pthread_cond_broadcast(&g_conditions[s.object]);
      return;
    case Act::Barrier:
      stage_block(s.entered, s.leave, s.variant == 0 ? PTHREAD_BARRIER_SERIAL_THREAD : 0);
      pthread_barrier_wait(&g_barriers[s.object]);
      return;
    case Act::Post: return expect(sem_post(&g_semaphores[s.object]) == 0, "no post");
    case Act::Take: return expect(take_semaphore(s) == 0, "nothing to take");
    case Act::Fence: return fence(s.order);
    case Act::Sample: return AnnotateSampling(__FILE__, __LINE__, s.variant);
  }
}

INVISIBLE void* play_thread(void* number) {
  const auto thread = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(number));
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
  const Cast cast = g_cast;  // once a detached thread is over, the next trace may begin
  if (detaches(thread, Detach::ByItself)) expect(pthread_detach(pthread_self()) == 0, "no thread of its own");
  for (uint32_t i = 0; i < g_count;) {
    const Step& s = g_steps[i];
    if (s.thread != thread) {
      ++i;
      continue;
    }
    stage_await(i);
    play(s);
    if (s.act == Act::End) end(thread);
    stage_done(s.last);
    i = s.last + 1;
  }
  if (is_in(cast.detached, thread)) sem_post(&g_gone);
  if (is_in(cast.cancelled, thread)) await_cancellation();
  if (is_in(cast.exits, thread)) pthread_exit(nullptr);
  return nullptr;
}

INVISIBLE const char* play_trace(const char* at) {
  memcpy(&g_cast, at, sizeof g_cast);
  g_steps = reinterpret_cast<const Step*>(at + sizeof g_cast);
  g_count = g_cast.steps;
  stage_set(g_steps, g_count);
  for (uint32_t t = 0; t < g_cast.threads; ++t)
    if (is_in(g_cast.from_start, t)) create(t);
  stage_open();
  for (uint32_t t = 0; t < g_cast.threads; ++t) {
    if (is_in(g_cast.detached, t)) sem_wait(&g_gone);
    if (is_in(g_cast.left_over & ~g_cast.detached, t)) join(t);
  }
  for (auto& s : g_semaphores)
    while (sem_trywait(&s) == 0) {
    }
  return reinterpret_cast<const char*>(g_steps + g_count);
}

// The traces' steps, without playing them.
INVISIBLE const char* skip_trace(const char* at) {
  Cast cast;
  memcpy(&cast, at, sizeof cast);
  return at + sizeof cast + cast.steps * sizeof(Step);
}

INVISIBLE const char* next_count(const char* at, uint64_t& count) {
  memcpy(&count, at, sizeof count);
  return at + sizeof count;
}

INVISIBLE void write_places(const char* path) {
  static Places places;
  places.arena = reinterpret_cast<uint64_t>(stage_arena);
  for (unsigned i = 0; i <= kSites; ++i) places.sites[i] = reinterpret_cast<uint64_t>(kTable.site[i]);
  for (unsigned i = 0; i < kLocks; ++i) {
    for (unsigned kind = 0; kind < 3; ++kind)
      places.locks[kind * kLocks + i] = reinterpret_cast<uint64_t>(&g_mutexes[kind][i]);
    places.locks[lock_number(LockKind::ReadWrite, i)] = reinterpret_cast<uint64_t>(&g_rwlocks[i]);
    places.locks[lock_number(LockKind::Spin, i)] = reinterpret_cast<uint64_t>(&g_spinlocks[i]);
  }
  const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  expect(::write(fd, &places, sizeof places) == static_cast<ssize_t>(sizeof places), "the places are not written");
  close(fd);
}

INVISIBLE const char* map_file(const char* path) {
  const int fd = open(path, O_RDONLY);
  struct stat status;
  expect(fd >= 0 && fstat(fd, &status) == 0, "no script");
  void* p = mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
  expect(p != MAP_FAILED, "the script cannot be mapped");
  close(fd);
  return static_cast<const char*>(p);
}

// In a process of its own; but where only the first process of a run is watched, that one plays its only batch itself.
INVISIBLE const char* play_batch(const char* at, int endings) {
  const pid_t pid = getenv("PF_PLAY_ALONE") != nullptr ? 0 : fork();
  uint64_t traces = 0;
  at = next_count(at, traces);
  if (pid == 0) {
    alarm(60);
    for (; traces > 0; --traces) at = play_trace(at);
    _exit(0);
  }
  Ending ending = {pid, -1};
  waitpid(pid, &ending.status, 0);
  expect(::write(endings, &ending, sizeof ending) == static_cast<ssize_t>(sizeof ending), "an ending is not written");
  for (; traces > 0; --traces) at = skip_trace(at);
  return at;
}

}  // namespace

INVISIBLE int main(int count, char** arguments) {
  expect(count == 4, "usage: player SCRIPT PLACES ENDINGS");
  make_objects();
  write_places(arguments[2]);
  const int endings = open(arguments[3], O_WRONLY | O_CREAT | O_TRUNC, 0600);
  uint64_t batches = 0;
  const char* at = next_count(map_file(arguments[1]), batches);
  for (; batches > 0; --batches) at = play_batch(at, endings);
  return 0;
}
