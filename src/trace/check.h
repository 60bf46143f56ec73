// Says whether a trace could have come from a program: its locks are released by their holders, its threads act while
// they live.
// Guarantees: streaming; memory grows with what is alive (held locks, live threads and blocks), not with the trace.
// Which events may follow which is written at each rule in check.cpp; what they order is docs/happens-before.md.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/event.h"
#include "core/object.h"

namespace pf {

// How messages name things; a trace with a symbol table passes its own.
struct Namer {
  std::function<std::string(ThreadId)> thread;
  std::function<std::string(ObjectKind, uint64_t)> object;
};
// T1, L3, V2+4; what has no abstract number is written in hexadecimal.
Namer plain_namer();

class Checker {
 public:
  explicit Checker(Namer namer = plain_namer()) : namer_(std::move(namer)) {}

  // The fault of this event, or nothing. A faulty event has no effect: the next one is judged as if it were left out.
  std::optional<std::string> next(const Event& event);
  // What is still open: a thread that holds a lock, waits or is inside a barrier or an uninstrumented call.
  // A trace cut short, by a crash or by exit(), is well-formed and yet fails this.
  std::optional<std::string> finish() const;

 private:
  using Fault = std::optional<std::string>;

  struct Thread {
    uint32_t missing_depth = 0;  // of uninstrumented calls
    bool forked = false;
    bool acted = false;
    bool may_reach = false;  // its last event was a miss or a reach
    std::optional<uint64_t> waits_on;
    std::optional<uint64_t> inside_barrier;
  };
  struct Reader {
    ThreadId thread;
    uint32_t depth;
  };
  struct Lock {
    ThreadId writer{};
    uint32_t write_depth = 0;
    std::vector<Reader> readers;
  };
  // Thread ids as intervals: threads that come and go in order cost nothing.
  class IdSet {
   public:
    bool contains(ThreadId id) const;
    void insert(ThreadId id);

   private:
    std::map<uint32_t, uint32_t> last_by_first_;
  };

  Fault check_alive(const Event& event) const;
  Fault check_not_blocked(const Thread& thread, const Event& event) const;
  Fault apply(Thread& thread, const Event& event);
  Fault access(const Event& event) const;
  Fault reach(const Thread& thread, const Event& event) const;
  Fault alloc(const Event& event);
  void end_covered_blocks(uint64_t address, uint64_t size);
  Fault free_block(const Event& event);
  Fault acquire(const Event& event);
  Fault release(const Event& event);
  Fault read_acquire(const Event& event);
  Fault read_release(const Event& event);
  Fault check_other_thread(const Event& event) const;
  Fault fork(const Event& event);
  Fault join(const Event& event);
  Fault begin(const Thread& thread, const Event& event) const;
  Fault wait(Thread& thread, const Event& event);
  Fault wake(Thread& thread, const Event& event);
  Fault enter(Thread& thread, const Event& event);
  Fault leave(Thread& thread, const Event& event);
  Fault missing_end(Thread& thread, const Event& event);
  Fault toggle_sampling(const Event& event);

  const std::pair<const uint64_t, uint64_t>* overlapping_block(uint64_t address, uint64_t size) const;
  void forget_if_free(uint64_t lock);
  std::string who(const Event& event) const { return namer_.thread(event.thread); }
  std::string what(const Event& event) const { return namer_.object(object_kind(event.op), event.target); }

  Namer namer_;
  std::map<uint32_t, Thread> threads_;  // alive
  IdSet ended_, joined_;
  std::map<uint64_t, Lock> locks_;       // held
  std::map<uint64_t, uint64_t> blocks_;  // live: size by address
  std::optional<bool> sampling_;
};

}  // namespace pf
