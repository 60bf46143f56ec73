#include "online/stage.h"

#include <cerrno>
#include <cstddef>
#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>

using pf::online::Step;

extern "C" {
alignas(4096) char stage_arena[pf::online::kArenaBytes];
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* p, size_t size);
void __libc_free(void* p);
}

namespace {

struct Block {
  uint32_t entered, leave;
  int result;
  bool asked;
};
[[gnu::tls_model("initial-exec")]] constinit thread_local Block t_block = {};
[[gnu::tls_model("initial-exec")]] constinit thread_local void* t_place = nullptr;

const Step* g_steps = nullptr;
uint32_t g_count = 0;
constexpr uint32_t kNobodys = ~0U;
uint32_t g_turn = kNobodys;
struct alignas(64) Bell {
  uint32_t rings;
};
Bell g_bells[pf::online::kThreads] = {};  // one per thread, so that a turn wakes nobody else

void futex(const uint32_t* word, int operation, uint32_t value) {
  long number = SYS_futex;
  register long timeout __asm__("r10") = 0;
  __asm__ volatile("syscall"
                   : "+a"(number)
                   : "D"(word), "S"(operation | FUTEX_PRIVATE_FLAG), "d"(value), "r"(timeout)
                   : "rcx", "r11", "memory");
}

void give_turn(uint32_t turn) {
  uint32_t* bell = &g_bells[g_steps[turn].thread].rings;
  __atomic_store_n(&g_turn, turn, __ATOMIC_SEQ_CST);
  __atomic_fetch_add(bell, 1, __ATOMIC_SEQ_CST);
  const bool own = turn > 0 && g_steps[turn - 1].thread == g_steps[turn].thread;
  if (!own) futex(bell, FUTEX_WAKE, 1);
}

bool block(int& result) {
  if (!t_block.asked) return false;
  t_block.asked = false;
  stage_done(t_block.entered);
  stage_await(t_block.leave);
  result = t_block.result;
  return true;
}

template <class F>
F next(const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

int wait_with(pthread_mutex_t* m) {
  static const auto unlock = next<int (*)(pthread_mutex_t*)>("pthread_mutex_unlock");
  static const auto lock = next<int (*)(pthread_mutex_t*)>("pthread_mutex_lock");
  int result = EINVAL;
  unlock(m);
  block(result);
  lock(m);
  return result;
}

bool is_ours(const void* p) {
  return reinterpret_cast<uintptr_t>(p) - reinterpret_cast<uintptr_t>(stage_arena) < sizeof stage_arena;
}

void* placed() {
  void* p = t_place;
  t_place = nullptr;
  return p;
}

}  // namespace

extern "C" {

void stage_set(const Step* steps, uint32_t count) {
  g_steps = steps;
  g_count = count;
  __atomic_store_n(&g_turn, kNobodys, __ATOMIC_SEQ_CST);
}

void stage_open() {
  if (g_count != 0) give_turn(0);
}

void stage_await(uint32_t turn) {
  uint32_t* bell = &g_bells[g_steps[turn].thread].rings;
  for (;;) {
    const uint32_t rings = __atomic_load_n(bell, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&g_turn, __ATOMIC_SEQ_CST) == turn) return;
    futex(bell, FUTEX_WAIT, rings);
  }
}

void stage_done(uint32_t turn) {
  if (turn + 1 < g_count) give_turn(turn + 1);
}

void stage_block(uint32_t entered, uint32_t leave, int result) { t_block = {entered, leave, result, true}; }
void stage_place(void* p) { t_place = p; }
uint64_t stage_peek(const void* p) { return *static_cast<const volatile uint64_t*>(p); }

// --- what the detector takes for libc ---

int pthread_cond_wait(pthread_cond_t*, pthread_mutex_t* m) { return wait_with(m); }
int pthread_cond_timedwait(pthread_cond_t*, pthread_mutex_t* m, const timespec*) { return wait_with(m); }
int pthread_cond_clockwait(pthread_cond_t*, pthread_mutex_t* m, clockid_t, const timespec*) { return wait_with(m); }

int pthread_barrier_wait(pthread_barrier_t*) noexcept {
  int result = EINVAL;
  block(result);
  return result;
}

void* malloc(size_t size) noexcept {
  void* p = placed();
  return p != nullptr ? p : __libc_malloc(size);
}
void* calloc(size_t count, size_t size) noexcept {
  void* p = placed();
  return p != nullptr ? p : __libc_calloc(count, size);
}
void* realloc(void* p, size_t size) noexcept {
  void* to = placed();
  return to != nullptr || is_ours(p) ? to : __libc_realloc(p, size);
}
void free(void* p) noexcept {
  if (!is_ours(p)) __libc_free(p);
}
}
