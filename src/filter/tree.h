// TREE: drops accesses that cannot add a race, because this thread made the same one before in the same concurrency context.
//
// The context of a thread is its lockset and the history of messages (forks, joins, notifications, barriers, semaphores, atomics,
// fences) that it sent and received; every message has an id of its own. A plain access is redundant when its thread
// saw the same site, operation, address and size in the same context.
// Guarantee: in front of a detector by weak happens-before and locksets (multilock, simplelock with q=0) no racy pair of sites
// is lost. `exact` also counts the thread's lock releases, which makes it lossless in front of full happens-before
// (fasttrack) too. `threads=2` is the paper's rule, redundant also when two other threads did the same: lossy (docs).
// Source: TREE (seed 004) §3. Memory is bounded: what was seen is kept in two generations, and a forgotten entry costs time,
// never a race.
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "core/engine_info.h"
#include "core/lockset.h"
#include "filter/filter.h"

namespace pf {

inline constexpr OptionInfo kTreeOptions[] = {
    {"exact", "", "off", "tell contexts apart by lock releases too: lossless in front of fasttrack"},
    {"threads", "N", "1", "2: the paper's rule, redundant when two threads have seen it; lossy"},
    {"memory", "N", "64", "MiB for what was seen"},
};
inline constexpr EngineInfo kTreeInfo = {
    .name = "tree",
    .kind = StageKind::Filter,
    .summary = "drops accesses that repeat one of the same thread in the same concurrency context",
    .guarantee =
        "no racy site pair is lost in front of multilock or simplelock,q=0; with exact, none of fasttrack's variables",
    .source = "TREE §3",
    .options = kTreeOptions,
    .rules = {},
};

struct TreeOptions {
  bool exact = false;
  bool two_threads = false;
  uint64_t memory = uint64_t{64} << 20;
};

class TreeFilter final : public FilterStage {
 public:
  explicit TreeFilter(TreeOptions options) : options_(options) {}
  TreeFilter(const TreeFilter&) = delete;
  TreeFilter& operator=(const TreeFilter&) = delete;
  ~TreeFilter() override { locksets_.release(heap_); }

  std::span<const Event> pass(std::span<const Event> batch) override;
  uint64_t dropped() const override { return dropped_; }
  uint64_t bytes() const override;
  uint64_t peak_bytes() const override { return std::max(peak_bytes_, bytes()); }

 private:
  struct Heap {  // the environment of the lockset table
    static void* allocate(std::size_t bytes) { return ::operator new(bytes); }
    static void deallocate(void* p, std::size_t) { ::operator delete(p); }
  };
  struct Thread {
    LocksetId locks = kNoLocks;
    uint64_t history = 0;  // a node of the trie of messages
    uint64_t releases = 0;
    uint64_t context = 0;  // a number for all of the above; 0: to be looked up
  };
  struct Key {
    uint64_t a = 0, b = 0, c = 0, d = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    std::size_t operator()(const Key& k) const {
      uint64_t h = 0;
      for (const uint64_t x : {k.a, k.b, k.c, k.d}) h = (h ^ h >> 32 ^ x) * 0x9E3779B97F4A7C15U;
      return h ^ h >> 32;
    }
  };
  // Hash-consing: equal keys get equal numbers, from 1.
  using Numbers = std::unordered_map<Key, uint64_t, Hash>;
  struct Seen {
    uint32_t threads[2] = {0, 0};  // the two rule: ThreadId + 1 of those who saw it
  };
  struct Block {
    uint64_t last;
    uint64_t life;
  };

  Thread& thread(ThreadId id);
  bool redundant(const Event& e);
  Seen& look_up(const Key& key);
  uint64_t context(Thread& t, ThreadId id);
  uint64_t life_at(uint64_t address) const;
  uint64_t life_of(const Event& e);
  void begin_life(const Event& e);
  void follow(const Event& e);
  void follow_atomic(Thread& t, const Event& e);
  void add_message(Thread& t, uint64_t message);
  void send(Thread& t, uint64_t object);
  void receive(Thread& t, uint64_t object);
  static void change_locks(Thread& t, LocksetId locks);

  TreeOptions options_;
  std::vector<Event> kept_;
  std::vector<Thread> threads_;
  Heap heap_;
  LocksetTable<Heap> locksets_;
  Numbers histories_, contexts_, mixed_lives_;
  std::unordered_map<uint64_t, uint64_t> last_message_;  // sent through each object
  std::map<uint64_t, Block> blocks_;                     // memory that was allocated or freed, with its life
  uint64_t messages_ = 0, lives_ = 0, dropped_ = 0;
  uint64_t peak_bytes_ = 0;                          // before something was forgotten
  std::unordered_map<Key, Seen, Hash> young_, old_;  // the old generation is forgotten when the young one is full
};

}  // namespace pf
