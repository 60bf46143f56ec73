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
#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "core/engine_info.h"
#include "core/lockset.h"
#include "filter/filter.h"
#include "filter/seen.h"
#include "filter/tree_rules.h"

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
    .rules = std::span(kTreeRules).first(tree_rules::kOfTraces),
};

struct TreeOptions {
  bool exact = false;
  bool two_threads = false;
  uint64_t memory = uint64_t{64} << 20;
};

class TreeFilter final : public FilterStage {
 public:
  explicit TreeFilter(TreeOptions options) : options_(options), seen_(options.memory) {}
  TreeFilter(const TreeFilter&) = delete;
  TreeFilter& operator=(const TreeFilter&) = delete;
  ~TreeFilter() override { locksets_.release(heap_); }

  std::span<const Event> pass(std::span<const Event> batch) override;
  FilterStats stats() const override;

 private:
  using enum TreeRule;

  struct Heap {  // the environment of the lockset table
    void* allocate(std::size_t bytes) {
      live += bytes;
      return ::operator new(bytes);
    }
    void deallocate(void* p, std::size_t bytes) {
      live -= bytes;
      ::operator delete(p);
    }
    uint64_t live = 0;
  };
  // The concurrency context. A thread's own histories only grow and are never equal again, so a fresh number does for each;
  // between threads they are equal when their messages are, which takes a trie.
  struct Thread {
    LocksetId locks = kNoLocks;
    uint64_t history = 0;
  };
  struct Key {
    uint64_t address = 0, life = 0, history = 0;
    uint32_t thread = 0;  // 0 where threads are compared
    LocksetId locks{};
    SiteId site{};
    uint32_t what = 0;  // operation and size
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    std::size_t operator()(const Key& k) const;
  };
  struct Seen {
    uint32_t threads[2] = {0, 0};  // ThreadId + 1 of the first two who saw it
    friend bool operator==(const Seen&, const Seen&) = default;
  };
  using Numbers = std::map<std::array<uint64_t, 3>, uint64_t>;  // equal keys get equal numbers, from 1
  struct Block {
    uint64_t last;
    uint64_t life;
  };

  Thread& thread(ThreadId id);
  TreeRule judge(const Event& e);
  uint64_t life_at(uint64_t address) const;
  uint64_t life_of(const Event& e);
  void begin_life(const Event& e);
  void follow(const Event& e);
  void follow_atomic(Thread& t, const Event& e);
  void release(Thread& t, HeldLock lock);
  void add_message(Thread& t, uint64_t message);
  void send(Thread& t, uint64_t object);
  void receive(Thread& t, uint64_t object);

  TreeOptions options_;
  std::vector<Event> kept_;
  std::vector<Thread> threads_;
  Heap heap_;
  LocksetTable<Heap> locksets_;
  Numbers histories_, mixed_lives_;
  std::unordered_map<uint64_t, uint64_t> last_message_;  // sent through each object
  std::map<uint64_t, Block> blocks_;                     // memory that was allocated or freed, with its life
  uint64_t messages_ = 0, history_count_ = 0, lives_ = 0;
  SeenTable<Key, Seen, Hash> seen_;
  uint64_t events_ = 0;
  std::array<uint64_t, tree_rules::kOfTraces> rules_{};
};

}  // namespace pf
