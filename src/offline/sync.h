// Threads and synchronization objects of a trace: brings every event that touches no memory to a detector's rules, and
// gives slots to threads. Whoever runs the same detector's order over the same events gets the same slots.
#pragma once
#include <algorithm>
#include <deque>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "offline/id_map.h"

namespace pf {

// The bytes of an allocated or freed block that exist: none past the end of the address space.
inline uint64_t extent(const Event& e) {
  const uint64_t room = std::numeric_limits<uint64_t>::max() - e.target;
  return std::min(e.value, room);
}

template <class D, class Env>
class SyncState {
 public:
  struct HostThread {
    typename D::Thread state;
    LocksetId locks = kNoLocks;
    bool slot_given_back = false;
  };

  explicit SyncState(Env& env) : env_(env) {}

  HostThread& thread(ThreadId id) {
    if (HostThread* t = find(id)) [[likely]]
      return *t;
    return new_thread(id, nullptr);
  }
  // None: it has done nothing yet, or was joined.
  HostThread* find(ThreadId id) const { return index(id) < threads_.size() ? threads_[index(id)].get() : nullptr; }

  // Every event but accesses, atomics and the ends of memory.
  void step(HostThread& t, const Event& e) {
    switch (e.op) {
      case Op::Acquire: return lock(t, e, LockMode::Write);
      case Op::Release: return unlock(t, e, LockMode::Write);
      case Op::ReadAcquire: return lock(t, e, LockMode::Read);
      case Op::ReadRelease: return unlock(t, e, LockMode::Read);
      default: return step_rare(t, e);
    }
  }

  typename D::Atomic& atomic(uint64_t address) { return atomics_.at(address, env_.arena); }

  // The memory of `size` > 0 bytes ends, or begins anew.
  void forget_atomics(uint64_t address, uint64_t size) {
    for (const uint64_t a : atomics_.ids_in(address, address + size - 1)) {
      D::forget(*atomics_.find(a), env_);
      atomics_.erase(a, env_.arena);
    }
  }

  // Those that have not ended: the slot of one that has may be another's by now.
  template <class F>
  void for_each_live_thread(F&& f) {
    for (const auto& t : threads_) {
      if (t != nullptr && !t->slot_given_back) f(*t);
    }
  }

  uint64_t threads() const { return thread_count_; }  // ever
  uint64_t bytes() const { return locks_.bytes() + atomics_.bytes(); }

 private:
  [[gnu::noinline]] void step_rare(HostThread& t, const Event& e) {
    switch (e.op) {
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
    HostThread* known = find(id);
    HostThread& child = known != nullptr ? *known : new_thread(id, &t);
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

  Env& env_;
  IdMap<typename D::Lock> locks_;
  IdMap<typename D::Atomic> atomics_;
  IdMap<typename D::Condition> conditions_;
  IdMap<typename D::Barrier> barriers_;
  IdMap<typename D::Semaphore> semaphores_;
  std::vector<std::unique_ptr<HostThread>> threads_;
  std::deque<typename D::Grave> graves_;  // of dead threads whose slots are free, oldest first
  uint64_t thread_count_ = 0;
};

}  // namespace pf
