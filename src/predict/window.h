// A trace cut into windows of so many events. Everything before a window is taken to have run as the trace has it, nothing
// after it runs at all; so a reordering of the window's events is one of the whole trace, and windows can be looked at
// alone, in any order, on any machine. What a window must know of the events before it comes with it.
#pragma once
#include <functional>
#include <map>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/blocks.h"
#include "core/event.h"
#include "core/race.h"

namespace pf::predict {

using Index = uint32_t;  // of an event in its window
inline constexpr Index kNone = ~Index{0};

// Bytes of one aligned word that are known to have a value, from a write or a read that carries it.
struct KnownWord {
  uint64_t value = 0;
  uint64_t known = 0;  // 0xff for each byte that is

  friend bool operator==(const KnownWord&, const KnownWord&) = default;
};

struct Range {
  uint64_t begin = 0, end = 0;  // end: one past the last byte
  bool overlaps(const Range& other) const { return begin < other.end && other.begin < end; }
};
// The bytes that an access, an alloc, a free or a reach is about.
Range range_of(const Event& e);

struct Window {
  // What a wake needs: nothing; a notify since its wait; or all that came before it, since its wait is not in the trace.
  enum class Notice : uint8_t { None, One, All };
  static constexpr uint32_t kUnknownRound =
      ~uint32_t{0};  // of a leave whose enter, or one before, may not be in the trace
  struct Held {
    ThreadId thread{};
    uint64_t lock = 0;
    uint32_t writes = 0, reads = 0;  // how often, on either side
  };
  // A call into code without instrumentation that is under way (a BarrierPair without its end).
  struct Missing {
    ThreadId thread{};
    std::vector<Range> reach;
  };

  uint64_t number = 0;  // of the window, from 0
  uint64_t first = 0;   // the number of its first event in the trace, from 0
  std::vector<Event> events;

  // What the events before it leave behind.
  std::vector<Held> held;
  std::map<uint64_t, uint64_t> tokens;            // of each semaphore: its count
  std::unordered_map<uint64_t, KnownWord> words;  // memory that the window touches, by address / 8
  std::vector<Missing> missing;                   // innermost last
  bool after_missing = false;                     // there was a call without instrumentation, up to its end

  // What only the events before it tell of some of its events; by index.
  std::vector<uint32_t> rounds;    // of an enter or leave, of its barrier
  std::vector<Notice> notices;     // of a wake
  std::vector<RaceMemory> memory;  // of an access or a free
};

// Cuts as events come in; memory is that of one window and of what it carries over.
class Cutter {
 public:
  using Sink = std::function<void(Window&&)>;
  Cutter(uint64_t window_events, Sink sink);

  void process(std::span<const Event> batch);
  void finish();  // the last window, if it has any events
  uint64_t threads() const { return threads_.size(); }

 private:
  struct Barrier {
    uint32_t open = 0;                      // the round that takes who enters
    std::map<ThreadId, uint32_t> inside{};  // the round of each thread that has entered and not left
  };
  struct Waiting {
    uint64_t condition = 0;
    bool notified = false, notified_before = false;  // since the wait; before the window
  };
  struct Semaphore {
    int64_t balance = 0;  // posts less takes
    int64_t least = 0;    // of it, ever
    int64_t at_begin = 0;
  };

  void begin_window();
  void end_window();
  void step(const Event& e);
  void step_sync(const Event& e);
  void lock(const Event& e, int change);
  void hold_from_start(const Event& e, bool writes);
  Window::Notice wake(const Event& e);
  void remember_values(const Event& e);
  void forget_values(const Range& range);
  void take_words();

  uint64_t size_;
  Sink sink_;
  Window window_;
  uint64_t next_number_ = 0, next_event_ = 0;
  std::set<ThreadId> threads_;
  std::map<std::pair<ThreadId, uint64_t>, std::pair<uint32_t, uint32_t>> held_;  // writes, reads
  std::map<uint64_t, Barrier> barriers_;
  std::map<ThreadId, Waiting> waiting_;
  std::map<uint64_t, Semaphore> semaphores_;
  std::vector<Window::Missing> missing_;
  std::unordered_map<uint64_t, KnownWord> words_;  // as they are when the window begins
  bool has_missing_ = false;
  Blocks blocks_;
};

}  // namespace pf::predict
