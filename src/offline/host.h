// The offline host: drives one detector over the events of a trace, single-threaded. It owns what the rules must not
// know of: the shadow, the tables of objects, thread slots, locksets and the log of races.
#pragma once
#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <utility>

#include "core/object.h"
#include "detect/chain.h"
#include "detect/detector.h"
#include "offline/race_log.h"
#include "offline/shadow.h"

namespace pf {

template <template <class> class Template, class Env = OfflineEnv>
class OfflineHost final : public DetectorStage {
  using Access = typename Env::Access;
  using D = Template<Env>;
  static_assert(Detector<D, Env>);

 public:
  explicit OfflineHost(const Options& options = {}) { env_.configure(options); }

  void process(std::span<const Event> batch) override {
    events_ += batch.size();
    for (const Event& e : batch) step(e);
  }

  Findings findings() const override {
    Findings f;
    f.races = log_.races();
    for (std::size_t i = 0; i < D::kInfo.rules.size(); ++i) f.rules.push_back({D::kInfo.rules[i], env_.rules[i]});
    f.events = events_;
    f.accesses = accesses_;
    f.dynamic_races = log_.dynamic_races();
    f.racy_events = racy_events_;
    f.threads = thread_count_;
    f.bytes = env_.arena.live_bytes() + shadow_.bytes() + locks_.bytes() + atomics_.bytes();
    return f;
  }

 private:
  struct HostThread {
    typename D::Thread state;
    LocksetId locks = kNoLocks;
    bool slot_given_back = false;
  };
  struct Block {
    uint64_t last;
    SiteId site;
    bool freed;
  };

  // Hot: a plain access is inlined down to its rule.
  [[gnu::always_inline]] void step(const Event& e) {
    HostThread& t = thread(e.thread);
    if (e.op <= Op::Write) [[likely]]
      return access<&D::read, &D::write>(t, e);
    step_sync(t, e);
  }

  [[gnu::noinline]] void step_sync(HostThread& t, const Event& e) {
    switch (e.op) {
      case Op::AtomicLoad:
      case Op::AtomicStore:
      case Op::AtomicRmw: return atomic(t, e);
      case Op::Acquire: return lock(t, e, LockMode::Write);
      case Op::Release: return unlock(t, e, LockMode::Write);
      case Op::ReadAcquire: return lock(t, e, LockMode::Read);
      case Op::ReadRelease: return unlock(t, e, LockMode::Read);
      default: return step_rare(t, e);
    }
  }

  [[gnu::noinline]] void step_rare(HostThread& t, const Event& e) {
    switch (e.op) {
      case Op::Alloc: return alloc(t, e);
      case Op::Free: return free(t, e);
      case Op::Fork: return fork(t, e);
      case Op::Join: return join(t, e);
      case Op::End: return give_back_slot(t);
      case Op::Wait: return D::wait(t.state, conditions_.at(e.target, env_.arena), env_);
      case Op::Wake: return D::wake(t.state, env_);
      case Op::Notify: return D::notify(t.state, conditions_.at(e.target, env_.arena), env_);
      case Op::BarrierEnter: return D::barrier_enter(t.state, barriers_.at(e.target, env_.arena), env_);
      case Op::BarrierLeave: return D::barrier_leave(t.state, env_);
      case Op::SemPost: return D::sem_post(t.state, semaphores_.at(e.target, env_.arena), env_);
      case Op::SemWait: return D::sem_wait(t.state, semaphores_.at(e.target, env_.arena), env_);
      case Op::Fence: return D::fence(t.state, e.order, env_);
      default: return;  // the call tree, missing methods and sampling marks order nothing
    }
  }

  // --- accesses ---

  // Reads and writes take one way until an epoch is seen to be new: a branch on the operation is hard to predict.
  template <auto kRead, auto kWrite>
  [[gnu::always_inline]] void access(HostThread& t, const Event& e) {
    ++accesses_;
    shadow_.for_each(e.target, e.size, [&](typename D::Var& x, uint64_t address) {
      if constexpr (HasSameEpoch<D, Env> && kRead == &D::read) {
        if (D::same_epoch(t.state, x, e.op, env_)) return;
      }
      env_.current_locks = t.locks;
      const Access a = Access::of(e, t.locks);
      writes(e.op) ? kWrite(t.state, x, a, env_) : kRead(t.state, x, a, env_);
      if (!env_.found.empty()) [[unlikely]]
        note(address);
    });
    if constexpr (OrdersReadsAfterWrites<D, Env>) order_by_values(t, e);
    if (!noted_.empty()) [[unlikely]]
      settle(t, e);
  }

  void atomic(HostThread& t, const Event& e) {
    typename D::Atomic& a = atomics_.at(e.target, env_.arena);
    D::atomic_before(t.state, a, e.op, e.order, env_);
    access<&D::atomic_read, &D::atomic_write>(t, e);
    D::atomic_after(t.state, a, e.op, e.order, env_);
  }

  void order_by_values(HostThread& t, const Event& e) {
    if (e.op != Op::Write && e.op != Op::AtomicStore) {
      shadow_.for_each(e.target, e.size, [&](typename D::Var& x, uint64_t) { D::reads_from(t.state, x, env_); });
    }
    if (!writes(e.op)) return;
    shadow_.for_each(e.target, e.size, [&](typename D::Var& x, uint64_t) { D::publish(t.state, x, env_); });
    D::published(t.state, env_);
  }

  // --- memory ---

  void alloc([[maybe_unused]] HostThread& t, const Event& e) {
    if (extent(e) == 0) return;
    if constexpr (OrdersReadsAfterWrites<D, Env>) {
      typename D::Var fresh{};
      D::publish(t.state, fresh, env_);
      D::published(t.state, env_);
      shadow_.begin_block(e.target, extent(e), fresh);
    } else {
      shadow_.forget(e.target, extent(e));
    }
    forget_atomics(e);
    remember_block(e, false);
  }

  void free(HostThread& t, const Event& event) {
    if (extent(event) == 0) return;
    Event e = event;
    e.size = static_cast<uint32_t>(std::min<uint64_t>(extent(e), kMaxAccessSize));  // for the report
    env_.current_locks = t.locks;
    const Access a = Access::of(e, t.locks);
    typename D::Var freed{};
    D::write(t.state, freed, a, env_);
    if constexpr (OrdersReadsAfterWrites<D, Env>) D::publish(t.state, freed, env_);
    shadow_.free_block(
        e.target, extent(e),
        [&](typename D::Var& x, uint64_t address) {
          D::write(t.state, x, a, env_);
          if (!env_.found.empty()) [[unlikely]]
            note(address);
        },
        freed);
    if constexpr (OrdersReadsAfterWrites<D, Env>) D::published(t.state, env_);
    forget_atomics(e);
    if (!noted_.empty()) settle(t, e);
    remember_block(e, true);
  }

  // The bytes of the block that exist: none past the end of the address space.
  static uint64_t extent(const Event& e) {
    const uint64_t room = std::numeric_limits<uint64_t>::max() - e.target;
    return std::min(e.value, room);
  }

  void forget_atomics(const Event& e) {
    for (const uint64_t a : atomics_.ids_in(e.target, e.target + extent(e) - 1)) {
      D::forget(*atomics_.find(a), env_);
      atomics_.erase(a, env_.arena);
    }
  }

  void remember_block(const Event& e, bool freed) {
    const uint64_t last = e.target + extent(e) - 1;
    auto it = blocks_.upper_bound(last);
    while (it != blocks_.begin() && std::prev(it)->second.last >= e.target) it = blocks_.erase(std::prev(it));
    blocks_[e.target] = {last, e.site, freed};
  }

  // --- locks ---

  void lock(HostThread& t, const Event& e, LockMode mode) {
    typename D::Lock& l = locks_.at(e.target, env_.arena);
    mode == LockMode::Write ? D::acquire(t.state, l, env_) : D::read_acquire(t.state, l, env_);
    t.locks = env_.locksets.with(t.locks, {e.target, mode}, env_);
  }

  void unlock(HostThread& t, const Event& e, LockMode mode) {
    typename D::Lock& l = locks_.at(e.target, env_.arena);
    mode == LockMode::Write ? D::release(t.state, l, env_) : D::read_release(t.state, l, env_);
    t.locks = env_.locksets.without(t.locks, {e.target, mode}, env_);
  }

  // --- threads ---

  HostThread& thread(ThreadId id) {
    if (index(id) < threads_.size() && threads_[index(id)] != nullptr) [[likely]]
      return *threads_[index(id)];
    return new_thread(id, nullptr);
  }

  [[gnu::noinline]] HostThread& new_thread(ThreadId id, const HostThread* parent) {
    if (index(id) >= threads_.size()) threads_.resize(std::max<std::size_t>(index(id) + 1, threads_.size() * 2));
    ++thread_count_;
    threads_[index(id)] = std::make_unique<HostThread>();
    HostThread& t = *threads_[index(id)];
    if (parent == nullptr || !take_used_slot(t, id, *parent)) D::start(t.state, id, env_.fresh_slot(id));
    return t;
  }

  // The slot of a dead thread that the parent knows all about, if there is one at hand.
  bool take_used_slot(HostThread& t, ThreadId id, const HostThread& parent) {
    const std::size_t tries = std::min<std::size_t>(graves_.size(), 8);
    for (std::size_t i = 0; i < tries; ++i) {
      const typename D::Grave grave = graves_.front();
      graves_.pop_front();
      if (D::may_succeed(grave, parent.state)) {
        D::succeed(t.state, id, grave);
        env_.own(D::epoch(t.state).slot(), D::epoch(t.state).clock(), id);
        return true;
      }
      graves_.push_back(grave);
    }
    return false;
  }

  void fork(HostThread& t, const Event& e) {
    const ThreadId id{static_cast<uint32_t>(e.target)};
    if (id == e.thread) return;
    const bool fresh = index(id) >= threads_.size() || threads_[index(id)] == nullptr;
    HostThread& child = fresh ? new_thread(id, &t) : *threads_[index(id)];
    D::fork(t.state, child.state, env_);
  }

  void join(HostThread& t, const Event& e) {
    const ThreadId id{static_cast<uint32_t>(e.target)};
    if (id == e.thread) return;
    HostThread& child = thread(id);
    D::join(t.state, child.state, env_);
    give_back_slot(child);
    D::destroy(child.state, env_);
    threads_[index(id)].reset();
  }

  void give_back_slot(HostThread& t) {
    if (std::exchange(t.slot_given_back, true)) return;
    graves_.push_back(D::bury(t.state));
  }

  // --- races: cold ---

  struct Noted {
    Mark<Env> prior;
    Verdict verdict;
    uint64_t address;
  };

  [[gnu::noinline, gnu::cold]] void note(uint64_t address) {
    for (const typename Env::Found& f : env_.found) {
      const auto same = [&](const Noted& n) {
        return n.prior.epoch == f.prior.epoch && Env::same_place(n.prior.access, f.prior.access) &&
               n.prior.access.locks == f.prior.access.locks;
      };
      if (std::none_of(noted_.begin(), noted_.end(), same)) noted_.push_back({f.prior, f.verdict, address});
    }
    env_.found.clear();
  }

  // Once all parts of an access were checked: the same pair counts once, however many bytes it shares.
  [[gnu::noinline, gnu::cold]] void settle(const HostThread& t, const Event& e) {
    ++racy_events_;
    for (const Noted& n : noted_) {
      RaceRecord race;
      const Access& a = n.prior.access;
      race.first = {env_.owner(n.prior.epoch), a.site, a.locks, a.op(), a.size()};
      race.second = {e.thread, e.site, t.locks, e.op, e.size};
      race.verdict = n.verdict;
      race.memory = memory_at(n.address);
      if (!log_.add(race)) continue;
      FoundRace& found = log_.newest();
      env_.locksets.for_each(a.locks, [&](const HeldLock& l) { found.first_locks.push_back(l); });
      env_.locksets.for_each(t.locks, [&](const HeldLock& l) { found.second_locks.push_back(l); });
    }
    noted_.clear();
  }

  RaceMemory memory_at(uint64_t address) const {
    RaceMemory m;
    m.address = address;
    if (address >= kAbstract) m.object = address;
    auto it = blocks_.upper_bound(address);
    if (it == blocks_.begin()) return m;
    --it;
    if (it->second.last < address) return m;
    m.kind = it->second.freed ? RaceMemory::Kind::Freed : RaceMemory::Kind::Heap;
    m.block = it->first;
    m.block_size = it->second.last - it->first + 1;
    m.block_site = it->second.site;
    m.object = index(it->second.site);
    return m;
  }

  Env env_;
  Shadow<D, Env> shadow_{env_};
  IdMap<typename D::Lock> locks_;
  IdMap<typename D::Atomic> atomics_;
  IdMap<typename D::Condition> conditions_;
  IdMap<typename D::Barrier> barriers_;
  IdMap<typename D::Semaphore> semaphores_;
  std::vector<std::unique_ptr<HostThread>> threads_;
  std::deque<typename D::Grave> graves_;  // of dead threads whose slots are free, oldest first
  std::map<uint64_t, Block> blocks_;      // heap blocks of the trace, live and freed
  std::vector<Noted> noted_;              // races of the access being processed
  RaceLog log_;
  uint64_t events_ = 0, accesses_ = 0, racy_events_ = 0, thread_count_ = 0;
};

}  // namespace pf
