// One event of a program: what a trace stores, what filters pass on, what detectors consume.
// What each operation orders is defined in docs/happens-before.md; nothing here decides it.
#pragma once
#include <array>
#include <string_view>

#include "core/ids.h"

namespace pf {

enum class Op : uint8_t {
  // Accesses to memory: target = address, size = bytes, value when has_value (an rmw's: what it writes).
  Read,
  Write,
  AtomicLoad,
  AtomicStore,
  AtomicRmw,
  // Memory comes and goes: target = address, value = bytes. A free counts as a write to the whole block.
  Alloc,
  Free,
  // Mutexes and the write side of rwlocks, then the read side: target = lock.
  Acquire,
  Release,
  ReadAcquire,
  ReadRelease,
  // Threads: target = the other thread's ThreadId; Begin and End have none.
  Fork,
  Join,
  Begin,
  End,
  // Condition variables: Wait blocks, Wake returns from it; the mutex has events of its own around them.
  Wait,
  Wake,
  Notify,
  // Barriers and semaphores: target = the object.
  BarrierEnter,
  BarrierLeave,
  SemPost,
  SemWait,
  // A standalone fence; order says which.
  Fence,
  // The call tree: target = function (a symbol's id).
  Call,
  Return,
  // A call into code without instrumentation (a BarrierPair); each Reach names memory it may touch:
  // target = address, value = bytes.
  MissingBegin,
  MissingEnd,
  Reach,
  // A global sampling period begins or ends.
  SamplingOn,
  SamplingOff,
};
inline constexpr unsigned kOps = static_cast<unsigned>(Op::SamplingOff) + 1;

inline constexpr uint32_t kMaxAccessSize = 1U << 20;                 // of one event; longer ones are several events
inline constexpr uint64_t kLastAddress = ~uint64_t{kMaxAccessSize};  // so that the end of an access never wraps

enum class MemoryOrder : uint8_t { Relaxed, Consume, Acquire, Release, AcqRel, SeqCst };
inline constexpr unsigned kMemoryOrders = 6;

struct Event {
  uint64_t target = 0;
  uint64_t value = 0;
  uint32_t size = 0;
  ThreadId thread{};
  SiteId site = kNoSite;
  Op op = Op::Read;
  MemoryOrder order = MemoryOrder::SeqCst;  // of atomics and fences only
  bool has_value = false;

  friend bool operator==(const Event&, const Event&) = default;
};
static_assert(sizeof(Event) == 32);

constexpr bool is_access(Op op) { return op <= Op::AtomicRmw; }
constexpr bool is_atomic(Op op) { return op >= Op::AtomicLoad && op <= Op::AtomicRmw; }
constexpr bool writes(Op op) {
  return op == Op::Write || op == Op::AtomicStore || op == Op::AtomicRmw || op == Op::Free;
}
constexpr bool has_order(Op op) { return is_atomic(op) || op == Op::Fence; }
constexpr bool has_extent(Op op) { return op == Op::Alloc || op == Op::Free || op == Op::Reach; }
constexpr bool has_operand(Op op) {
  return !(op == Op::Begin || op == Op::End || op == Op::Fence || op == Op::MissingEnd || op == Op::SamplingOn ||
           op == Op::SamplingOff);
}

constexpr bool acquires(MemoryOrder o) {
  return o == MemoryOrder::Acquire || o == MemoryOrder::Consume || o == MemoryOrder::AcqRel || o == MemoryOrder::SeqCst;
}
constexpr bool releases(MemoryOrder o) {
  return o == MemoryOrder::Release || o == MemoryOrder::AcqRel || o == MemoryOrder::SeqCst;
}

// Names as the text trace writes them; the first eight operations of the STD format keep its names.
inline constexpr std::array<std::string_view, kOps> kOpNames = {
    "r",    "w",    "load",  "store", "rmw", "alloc", "free", "acq",    "rel",    "racq",
    "rrel", "fork", "join",  "begin", "end", "wait",  "wake", "notify", "enter",  "leave",
    "post", "take", "fence", "call",  "ret", "miss",  "back", "reach",  "sample", "rest"};
inline constexpr std::array<std::string_view, kMemoryOrders> kOrderNames = {"relaxed", "consume", "acquire",
                                                                            "release", "acq_rel", "seq_cst"};
constexpr std::string_view name(Op op) { return kOpNames[static_cast<unsigned>(op)]; }
constexpr std::string_view name(MemoryOrder o) { return kOrderNames[static_cast<unsigned>(o)]; }

}  // namespace pf
