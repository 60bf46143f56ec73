#include "runtime/sleep.h"

#include <algorithm>

namespace pf::rt::sleep {
namespace {

constinit uint64_t g_names = 0;

void set(uint32_t& number, uint32_t to) { __atomic_store_n(&number, to, __ATOMIC_RELEASE); }

}  // namespace

void expect(Thread& t, Waiters& waiters) {
  if (waiters.name == 0)
    __atomic_store_n(&waiters.name, __atomic_add_fetch(&g_names, 1, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
  ++waiters.count;
  t.will_sleep_for = &waiters;
  t.sleeps_for_name = waiters.name;
}

void notify(Waiters& waiters, bool all) {
  set(waiters.to_wake, all ? waiters.count : std::min(waiters.to_wake + 1, waiters.count));
}

// Who gives up by itself was perhaps not the one that was notified.
void wake(const Thread& t, Waiters& waiters, bool by_notice) {
  if (waiters.name != t.sleeps_for_name) return;
  --waiters.count;
  const uint32_t left = waiters.to_wake - (by_notice && waiters.to_wake != 0 ? 1 : 0);
  set(waiters.to_wake, std::min(left, waiters.count));
}

void begin(Thread& t) { __atomic_store_n(&t.sleeps_for, t.will_sleep_for, __ATOMIC_RELEASE); }
void end(Thread& t) {
  __atomic_store_n(&t.sleeps_for, nullptr, __ATOMIC_SEQ_CST);
  t.will_sleep_for = nullptr;
}

void begin_join(Thread& t, const ThreadInfo& child) {
  __atomic_store_n(&t.sleeps_until_end_of, &child, __ATOMIC_RELEASE);
}
void end_join(Thread& t) { __atomic_store_n(&t.sleeps_until_end_of, nullptr, __ATOMIC_SEQ_CST); }

bool is_asleep(const Thread& t) {
  const ThreadInfo* child = __atomic_load_n(&t.sleeps_until_end_of, __ATOMIC_ACQUIRE);
  if (child != nullptr) return child->is_live;
  const Waiters* waiters = __atomic_load_n(&t.sleeps_for, __ATOMIC_ACQUIRE);
  return waiters != nullptr && __atomic_load_n(&waiters->name, __ATOMIC_RELAXED) == t.sleeps_for_name &&
         __atomic_load_n(&waiters->to_wake, __ATOMIC_ACQUIRE) == 0;
}

}  // namespace pf::rt::sleep
