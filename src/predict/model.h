// The plain facts of a window that all predictors ask for: who its threads are, where in them an event stands, which
// critical sections there are, what conflicts.
#pragma once
#include <unordered_map>

#include "predict/cells.h"

namespace pf::predict {

using Thread = uint32_t;  // of the window, numbered from 0

// From an acquire to its release, as far as they are in the window. Of a recursive lock, the outermost.
struct Section {
  Thread thread = 0;
  uint64_t lock = 0;
  Index begin = kNone;  // kNone: held before the window
  Index end = kNone;    // kNone: still held at its end
};

// The sections of one lock; two collide if they are of different threads and one of them writes.
struct LockUse {
  std::vector<Section> writing, holding;  // holding: in either way; each in the order of the trace
};

class Model {
 public:
  Model(const Window& window, const Cells& cells);

  const Window& window() const { return window_; }
  const Cells& cells() const { return cells_; }
  Index size() const { return static_cast<Index>(window_.events.size()); }
  const Event& event(Index i) const { return window_.events[i]; }

  Thread threads() const { return static_cast<Thread>(by_thread_.size()); }
  Thread thread(Index i) const { return thread_[i]; }
  uint32_t position(Index i) const { return position_[i]; }
  const std::vector<Index>& events_of(Thread t) const { return by_thread_[t]; }
  Index previous(Index i) const { return position_[i] == 0 ? kNone : by_thread_[thread_[i]][position_[i] - 1]; }
  Index fork_of(Thread t) const { return forks_[t]; }
  // kNone: it has no event in the window.
  Thread find(ThreadId id) const;
  static constexpr Thread kNoThread = kNone;

  bool has_missing_calls() const { return has_missing_calls_; }

  const std::map<uint64_t, LockUse>& locks() const { return locks_; }
  // Both hold a lock, and not both for reading.
  bool exclude_each_other(Index a, Index b) const;
  std::vector<Window::Held> held(Index i) const;  // by the thread of an access

  bool conflict(Index a, Index b) const;  // a before b in the trace

 private:
  void find_threads();
  void find_sections();
  void find_lives();
  uint32_t lockset_number(const std::map<uint64_t, std::pair<uint32_t, uint32_t>>& held);

  const Window& window_;
  const Cells& cells_;
  std::unordered_map<ThreadId, Thread> numbers_;
  std::vector<Thread> thread_;
  std::vector<uint32_t> position_;
  std::vector<std::vector<Index>> by_thread_;
  std::vector<Index> forks_;
  bool has_missing_calls_ = false;
  std::map<uint64_t, LockUse> locks_;
  using Lockset = std::vector<std::pair<uint64_t, bool>>;  // lock, for writing
  std::map<Lockset, uint32_t> lockset_numbers_;
  std::vector<Lockset> locksets_;
  std::vector<uint32_t> lockset_;  // of each access and free
  std::vector<std::vector<uint32_t>>
      lives_;  // of each access and free: how often each of its cells was given away before
};

}  // namespace pf::predict
