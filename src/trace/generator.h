// A seeded generator of random traces, for tests and benches.
// Guarantees: every trace is well-formed (trace/check.h) and ends tidy: locks released, waiters woken, barriers left,
// threads joined; equal options give the same trace on every platform; no schedule deadlocks, because only events that
// the state allows are drawn; memory is O(threads + variables + locks). With race = 0 and discipline = 1 the trace has
// no race: a local variable stays with its thread, a shared one is only touched under its own lock, in the right mode.
#pragma once
#include <cstdint>
#include <vector>

#include "core/event.h"

namespace pf {

struct GeneratorOptions {
  uint64_t seed = 1;
  uint64_t events = 1000;  // about: the end of the trace may add what is needed to be tidy
  unsigned threads = 4;    // alive at once

  // How many objects of each kind there are; none switches the kind off.
  unsigned variables = 16;       // shared; variable k is guarded by lock k mod (locks + rwlocks)
  unsigned local_variables = 4;  // per thread
  unsigned locks = 4;
  unsigned rwlocks = 0;
  unsigned atomics = 0;  // variables of their own, with loads, stores and rmws of random memory orders
  unsigned conditions = 0;
  unsigned barriers = 0;
  unsigned semaphores = 0;
  unsigned heap_blocks = 0;  // alive at once; their addresses are used again
  unsigned sites = 64;

  // The shape of the program; means of a uniform distribution, and probabilities.
  unsigned accesses_per_section = 4;
  unsigned run_length = 4;  // events of one thread before the scheduler switches
  unsigned nesting = 1;     // locks held at once, at most
  double discipline = 1;    // a section takes the lock of its variables; else some other one, or only its read side
  double race = 0;          // an access goes to shared memory whatever is held
  double local_share = 0.5;
  double write_share = 0.3;
  double locality = 0;      // a section keeps to the locks of its thread's group
  double sync_share = 0.2;  // atomics, fences, notifies, barriers, semaphores and thread churn, as far as switched on

  bool fork_join = false;  // T0 forks the others; threads end, are joined and replaced, ids are never used again
  bool fences = false;
  bool bytes = false;         // shared variables are objects of 8 to 32 bytes, accessed in parts that overlap
  bool values = false;        // accesses carry values; a read sees the last write
  bool unique_sites = false;  // the site of event i is i + 1
};

// A mix of features and sizes drawn from the seed, for property tests over many small traces.
GeneratorOptions random_options(uint64_t seed, uint64_t events);

// splitmix64: one addition and one mix per number.
class RandomBits {
 public:
  explicit RandomBits(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  // A number less than n; n must not be 0.
  uint32_t below(uint32_t n) { return static_cast<uint32_t>((next() >> 32) * n >> 32); }
  // True in `odds` of 2^32 cases.
  bool hit(uint64_t odds) { return next() >> 32 < odds; }

 private:
  uint64_t state_;
};

class Generator {
 public:
  explicit Generator(const GeneratorOptions& options);
  // Writes the next event; false at the end of the trace.
  bool next(Event& event);

 private:
  enum class Life : uint8_t { Unborn, Forked, Running, Ended, Gone };
  enum class Activity : uint8_t { Atomic, Fence, Notify, Barrier, Semaphore, Churn };
  enum class Burst : uint8_t { Local, Guarded, GuardedReads };
  enum class Duty : uint8_t { None, Wait, Wake, Relock, Leave, Fork };

  struct Held {
    uint32_t guard;
    bool reads;
  };
  struct Thread {
    ThreadId id{};
    Life life = Life::Running;
    // The burst of accesses that it is in: how many are left, and to what.
    Burst burst = Burst::Local;
    uint32_t accesses_left = 0;
    uint32_t burst_guard = 0;
    uint32_t burst_variables = 0;
    uint32_t burst_blocks = 0;
    std::vector<Held> held;  // by ascending guard, so that nested sections cannot deadlock
    // What it must do next, once no access is left; `subject` is the condition, the lock, the barrier or the slot.
    Duty duty = Duty::None;
    uint32_t subject = 0;
    uint32_t relock_guard = 0;
    uint32_t barrier_round = 0;
    bool notified = false;
  };
  struct Guard {
    bool written = false;
    uint32_t readers = 0;
  };
  struct Barrier {
    uint32_t round = 0;
    uint32_t entered = 0;
    uint32_t parties = 0;
    bool closed = false;  // its threads may leave; the first to leave opens the next round
  };
  struct Block {
    uint32_t offset = 0;
    uint32_t size = 0;
    bool live = false;
  };
  // A piece of memory that an access may fall in; `number` says where its values are kept.
  struct Object {
    uint64_t address;
    uint32_t size;
    uint32_t number;
  };

  bool advance(uint32_t slot, Event& event);
  bool do_duty(uint32_t slot, Event& event);
  bool start_activity(uint32_t slot, Event& event);
  bool start_sync(uint32_t slot, Activity activity, Event& event);
  bool drain(Event& event);
  bool drain_thread(uint32_t slot, Event& event);

  void access(uint32_t slot, Event& event);
  void access_local(uint32_t slot, Event& event);
  void access_guarded(uint32_t slot, Event& event);
  void access_anything(uint32_t slot, Event& event);
  void access_block(uint32_t slot, uint32_t block, bool only_reads, Event& event);
  void access_block_wildly(uint32_t slot, uint32_t block, Event& event);
  void access_object(uint32_t slot, const Object& object, bool only_reads, Event& event);
  void access_atomically(uint32_t slot, const Object& object, Event& event);
  void allocate(uint32_t slot, uint32_t block, Event& event);
  void deallocate(uint32_t slot, uint32_t block, Event& event);
  void fill_value(const Object& object, Event& event);

  bool start_section(uint32_t slot, Event& event);
  bool start_nested_section(uint32_t slot, Event& event);
  void start_burst(Thread& thread, uint32_t guard, bool only_reads);
  bool end_section(uint32_t slot, Event& event);
  bool lock(uint32_t slot, uint32_t guard, bool reads, Event& event);
  void unlock(uint32_t slot, Event& event);
  uint32_t pick_guard(uint32_t slot);
  bool pick_reads(uint32_t guard) { return guard >= options_.locks && random_.below(2) == 0; }

  bool relock(uint32_t slot, Event& event);
  bool wake(uint32_t slot, Event& event);
  void notify(uint32_t slot, Event& event);
  bool enter_barrier(uint32_t slot, uint32_t barrier, Event& event);
  bool leave_barrier(uint32_t slot, Event& event);
  void use_semaphore(uint32_t slot, Event& event);
  bool churn(uint32_t slot, Event& event);
  void fork(uint32_t slot, uint32_t child_slot, Event& event);
  void join_ended(uint32_t slot, Event& event);
  void end_thread(uint32_t slot, Event& event);

  void emit(uint32_t slot, Op op, uint64_t target, Event& event);
  uint32_t around(uint32_t mean) { return 1 + random_.below(2 * mean - 1); }
  Object shared_variable(uint32_t variable) const;
  Object atomic_variable(uint32_t variable) const;
  Object local_variable(uint32_t slot, uint32_t variable) const;
  Object heap_block(uint32_t block) const;

  GeneratorOptions options_;
  RandomBits random_;
  uint32_t guards_;                                    // locks, then rwlocks
  uint32_t first_local_, first_atomic_, first_block_;  // numbers of objects; shared variables begin at 0
  uint64_t discipline_odds_, race_odds_, local_odds_, write_odds_, locality_odds_, sync_odds_;

  std::vector<Thread> threads_;  // by slot; the thread that joins a slot's thread forks the next one into it
  std::vector<Guard> guard_states_;
  std::vector<Barrier> barriers_;
  std::vector<uint32_t> semaphores_;
  std::vector<Block> blocks_;
  std::vector<uint8_t> values_;  // of all objects, only when events carry values
  std::vector<Activity> activities_;
  std::vector<uint32_t> ended_slots_;  // not joined yet

  uint64_t emitted_ = 0;
  uint64_t drain_at_;
  uint32_t current_ = 0;  // the slot that the scheduler runs
  uint32_t run_left_ = 0;
  uint32_t next_id_ = 0;
  uint32_t unborn_ = 0;
};

}  // namespace pf
