// Which lock hid a potential race, asked inside the program: the thread of the second access looks among the acquires that it remembers for one
// that brought it what the first access's thread had done by then. (Of a trace, offline/explain.h asks the same by a second reading.)
//
// A lesson is an acquire that taught its thread something, the release it was taught by, and what that release is sure to have brought: all that
// the lock had, if one thread alone had left it there; else, of several readers of an rwlock, each one's own time. A lesson that brought c@s
// lies on a path of full happens-before from the first access to the second, and what follows is the second thread's own order. So whichever is
// named is true; it is the oldest that is kept, the nearest to the first that taught it.
//
// A new thread has its parent's lessons, since it knows all that the parent did.
//
// Bounded: kKept lessons a thread, kReaders readers of a lock. What is not kept any more, or was another thread's lesson and came by a condition,
// a barrier, a semaphore or an atomic, is not named: to look for it among the lessons of others, each would need a lock at every acquire.
// Cost: to an acquire that teaches nothing a compare or two, to a release the note where it was; to accesses nothing.
#pragma once
#include "core/happens_before.h"
#include "runtime/env.h"

namespace pf::rt {

// A thread at a lock. Its stack gets a number of its own only when it is reported.
struct AtLock {
  uint32_t thread;
  depot::Id calls;
  uintptr_t pc;
  LockMode mode;

  depot::Id stack() const { return depot::push(calls, pc); }
};

inline AtLock at_lock(Thread& t, LockMode mode) { return {t.info->id, calls(t), t.caller, mode}; }

// Where a lock was let go of, beside the detector's own state of it.
class Releases {
 public:
  struct Release {
    AtLock step;
    OnlineEpoch at;
  };

  // Before the rule: at its time the release publishes.
  void note(const AtLock& step, OnlineEpoch at, OnlineEnv& env) {
    if (step.mode == LockMode::Read) return note_reader({step, at}, env);
    written_ = {step, at};
    readers_.clear();
  }
  void forget(OnlineEnv& env) { readers_.release(env); }

  const Release& written() const { return written_; }
  const Array<Release, OnlineEnv>& readers() const { return readers_; }  // since then, each thread's latest

 private:
  static constexpr uint32_t kReaders = 8;

  void note_reader(const Release& r, OnlineEnv& env) {
    uint32_t i = 0;
    while (i < readers_.size() && readers_[i].step.thread != r.step.thread) ++i;
    if (i == readers_.size() && i == kReaders) i = 0;
    if (i < readers_.size()) readers_.remove(i);
    readers_.push(r, env);
  }

  Release written_{};
  Array<Release, OnlineEnv> readers_;
};

struct Lesson {
  uintptr_t lock;
  AtLock release, acquire;
  Published<OnlineEnv> brought;

  bool has(OnlineEpoch e) const {
    const OnlineEpoch last = brought.last;
    return brought.clock.covers(e) || (last.slot() == e.slot() && last.clock() >= e.clock());
  }
};

// Of one thread, the latest.
class Lessons {
 public:
  using Order = HappensBefore<OnlineEnv>;

  // Before the rule of the acquire.
  void take(const Order::Thread& t, uintptr_t address, const Order::Lock& l, const Releases& releases,
            const AtLock& acquire, OnlineEnv& env) {
    if (!Order::covers(t, l.written))
      keep({address, releases.written().step, acquire, {}}, l.written, releases.written().at, env);
    if (acquire.mode == LockMode::Read || Order::covers(t, l.read)) return;
    for (uint32_t i = 0; i < releases.readers().size(); ++i) {
      const Releases::Release& r = releases.readers()[i];
      if (!Order::ordered(r.at, t)) keep({address, r.step, acquire, {}}, l.read, r.at, env);
    }
  }

  // The oldest that taught of it, or null.
  const Lesson* of(OnlineEpoch e) const {
    for (uint32_t i = count_ < kKept ? 0 : count_ - kKept; i != count_; ++i) {
      if (kept_[i % kKept].has(e)) return &kept_[i % kKept];
    }
    return nullptr;
  }

  // Of a thread that is about to begin.
  void inherit(const Lessons& parent, OnlineEnv& env) {
    count_ = parent.count_;
    for (uint32_t i = 0; i < kKept; ++i) {
      const Lesson& l = parent.kept_[i];
      kept_[i] = {l.lock, l.release, l.acquire, {}};
      kept_[i].brought.assign(l.brought, env);
    }
  }

  void forget(OnlineEnv& env) {
    for (Lesson& l : kept_) l.brought.clear(env);
    count_ = 0;
  }

 private:
  static constexpr uint32_t kKept = 32;

  void keep(Lesson lesson, const Published<OnlineEnv>& from, OnlineEpoch released, OnlineEnv& env) {
    Lesson& place = kept_[count_++ % kKept];
    place.brought.clear(env);
    place = lesson;
    if (from.last == released) {
      place.brought.assign(from, env);
    } else {
      place.brought.last = released;
    }
  }

  Lesson kept_[kKept] = {};
  uint32_t count_ = 0;
};

}  // namespace pf::rt
