#include "online/realize.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "core/object.h"
#include "trace/check.h"
#include "trace/generator.h"

namespace pf::online {
namespace {

constexpr uint64_t kPrivateLocks = 1U << 20;  // numbers of locks that no trace has
constexpr uint64_t kRawHeap = uint64_t{1} << 40;
constexpr uint64_t kPrivateBlocks = kRawHeap + 0x800;  // where no trace has any

bool is_tidy(std::span<const Event> trace) {
  Checker checker;
  return std::ranges::none_of(trace, [&](const Event& e) { return checker.next(e).has_value(); }) && !checker.finish();
}

uint64_t number_of(uint64_t object) { return object & ~kAbstract; }

class Realizer {
 public:
  Realizer(std::span<const Event> trace, uint64_t seed, uint32_t first_site)
      : original_(trace), seed_(seed), first_site_(first_site), next_site_(first_site) {}

  std::optional<Play> run() {
    if (!is_tidy(original_)) return {};
    for (const Event& e : original_) note(e);
    choose_lock_kinds();
    for (at_ = 0; at_ < original_.size(); ++at_) {
      if (!add(original_[at_])) return {};
    }
    cast_threads();
    play_.accesses = next_site_ - first_site_;
    return std::move(play_);
  }

 private:
  struct Lock {
    LockKind kind = LockKind::Mutex;
    bool has_readers = false;
    unsigned depth = 0;
  };
  struct Blocked {
    uint32_t step;  // where the call began
    bool with_own_mutex;
  };

  // The same for the same event, whatever else was left out of the trace.
  RandomBits random(const Event& e, uint64_t use) const { return RandomBits((seed_ << 32 | index(e.site) << 8) + use); }

  void note(const Event& e) {
    threads_.insert(index(e.thread));
    if (e.op == Op::Fork || e.op == Op::Join) threads_.insert(static_cast<uint32_t>(e.target));
    if (e.op == Op::ReadAcquire) locks_[e.target].has_readers = true;
    if (e.op == Op::Acquire) locks_[e.target];
  }

  void choose_lock_kinds() {
    for (auto& [id, lock] : locks_) {
      constexpr LockKind kKinds[] = {LockKind::Mutex,      LockKind::Mutex,     LockKind::Recursive,
                                     LockKind::ErrorCheck, LockKind::ReadWrite, LockKind::Spin};
      RandomBits bits(seed_ ^ id);
      lock.kind = lock.has_readers ? LockKind::ReadWrite : kKinds[bits.below(6)];
    }
  }

  Step& emit(const Event& e, Act act) {
    const auto turn = static_cast<uint32_t>(play_.trace.size());
    play_.trace.push_back(e);
    Step s{};
    s.thread = index(e.thread);
    s.last = turn;
    s.act = act;
    return play_.steps.emplace_back(s);
  }
  uint32_t turn() const { return static_cast<uint32_t>(play_.steps.size()) - 1; }

  bool add(const Event& e) {
    switch (e.op) {
      case Op::Read:
      case Op::Write:
      case Op::AtomicLoad:
      case Op::AtomicStore:
      case Op::AtomicRmw: access(e); return true;
      case Op::Free: return free_block(e);
      case Op::Alloc: allocate(e); return true;
      case Op::Acquire: acquire(e); return true;
      case Op::Release: release(e); return true;
      case Op::ReadAcquire: lock_step(e, Act::ReadLock); return true;
      case Op::ReadRelease: lock_step(e, Act::Unlock); return true;
      case Op::Fork: emit(e, Act::Create).object = static_cast<uint32_t>(e.target); return true;
      case Op::Join: emit(e, Act::Join).object = static_cast<uint32_t>(e.target); return true;
      case Op::Begin: emit(e, Act::Nothing); return true;
      case Op::End: emit(e, Act::End); return true;
      case Op::Wait: wait(e); return true;
      case Op::Wake: wake(e); return true;
      case Op::Notify: object_step(e, Act::Notify); return true;
      case Op::BarrierEnter:
        object_step(e, Act::Barrier);
        play_.steps.back().entered = turn();
        blocked_[e.thread] = {turn(), false};
        return true;
      case Op::BarrierLeave:
        emit(e, Act::Nothing);
        come_back(e.thread, turn(), turn());
        return true;
      case Op::SemPost:
        ++posted_[e.target];
        object_step(e, Act::Post);
        return true;
      case Op::SemWait:
        if (posted_[e.target]-- == 0) return false;
        object_step(e, Act::Take);
        return true;
      case Op::SamplingOn:
      case Op::SamplingOff: emit(e, Act::Sample).variant = e.op == Op::SamplingOn; return true;
      case Op::Fence: emit(e, Act::Fence).order = static_cast<uint8_t>(e.order); return true;
      default: return false;
    }
  }

  Step& object_step(const Event& e, Act act) {
    Step& s = emit(e, act);
    s.object = static_cast<uint32_t>(number_of(e.target));
    s.variant = static_cast<uint8_t>(random(e, 2).below(3));
    return s;
  }

  // --- memory ---

  void access(const Event& original) {
    const Event e = has_other_sizes() ? of_other_size(original) : original;
    Step& s = emit(e, Act::Access);
    s.site = next_site_++;
    s.object = arena_offset(e.target);
    s.size = e.size;
    s.variant = is_atomic(e.op) ? atomic_arm(e) : plain_arm(e);
  }

  bool has_other_sizes() const { return seed_ % 2 == 1; }
  // An atomic object has one size, now and then; what is larger than its variable overlaps with others.
  Event of_other_size(Event e) const {
    constexpr uint32_t kAtomics[] = {1, 2, 4, 8, 16}, kPlain[] = {16, 16, 12, 24};
    if (is_atomic(e.op)) {
      const uint64_t of = random(e, 10).below(8) == 0 ? index(e.site) : e.target;
      e.size = kAtomics[RandomBits(seed_ ^ of).below(5)];
      if (e.target % e.size != 0) e.size = 8;
    } else if (e.size == 8 && random(e, 9).below(4) == 0) {
      e.size = kPlain[random(e, 11).below(4)];
    }
    return e;
  }

  static uint8_t arm(Arm first, unsigned further = 0) {
    return static_cast<uint8_t>(static_cast<unsigned>(first) + further);
  }
  uint8_t plain_arm(const Event& e) const {
    const bool write = e.op == Op::Write;
    if (!std::has_single_bit(e.size) || random(e, 3).below(8) == 0)
      return arm(write ? Arm::WriteByCall : Arm::ReadByCall);
    const auto log = static_cast<unsigned>(std::countr_zero(e.size));
    if (e.target % e.size == 0) return arm(write ? Arm::Write1 : Arm::Read1, log);
    return arm(write ? Arm::WriteUnaligned2 : Arm::ReadUnaligned2, log - 1);
  }
  uint8_t atomic_arm(const Event& e) const {
    const uint32_t way = random(e, 4).below(3);
    constexpr Arm kChanges[] = {Arm::Swap, Arm::Add, Arm::CompareExchange};
    Arm first = way == 0 ? Arm::FailedExchange : Arm::Load;
    if (e.op == Op::AtomicStore) first = Arm::Store;
    if (e.op == Op::AtomicRmw) first = kChanges[way];
    const unsigned other = e.size == 8 ? 0 : static_cast<unsigned>(Arm::OtherSizes) - static_cast<unsigned>(Arm::Load);
    return arm(first, other + static_cast<unsigned>(e.order));
  }

  void allocate(const Event& e) {
    const uint64_t moved = private_block(e);
    blocks_[e.target] = 1 + random(e, 1).below(3);
    if (const auto block = blocks_.find(moved); block != blocks_.end() && random(e, 12).below(2) == 0) {
      give_up(free_of(e, moved, block_sizes_[moved]), Arm::Move).lock = arena_offset(e.target);
      play_.steps.back().size = static_cast<uint32_t>(e.value);
      return and_then(e);
    }
    if (random(e, 1).below(4) == 0) blocks_[e.target] = 0;
    Step& s = emit(e, Act::Allocate);
    s.object = arena_offset(e.target);
    s.size = static_cast<uint32_t>(e.value);
    s.variant = static_cast<uint8_t>(blocks_[e.target]);
  }
  bool free_block(const Event& e) {
    const auto block = blocks_.find(e.target);
    if (block == blocks_.end()) return false;
    const uint32_t made = block->second;
    const uint64_t to = private_block(e);
    if (made == 0) {
      give_up(e, Arm::Delete);
    } else if (has_other_sizes() && !blocks_.contains(to) && random(e, 13).below(2) == 0) {
      give_up(e, Arm::Move).lock = arena_offset(to);
      Event moved = e;
      moved.op = Op::Alloc;
      moved.target = to;
      blocks_[to] = 1;
      block_sizes_[to] = e.value;
      and_then(moved);
    } else {
      give_up(e, random(e, 14).below(4) == 0 ? Arm::Shrink : Arm::Free);
    }
    return true;
  }
  // One that only this thread knows.
  static uint64_t private_block(const Event& e) { return kPrivateBlocks + uint64_t{32} * index(e.thread); }
  static Event free_of(const Event& e, uint64_t block, uint64_t size) {
    Event free = e;
    free.op = Op::Free;
    free.target = block;
    free.value = size;
    return free;
  }
  Step& give_up(const Event& e, Arm how) {
    blocks_.erase(e.target);
    Step& s = emit(e, Act::Access);
    s.site = next_site_++;
    s.object = arena_offset(e.target);
    s.size = static_cast<uint32_t>(e.value);
    s.variant = arm(how);
    return s;
  }
  // The call that was emitted last makes this event, too.
  void and_then(const Event& e) {
    emit(e, Act::Nothing);
    play_.steps[turn() - 1].last = turn();
  }

  // --- locks and conditions ---

  static uint32_t lock_number_of(LockKind kind, uint64_t id) {
    return lock_number(kind, static_cast<unsigned>(number_of(id)));
  }
  void lock_step(const Event& e, Act act) {
    Step& s = emit(e, act);
    s.object = lock_number_of(locks_[e.target].kind, e.target);
    s.variant = static_cast<uint8_t>(random(e, 5).below(3));
  }
  void acquire(const Event& e) {
    Lock& lock = locks_[e.target];
    const bool twice = lock.kind == LockKind::Recursive && random(e, 6).below(3) == 0;
    for (lock.depth = 0; lock.depth < (twice ? 2U : 1U); ++lock.depth) lock_step(e, Act::Lock);
  }
  void release(const Event& e) {
    Lock& lock = locks_[e.target];
    if (waits_with(e)) {
      // The call lets go of the mutex and waits, and in the end wakes and takes it again: four events.
      const Event& wait = original_[++at_];
      Step& s = object_step(e, Act::Wait);
      s.object = static_cast<uint32_t>(number_of(wait.target));
      s.lock = lock_number_of(lock.kind, e.target);
      emit(wait, Act::Nothing);
      play_.steps[turn() - 1].entered = turn();
      blocked_[e.thread] = {turn() - 1, true};
      return;
    }
    for (; lock.depth > 0; --lock.depth) lock_step(e, Act::Unlock);
  }
  // Whether a wait follows at once, and after its end the lock is taken again at once.
  bool waits_with(const Event& e) {
    const Lock& lock = locks_[e.target];
    const bool is_mutex = lock.kind <= LockKind::ErrorCheck && lock.depth == 1;
    const auto next = [&](std::size_t i, Op op) {
      return i + 1 < original_.size() && original_[i + 1].op == op && original_[i + 1].thread == e.thread;
    };
    if (!is_mutex || !next(at_, Op::Wait)) return false;
    for (std::size_t i = at_ + 2; i < original_.size(); ++i) {
      if (original_[i].thread != e.thread) continue;
      return next(i, Op::Acquire) && original_[i + 1].target == e.target;
    }
    return false;
  }

  // A mutex that only this thread ever takes orders nothing.
  static Event own_lock(const Event& e, Op op) {
    Event own = e;
    own.op = op;
    own.target = abstract_object(kPrivateLocks + index(e.thread));
    return own;
  }
  static uint32_t own_lock_number(const Event& e) {
    return lock_number(LockKind::Mutex, kFirstPrivateLock + index(e.thread));
  }
  void wait(const Event& e) {
    emit(own_lock(e, Op::Acquire), Act::Lock).object = own_lock_number(e);
    Step& s = emit(own_lock(e, Op::Release), Act::Wait);
    s.object = static_cast<uint32_t>(number_of(e.target));
    s.lock = own_lock_number(e);
    s.variant = static_cast<uint8_t>(random(e, 7).below(3));
    s.entered = turn() + 1;
    emit(e, Act::Nothing);
    blocked_[e.thread] = {turn() - 1, false};
  }
  void wake(const Event& e) {
    const bool with_mutex = blocked_[e.thread].with_own_mutex;
    emit(e, Act::Nothing);
    if (with_mutex) {
      emit(original_[++at_], Act::Nothing);
      locks_[original_[at_].target].depth = 1;
      return come_back(e.thread, turn() - 1, turn());
    }
    emit(own_lock(e, Op::Acquire), Act::Nothing);
    come_back(e.thread, turn() - 1, turn());
    emit(own_lock(e, Op::Release), Act::Unlock).object = own_lock_number(e);
  }
  void come_back(ThreadId thread, uint32_t leave, uint32_t last) {
    Step& s = play_.steps[blocked_[thread].step];
    s.leave = leave;
    s.last = last;
  }

  // --- threads ---

  void cast_threads() {
    std::set<uint32_t> forked, joined;
    for (const Event& e : original_) {
      if (e.op == Op::Fork) forked.insert(static_cast<uint32_t>(e.target));
      if (e.op == Op::Join) joined.insert(static_cast<uint32_t>(e.target));
    }
    play_.cast.threads = kThreads;
    play_.cast.steps = static_cast<uint32_t>(play_.steps.size());
    for (const uint32_t t : threads_) {
      if (!forked.contains(t)) play_.cast.from_start |= uint64_t{1} << t, play_.created.push_back(ThreadId{t});
      const auto draw = RandomBits(seed_ + 0x10000 * t).below(4);
      if (!joined.contains(t)) play_.cast.left_over |= uint64_t{1} << t;
      if (!joined.contains(t) && draw == 0) play_.cast.detached |= uint64_t{1} << t;
      if (draw == 1) play_.cast.exits |= uint64_t{1} << t;
      if (draw == 2) play_.cast.cancelled |= uint64_t{1} << t;
    }
    for (const Event& e : original_) {
      if (e.op == Op::Fork) play_.created.push_back(ThreadId{static_cast<uint32_t>(e.target)});
    }
  }

  std::span<const Event> original_;
  std::size_t at_ = 0;
  uint64_t seed_;
  uint32_t first_site_, next_site_;
  std::set<uint32_t> threads_;
  std::map<uint64_t, Lock> locks_;
  std::map<uint64_t, uint32_t> blocks_;       // live: how they were allocated
  std::map<uint64_t, uint64_t> block_sizes_;  // of private ones
  std::map<uint64_t, unsigned> posted_;
  std::map<ThreadId, Blocked> blocked_;
  Play play_;
};

}  // namespace

std::optional<uint64_t> Play::lock_of(uint32_t number) const {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step& s = steps[i];
    const bool locks = s.act == Act::Lock || s.act == Act::ReadLock;
    if (locks && s.object == number) return trace[i].target;
  }
  return {};
}

std::optional<Play> realize(std::span<const Event> trace, uint64_t seed, uint32_t first_site) {
  for (const Event& e : trace) {
    if (index(e.thread) >= kThreads) return {};
    if ((e.op == Op::Fork || e.op == Op::Join) && e.target >= kThreads) return {};
  }
  return Realizer(trace, seed, first_site).run();
}

// The generator's variables are abstract ones, raw ones and blocks; each kind has a part of the arena.
uint32_t arena_offset(uint64_t address) {
  if ((address & kAbstract) != 0) return static_cast<uint32_t>(number_of(address) % 0x1000);
  return static_cast<uint32_t>(address >= kRawHeap ? 0x2000 + (address - kRawHeap) % 0x1000
                                                   : 0x1000 + address % 0x1000);
}

}  // namespace pf::online
