#include "runtime/thread.h"

#include "runtime/library_calls.h"
#include "runtime/literace.h"
#include "runtime/say.h"

namespace pf::rt {

constinit thread_local Thread* self [[gnu::tls_model("initial-exec")]] = nullptr;
constinit thread_local Thread* watched [[gnu::tls_model("initial-exec")]] = nullptr;
constinit thread_local Thread* in_calls [[gnu::tls_model("initial-exec")]] = nullptr;
constinit bool g_gate_closed = false;

namespace {

void grow_frames(Thread& t) {
  const Scope scope(t);  // memcpy is ours, too: it would tell of this copy as of the program's
  const auto count = static_cast<std::size_t>(t.end - t.bottom);
  const std::size_t bytes = count * sizeof(Frame);
  auto* bigger = static_cast<Frame*>(map_or_die(2 * bytes, "call stacks"));
  std::memcpy(bigger, t.bottom, bytes);  // the old ones stay: other threads may be looking at them (reach.h)
  t.bottom = bigger;
  t.top = bigger + count;
  t.end = bigger + 2 * count;
}

}  // namespace

void enter_deeper(Thread& t, uintptr_t caller, uintptr_t stack_pointer) {
  grow_frames(t);
  enter_function(t, caller, stack_pointer);
}

void unwind(Thread& t, uintptr_t stack_pointer) {
  const auto target = static_cast<uint32_t>(stack_pointer);
  while (t.top != t.bottom && static_cast<int32_t>(t.top[-1].stack_pointer - target) < 0) --t.top;
  literace::look_at_top(t);
  library::frames_changed(t);
}

namespace {

depot::Id push(Thread& t, depot::Id below, uint64_t key) {
  KnownStack& known = t.known_stacks[(key ^ key >> 9 ^ uint64_t{below} * 7) % 512];
  if (known.key != key || known.below != below || known.id == 0) known = {key, below, depot::push(below, key)};
  return known.id;
}

}  // namespace

depot::Id calls_anew(Thread& t) {
  Frame* known = t.top;
  while (known != t.bottom && known[-1].stack == 0) --known;
  depot::Id id = known == t.bottom ? 0 : known[-1].stack;
  for (; known != t.top; ++known) known->stack = id = push(t, id, known->caller - 1);
  return id;
}

namespace {

constinit uintptr_t g_text_begin = 0, g_text_end = 0;  // of the program itself

// Whether a call instruction ends here: E8 and a distance, or FF with one of the forms that call through.
bool is_after_call(uintptr_t pc) {
  if (pc < g_text_begin + 7 || pc >= g_text_end) return false;
  const auto* code = reinterpret_cast<const uint8_t*>(pc);
  if (code[-5] == 0xE8) return true;
  for (int length = 2; length <= 7; ++length) {
    if (code[-length] == 0xFF && (code[-length + 1] & 0x38) == 0x10) return true;
  }
  return false;
}

}  // namespace

void set_program_text(uintptr_t begin, uintptr_t end) {
  g_text_begin = begin;
  g_text_end = end;
}

// A function's calls leave their return addresses at one place, just below where its own stack pointer rests: where it
// was when the function announced itself.
depot::Id stack_through_library(Thread& t, uintptr_t pc) {
  const depot::Id below = calls(t);
  if (t.top == t.bottom) return depot::push(below, pc);
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  const uintptr_t distance = (t.top[-1].stack_pointer & ~Frame::kNotSampled) - static_cast<uint32_t>(here);
  constexpr uintptr_t kFar = uintptr_t{64} << 10;
  if (distance < sizeof(uintptr_t) || distance > kFar || here + distance > t.info->stack_end)
    return depot::push(below, pc);
  const uintptr_t called_from = reinterpret_cast<const uintptr_t*>(here + distance)[-1];
  if (called_from - 1 == pc || !is_after_call(called_from)) return depot::push(below, pc);
  return depot::push(depot::push(below, called_from - 1), pc);
}

void hold(Thread& t, uintptr_t lock, LockMode mode) {
  t.locks_changed = true;
  for (uint32_t i = t.held_count; i-- > 0;) {
    if (t.held[i].address == lock && t.held[i].mode == mode) {
      ++t.held[i].depth;
      return;
    }
  }
  if (t.held_count == t.held_capacity) {
    const uint32_t capacity = t.held_capacity == 0 ? 16 : t.held_capacity * 2;
    auto* bigger = static_cast<Held*>(t.arena->allocate(capacity * sizeof(Held)));
    if (t.held_count != 0) std::memcpy(bigger, t.held, t.held_count * sizeof(Held));
    if (t.held != nullptr) t.arena->deallocate(t.held, t.held_capacity * sizeof(Held));
    t.held = bigger;
    t.held_capacity = capacity;
  }
  t.held[t.held_count++] = {lock, mode, 1};
}

bool let_go(Thread& t, uintptr_t lock, LockMode mode) {
  for (uint32_t i = t.held_count; i-- > 0;) {
    Held& h = t.held[i];
    if (h.address != lock || h.mode != mode) continue;
    if (--h.depth != 0) return true;
    t.locks_changed = true;
    std::memmove(&h, &h + 1, (t.held_count - i - 1) * sizeof(Held));
    --t.held_count;
    return true;
  }
  return false;
}

const Held* held_as(const Thread& t, uintptr_t lock) {
  for (uint32_t i = t.held_count; i-- > 0;) {
    if (t.held[i].address == lock) return &t.held[i];
  }
  return nullptr;
}

depot::Id held_locks_anew(Thread& t) {
  constexpr uint32_t kTold =
      64;  // the latest: a report is to be read, and thousands would have to be told anew at each lock
  depot::Id id = 0;
  for (uint32_t i = t.held_count < kTold ? 0 : t.held_count - kTold; i < t.held_count; ++i) {
    id = push(t, id, t.held[i].address | uint64_t{t.held[i].mode == LockMode::Read} << 63);
  }
  t.locks = id;
  t.locks_changed = false;
  return id;
}

depot::Id describe_anew(Thread& t, uintptr_t pc, uint32_t packed) {
  const depot::Id below = calls(t);
  const depot::Id locks = held_locks(t);
  // Where it is was met with other locks, too.
  const depot::Id id = depot::push_after(t.latest_access, push(t, below, pc), uint64_t{packed} << 32 | locks);
  known_access(t, pc, packed, below, locks) = {pc, below, locks, packed, id};
  t.latest_access = id;
  return id;
}

bool same_place(depot::Id a, depot::Id b) {
  const depot::Node &one = depot::at(a), &other = depot::at(b);
  if (one.key >> 32 != other.key >> 32) return false;
  return one.below == other.below || depot::at(one.below).key == depot::at(other.below).key;
}

void wait_at_gate(Thread& t) {
  for (unsigned round = 0; __atomic_load_n(&g_gate_closed, __ATOMIC_ACQUIRE); ++round) {
    __atomic_store_n(&t.busy, 0, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&g_gate_closed, __ATOMIC_ACQUIRE)) relax(++round);
    __atomic_store_n(&t.busy, 1, __ATOMIC_SEQ_CST);
  }
}

}  // namespace pf::rt
