// The environment of the offline host: an arena that counts its bytes, slots with their history, and a place where
// the races and rules of the current event are noted. Single-threaded.
#pragma once
#include <array>
#include <cstdlib>
#include <memory>
#include <vector>

#include "core/env.h"
#include "core/event.h"

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
    if (c >= kClasses) return free_large(p);
    auto* link = static_cast<Link*>(p);
    link->next = free_[c];
    free_[c] = link;
  }
  std::size_t live_bytes() const { return live_; }

 private:
  struct Link {
    Link* next;
  };
  struct alignas(16) LargeHeader {
    LargeHeader *before, *after;
  };
  static constexpr std::size_t kClasses = 1024;  // up to 16 KiB
  static constexpr std::size_t kChunk = std::size_t{1} << 20;

  void* carve(std::size_t bytes);
  void* large(std::size_t bytes);
  void free_large(void* p);

  std::array<Link*, kClasses> free_{};
  char* at_ = nullptr;
  std::size_t left_ = 0;
  std::size_t live_ = 0;
  std::vector<std::unique_ptr<char[]>> chunks_;
  LargeHeader* large_ = nullptr;
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

  void* allocate(std::size_t bytes) { return arena.allocate(bytes); }
  void deallocate(void* p, std::size_t bytes) { arena.deallocate(p, bytes); }
  void race(const Mark<BasicOfflineEnv>& prior) { found.push_back(prior); }
  void count(unsigned rule) { ++rules[rule]; }

  Slot fresh_slot(ThreadId t) {
    const Slot s{static_cast<uint32_t>(owners.size())};
    owners.emplace_back();
    own(s, 1, t);
    return s;
  }
  void own(Slot s, typename Epoch::Clock from, ThreadId t) { owners[index(s)].push_back({from, t}); }

  // Whose epoch it was; slots have several threads one after the other.
  ThreadId owner(Epoch e) const {
    const std::vector<Tenure>& tenures = owners[index(e.slot())];
    std::size_t i = tenures.size() - 1;
    while (i > 0 && tenures[i].from > e.clock()) --i;
    return tenures[i].thread;
  }

  struct Tenure {
    typename Epoch::Clock from;
    ThreadId thread;
  };
  Arena arena;
  std::vector<Mark<BasicOfflineEnv>> found;  // by the access being processed
  std::array<uint64_t, kMaxRules> rules{};
  std::vector<std::vector<Tenure>> owners;  // by slot
};
using OfflineEnv = BasicOfflineEnv<WideEpoch>;
static_assert(Environment<OfflineEnv>);

}  // namespace pf
