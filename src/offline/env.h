// The environment of the offline host: an arena that counts its bytes, slots with their history, and a place where
// the races and rules of the current event are noted. Single-threaded.
#pragma once
#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/env.h"
#include "core/event.h"
#include "core/lockset.h"
#include "core/periods.h"
#include "core/race.h"
#include "detect/chain.h"

namespace pf {

// Memory in size classes of 16 bytes, freed as a whole; large pieces are the system's.
class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  // Hot: pops a free list.
  void* allocate(std::size_t bytes) {
    const std::size_t c = (bytes + 15) / 16;
    live_ += c * 16;
    peak_ = std::max(peak_, live_);
    if (c < kClasses && free_[c] != nullptr) {
      Link* head = free_[c];
      free_[c] = head->next;
      return head;
    }
    return c < kClasses ? carve(c * 16) : large(c * 16);
  }
  void deallocate(void* p, std::size_t bytes) {
    const std::size_t c = (bytes + 15) / 16;
    live_ -= c * 16;
    if (c >= kClasses) {
      free_large(p);
      return;
    }
    auto* link = static_cast<Link*>(p);
    link->next = free_[c];
    free_[c] = link;
  }
  std::size_t live_bytes() const { return live_; }
  std::size_t peak_bytes() const { return peak_; }

 private:
  struct Link {
    Link* next;
  };
  static constexpr std::size_t kClasses = 1024;  // up to 16 KiB
  static constexpr std::size_t kChunk = std::size_t{1} << 20;

  void* carve(std::size_t bytes);
  void* large(std::size_t bytes);
  void free_large(void* p);

  std::array<Link*, kClasses> free_{};
  char* at_ = nullptr;
  std::size_t left_ = 0;
  std::size_t live_ = 0, peak_ = 0;
  std::vector<std::unique_ptr<char[]>> chunks_;
  std::unordered_set<void*> large_;
};

// The width of clocks is a parameter for the tests, which make clocks run out.
template <class AnyEpoch>
struct BasicOfflineEnv {
  using Epoch = AnyEpoch;
  struct Access {
    SiteId site;
    LocksetId locks;
    uint32_t packed;  // operation in the low byte, size above it

    static Access of(const Event& e, LocksetId locks) {
      return {e.site, locks, static_cast<uint32_t>(e.op) | e.size << 8};
    }
    Op op() const { return static_cast<Op>(packed & 0xFF); }
    uint32_t size() const { return packed >> 8; }
  };
  static_assert(kMaxAccessSize < 1U << 24);
  static constexpr unsigned kMaxRules = 16;
  // The slots of one entry are this far from each other. Few, so that tests see what comes after the last; one, if it takes all that an entry can count.
  static constexpr uint32_t kEntries = 1U << 26, kSlotsOfEntry = Epoch::kClockBits < 32 ? 8 : 1;
  static constexpr bool kConcurrent = false;

  void* allocate(std::size_t bytes) { return arena.allocate(bytes); }
  void deallocate(void* p, std::size_t bytes) { arena.deallocate(p, bytes); }
  [[gnu::noinline, gnu::cold]] void race(const Mark<BasicOfflineEnv>& prior, Verdict verdict = Verdict::Real,
                                         Epoch full = {}) {
    found.push_back({prior, verdict, full});
  }
  void count(unsigned rule) { ++rules[rule]; }
  void settle() {}  // one thread at a time: a repeat costs little

  // The options of the chain were checked when it was parsed.
  void configure(const Options& options) {
    if (const auto q = options.find("q"); q != options.end()) {
      queue_length = static_cast<uint32_t>(std::strtoul(q->second.c_str(), nullptr, 10));
    }
    const auto number = [&](const char* name, uint64_t fallback) {
      const auto it = options.find(name);
      return it == options.end() ? fallback : std::strtoull(it->second.c_str(), nullptr, 10);
    };
    symmetric = options.contains("symmetric");
    const auto rate = options.find("rate");
    periods = Periods(rate == options.end() ? kDefaultRate : parse_rate(rate->second).value_or(kDefaultRate),
                      number("period", 0), number("seed", 1));
    sampling = periods.sampling();
  }

  bool samples() const { return sampling; }
  uint64_t& time() { return access_count; }
  bool is_symmetric() const { return symmetric; }
  void clock_operation(bool whole) { clock_operations.count(sampling, whole); }

  static bool same_place(const Access& a, const Access& b) { return a.site == b.site && a.packed == b.packed; }
  LocksetId held() const { return current_locks; }
  uint32_t locks_for(LocksetId set, bool writes) const { return locksets.count_for(set, writes); }
  bool share_lock(LocksetId a, bool a_writes, LocksetId b, bool b_writes) const {
    return locksets.share_lock(a, a_writes, b, b_writes);
  }
  LocksetId protecting(LocksetId set, bool writes) { return locksets.common(set, set, writes, *this); }
  LocksetId common(LocksetId a, LocksetId b, bool writes) { return locksets.common(a, b, writes, *this); }
  bool is_subset(LocksetId a, LocksetId b) const { return locksets.is_subset(a, b); }

  Slot fresh_slot(ThreadId t) {
    const Slot s{entries++};
    own(s, 1, t);
    return s;
  }
  Slot next_slot(Slot used_up, ThreadId t) {
    if (index(used_up) / kEntries + 1 >= kSlotsOfEntry) return fresh_slot(t);
    const Slot s{index(used_up) + kEntries};
    own(s, 1, t);
    return s;
  }
  static constexpr ClockEntry entry(Slot s) {
    if constexpr (kSlotsOfEntry == 1) return {index(s), 0};
    return {index(s) % kEntries, index(s) / kEntries * Epoch::kMaxClock};
  }
  void own(Slot s, typename Epoch::Clock from, ThreadId t) { owners[index(s)].push_back({from, t}); }

  // Whose epoch it was; slots have several threads one after the other.
  ThreadId owner(Epoch e) const {
    const std::vector<Tenure>& tenures = owners.at(index(e.slot()));
    std::size_t i = tenures.size() - 1;
    while (i > 0 && tenures[i].from > e.clock()) --i;
    return tenures[i].thread;
  }

  struct Tenure {
    typename Epoch::Clock from;
    ThreadId thread;
  };
  Arena arena;
  struct Found {
    Mark<BasicOfflineEnv> prior;
    Verdict verdict;
    Epoch full;  // of the earlier access, if nothing but locks orders the two
  };
  std::vector<Found> found;  // by the access being processed
  LocksetTable<BasicOfflineEnv> locksets;
  LocksetId current_locks = kNoLocks;  // of the access being processed
  uint32_t queue_length = 1;           // simplelock's q
  static constexpr uint64_t kDefaultRate = known_rate("3%");
  Periods periods{kDefaultRate, 0, 1};
  bool sampling = false;
  bool symmetric = false;     // clockrace's
  uint64_t access_count = 0;  // as far as clockrace counts
  ClockOperations clock_operations;
  std::array<uint64_t, kMaxRules> rules{};
  std::unordered_map<uint32_t, std::vector<Tenure>> owners;  // by slot
  uint32_t entries = 0;
};
using OfflineEnv = BasicOfflineEnv<WideEpoch>;
static_assert(Environment<OfflineEnv>);

}  // namespace pf
