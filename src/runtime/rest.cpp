#include "runtime/rest.h"

#include <bit>
#include <utility>

#include "runtime/options.h"
#include "runtime/registry.h"
#include "runtime/sampling.h"

namespace pf::rt::rest {

constinit bool g_on = false;

namespace {

// Of each slot: the latest clock that it sampled at, and what that was when there was rest.
struct Sampled {
  OnlineEpoch::Clock latest, at_rest;
};
constinit Pieces<Sampled, 12, 1U << 20> g_sampled;
constinit uint32_t g_slots = 0;
constexpr uint32_t kNothingSampled = 1;
constinit uint32_t g_generation = kNothingSampled;  // of the latest clocks; a thread knows of none at first
constinit uint32_t g_rests = 0;
constinit SpinLock g_lock;

constinit Knowledge g_knowledge{};
constinit bool g_allowed = false, g_operations_over = true, g_sleepers_count = true;
constinit uint64_t g_forget_from = 0, g_give_back_from = 0;  // nanoseconds: not before
constinit uint32_t g_sampling = 0;                           // threads that may still record something
constinit uint32_t g_looks = 0;                              // since the last period
constinit const Thread* g_ignorant = nullptr;  // who did not know at the last of them; it may be gone, or another

// It sleeps until somebody notifies it, or somebody who knows has done so. Who notifies comes to know, if at all, under g_lock, after that.
bool is_to_be_told(const Thread& t) {
  const Notices* notices = __atomic_load_n(&t.awaits, __ATOMIC_ACQUIRE);
  if (notices == nullptr) return false;
  return __atomic_load_n(&notices->count, __ATOMIC_ACQUIRE) == t.notices_before ||
         __atomic_load_n(&notices->known, __ATOMIC_RELAXED) == g_generation;
}

// The registry is locked, and g_lock.
bool knows_all(const Thread& t) {
  constexpr unsigned kLongestChain = 16;
  const Thread* knowing = &t;
  for (unsigned i = 0; i < kLongestChain && knowing != nullptr; ++i) {
    if (__atomic_load_n(&knowing->knows_of, __ATOMIC_ACQUIRE) == g_generation) return true;
    if (!g_sleepers_count) return false;
    if (is_to_be_told(*knowing)) return true;
    knowing = __atomic_load_n(&knowing->joins, __ATOMIC_ACQUIRE);
  }
  return false;
}

// Whether the thread knows all by now, and did not before.
bool has_found_out(Thread& t) {
  if (t.knows_of == g_generation || (t.period & 1) != 0) return false;
  for (uint32_t i = 0; i < g_slots; ++i) {
    const OnlineEpoch latest{Slot{i}, g_sampled[i].latest};
    if (latest.clock() != 0 && !g_knowledge.knows(t, latest)) return false;
  }
  __atomic_store_n(&t.knows_of, g_generation, __ATOMIC_RELEASE);
  return true;
}

Sampled& sampled_by(Slot s) {
  for (; g_slots <= index(s); __atomic_store_n(&g_slots, g_slots + 1, __ATOMIC_RELEASE)) g_sampled.provide(g_slots);
  return g_sampled[index(s)];
}
void raise(OnlineEpoch latest) {
  Sampled& sampled = sampled_by(latest.slot());
  if (sampled.latest < latest.clock()) sampled.latest = latest.clock();
  ++g_generation;
}

void begin() {
  for (uint32_t i = 0; i < g_slots; ++i) __atomic_store_n(&g_sampled[i].at_rest, g_sampled[i].latest, __ATOMIC_RELAXED);
  __atomic_store_n(&g_rests, g_rests + 1, __ATOMIC_RELEASE);
  if (g_sampling == 0) quiet::set_rest();
  __atomic_store_n(&g_on, true, __ATOMIC_RELEASE);
}

// The first thread that is not so, or null.
template <bool (*kIs)(const Thread&)>
const Thread* find_other() {
  const Thread* other = nullptr;
  registry::for_each(
      [](Thread& t, void* p) {
        auto& found = *static_cast<const Thread**>(p);
        if (found == nullptr && !kIs(t)) found = &t;
      },
      static_cast<void*>(&other));
  return other;
}

bool is_out(const Thread& t) { return !__atomic_load_n(&t.at_rest, __ATOMIC_ACQUIRE); }
bool are_operations_over() { return find_other<&is_out>() == nullptr; }

}  // namespace

void allow(const Knowledge& knowledge) {
  g_knowledge = knowledge;
  g_allowed = !g_options.tree && sys::barrier_on_all_threads();
}

void begin_at_start() {
  if (g_allowed) begin();
}

// A look at all threads is worth it when one has come to know, unless another is known not to; and now and then, since that one may be gone.
bool seek(Thread& t) {
  if (!g_allowed || g_on) return false;
  const Guard guard(g_lock);
  const bool is_better = has_found_out(t) && (g_ignorant == nullptr || knows_all(*g_ignorant));
  if (g_sampling == 0 && t.knows_of == g_generation) quiet::set_rest_of(t);
  constexpr uint32_t kNowAndThen = 64;
  ++g_looks;
  if (!is_better && !std::has_single_bit(g_looks) && g_looks % kNowAndThen != 0) return false;
  // Who has not begun yet is not found below. One that is announced only now has a parent that knows, or is found not to.
  const bool are_all_there = registry::announced() == 0;
  g_ignorant = find_other<&knows_all>();
  if (!are_all_there || g_ignorant != nullptr) return false;
  begin();
  return true;
}

// What a rest was found with stays true, whatever is sampled meanwhile.
bool is_known_to_all(OnlineEpoch e) {
  return index(e.slot()) < __atomic_load_n(&g_slots, __ATOMIC_ACQUIRE) &&
         e.clock() <= __atomic_load_n(&g_sampled[index(e.slot())].at_rest, __ATOMIC_RELAXED);
}

// It takes time, and what is sampled next has to be set up anew; pages that were given back have to be had again, which is several times as
// much. So neither is done too soon after the last time.
void forget_samples(Thread& t) {
  constexpr uint64_t kPause = 16, kPauseOfPages = 100;  // times what it took
  const uint64_t began = sys::nanoseconds();
  if (began < __atomic_load_n(&g_forget_from, __ATOMIC_RELAXED)) return;
  const bool gives_back = began >= __atomic_load_n(&g_give_back_from, __ATOMIC_RELAXED);
  if (!quiet::sweep(t, g_knowledge.histories, gives_back)) return;
  t.arena->hand_over();
  const uint64_t now = sys::nanoseconds(), took = now - began;
  __atomic_store_n(&g_forget_from, now + kPause * took, __ATOMIC_RELAXED);
  if (gives_back) __atomic_store_n(&g_give_back_from, now + kPauseOfPages * took, __ATOMIC_RELAXED);
}

bool is_sought() {
  constexpr uint32_t kHopeless = 128;
  return g_allowed && !g_on && g_looks < kHopeless;
}

void end() {
  g_looks = 0;
  g_ignorant = nullptr;
  if (!g_on) return;
  __atomic_store_n(&g_on, false, __ATOMIC_SEQ_CST);
  sys::barrier_on_all_threads();
  __atomic_store_n(&g_operations_over, are_operations_over(), __ATOMIC_RELEASE);
}

void may_sample() {
  quiet::begin_recording();
  const Guard guard(g_lock);
  ++g_sampling;
}

void samples_no_more(OnlineEpoch latest, bool has_sampled) {
  quiet::end_recording();
  const Guard guard(g_lock);
  --g_sampling;
  if (has_sampled) raise(latest);
}

namespace {

// What others can know of is of its epochs before.
void keep_samples(Thread& t) {
  const OnlineEpoch now = g_knowledge.epoch(t);
  const Guard guard(g_lock);
  sampled_by(now.slot()).latest = now.clock() - 1;
  ++g_generation;
  ++g_sampling;
  t.keeps_samples = true;
}

}  // namespace

// In a period it is then as if it had left that, unless a handler may sample.
void begin_join(Thread& t, const Thread* child) {
  if (!g_allowed || child == nullptr) return;
  if (g_knowledge.has_told_nobody(t)) {
    keep_samples(t);
    const bool is_in_period = (t.period & 1) != 0 && !t.has_left_period;
    if (is_in_period && __atomic_load_n(&g_sleepers_count, __ATOMIC_RELAXED)) {
      t.has_left_period = t.left_to_join = true;
      samples_no_more({}, false);
    }
  }
  __atomic_store_n(&t.joins, child, __ATOMIC_RELEASE);
}

// A rest without its knowledge is over, before it can tell anybody.
void end_join(Thread& t) {
  if (t.left_to_join) may_sample();
  if (t.keeps_samples) {
    const Guard guard(g_lock);
    --g_sampling;
    if ((t.period & 1) == 0 || t.left_to_join) raise(g_knowledge.epoch(t));
  }
  __atomic_store_n(&t.joins, nullptr, __ATOMIC_SEQ_CST);
  if (std::exchange(t.left_to_join, false) && t.period == sampling::period()) t.has_left_period = false;
  if (!std::exchange(t.keeps_samples, false)) return;
  sampling::end_rest();
  wait_for_operations();
}

void expect_notices(Thread& t, const Notices& notices) {
  t.will_await = &notices;
  t.notices_before = notices.count;
  if (!g_allowed) return;
  const OnlineEpoch now = g_knowledge.epoch(t);
  t.slot_before_wait = now.slot();
  t.clock_before_wait = now.clock();
}

void notify(const Thread& t, Notices& notices) {
  __atomic_store_n(&notices.known, t.knows_of, __ATOMIC_RELAXED);
  __atomic_store_n(&notices.count, notices.count + 1, __ATOMIC_RELEASE);
}

namespace {

// Who samples has told of all that it sampled when it released the mutex, and began another epoch: until it is woken up, it is as if it had
// left the period. Whether it was released so.
bool leave_period(Thread& t) {
  const OnlineEpoch now = g_knowledge.epoch(t);
  if (now.slot() != t.slot_before_wait || now.clock() == t.clock_before_wait) return false;
  t.has_left_period = true;
  samples_no_more(OnlineEpoch{now.slot(), now.clock() - 1}, true);
  return true;
}

}  // namespace

void begin_wait(Thread& t, bool is_for_ever) {
  const Notices* notices = std::exchange(t.will_await, nullptr);
  if (!g_allowed || !is_for_ever || notices == nullptr) return;
  if (!__atomic_load_n(&g_sleepers_count, __ATOMIC_RELAXED)) return;  // a handler may sample
  if ((t.period & 1) == 0 || leave_period(t)) __atomic_store_n(&t.awaits, notices, __ATOMIC_RELEASE);
}

// The period is looked at when nobody counts on its sleep any more: if it is the same, there is no rest before the thread has left it.
void end_wait(Thread& t) {
  if (t.awaits == nullptr) return;
  if (t.has_left_period) may_sample();
  __atomic_store_n(&t.awaits, nullptr, __ATOMIC_SEQ_CST);
  if (t.period == sampling::period()) t.has_left_period = false;
  if (t.rests != __atomic_load_n(&g_rests, __ATOMIC_ACQUIRE)) forget_knowledge(t);
}

void be_interrupted(Thread& t) {
  if (t.joins != nullptr || t.awaits != nullptr) forget_knowledge(t);
}

namespace {

// A rest from before that counts on nobody's sleep.
bool is_anything_sampled() {
  const Guard guard(g_lock);
  return g_generation != kNothingSampled;
}

}  // namespace

void expect_interruptions() {
  if (__atomic_exchange_n(&g_sleepers_count, false, __ATOMIC_SEQ_CST) && is_anything_sampled()) sampling::end_rest();
}

void start_in_child(bool samples) {
  g_sampling = samples ? 1 : 0;
  quiet::start_in_child(samples);
}

// Who was not there, or was not found to know, when there was rest, has been told by nobody since of what all knew then. It is known now.
void forget_knowledge(Thread& t) {
  __atomic_store_n(&t.knows_of, 0, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);  // then the thread looks at the period; who seeks has looked there first
  const uint32_t rests = __atomic_load_n(&g_rests, __ATOMIC_ACQUIRE);
  if (t.rests == rests) return;
  const Guard guard(g_lock);
  for (uint32_t i = 0; i < g_slots; ++i) {
    const OnlineEpoch known{Slot{i}, g_sampled[i].at_rest};
    if (known.clock() != 0 && !g_knowledge.knows(t, known)) g_knowledge.learn(t, known);
  }
  t.rests = rests;
}

void wait_for_operations() {
  if (__atomic_load_n(&g_operations_over, __ATOMIC_ACQUIRE)) return;
  for (unsigned round = 0; !are_operations_over(); ++round) relax(round);
}

}  // namespace pf::rt::rest
