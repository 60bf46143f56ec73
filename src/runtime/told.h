// Atomics that a thread tells to nobody but itself, until somebody asks. Threads do the same atomics again and again, each time in a new
// epoch, and whoever wrote that down where all look would take a line of the cache out of another processor each time. But an atomic
// conflicts with plain accesses only, and memory that has atomics seldom has those.
//
// So a granule that an atomic has for itself (CompactStore::Few) may just name places of threads: each place has the thread's last read and
// last write of it, as marks, and only the thread changes them, by exchanging the word. Who has to know them (a plain access, the end of the
// memory) takes all of them, by exchanging the words, too: what the thread finds in its place tells whether that was before or after. As long
// as nobody took them, no plain access came, and so there is nothing new for the atomic to meet.
//
//   thread   exchange: a mark ──▶ another mark      exchange: taken ──▶ tell it like any access, and have a place again
//   others   exchange: the mark ──▶ taken           (each with the granule's lock)
#pragma once
#include <cstdint>

#include "runtime/memory.h"

namespace pf::rt::told {

inline constexpr uint64_t kTaken = ~uint64_t{0};  // no mark looks like that

// One granule's, of one thread. Only `mark` is for others.
struct alignas(32) Place {
  uint64_t mark[2];  // of reads, of writes; 0: not yet
  uint64_t key;      // its first byte's address and its size; 0: vacant
  uint64_t uses;     // of late: others get the place when it has not been worth it

  static uint64_t key_of(uintptr_t address, unsigned size) { return uint64_t{size} << kSizeBit | address; }
  uintptr_t address() const { return key & ((uint64_t{1} << kSizeBit) - 1); }
  unsigned size() const { return static_cast<unsigned>(key >> kSizeBit); }
  uint64_t load(bool writes) const { return __atomic_load_n(&mark[writes ? 1 : 0], __ATOMIC_RELAXED); }
  // While nobody can take it: it is named nowhere, or the granule is locked.
  void store(bool writes, uint64_t word) { __atomic_store_n(&mark[writes ? 1 : 0], word, __ATOMIC_RELAXED); }
  uint64_t exchange(bool writes, uint64_t word) {
    return __atomic_exchange_n(&mark[writes ? 1 : 0], word, __ATOMIC_SEQ_CST);
  }
  // A granule names it.
  bool is_named() const {
    const uint64_t reads = load(false), writes = load(true);
    return reads != kTaken && writes != kTaken && (reads | writes) != 0;
  }
  // f(mark, writes) for each that it had.
  template <class F>
  void take(F&& f) {
    for (const bool writes : {false, true}) {
      if (const uint64_t word = exchange(writes, kTaken); word != 0 && word != kTaken) f(word, writes);
    }
  }

 private:
  static constexpr unsigned kSizeBit = 56;
};

// All places of a thread, by address.
class Table {
 public:
  static constexpr unsigned kBits = 11, kPlaces = 1U << kBits;

  Place& at(uintptr_t address) { return places_[(address >> 3 ^ address >> (3 + kBits)) % kPlaces]; }
  void reserve(Place& p, uint64_t key) {
    p = {{0, 0}, key, 0};
    bit(p) |= mask(p);
  }
  void vacate(Place& p) {
    p = {};
    bit(p) &= ~mask(p);
  }
  // f(place) for each that is not vacant.
  template <class F>
  void for_each(F&& f) {
    for (unsigned i = 0; i < kPlaces / 64; ++i) {
      for (uint64_t bits = used_[i]; bits != 0; bits &= bits - 1)
        f(places_[i * 64 + static_cast<unsigned>(__builtin_ctzll(bits))]);
    }
  }

 private:
  uintptr_t number(const Place& p) const { return static_cast<uintptr_t>(&p - places_); }
  uint64_t& bit(const Place& p) { return used_[number(p) / 64]; }
  uint64_t mask(const Place& p) const { return uint64_t{1} << number(p) % 64; }

  Place places_[kPlaces];
  uint64_t used_[kPlaces / 64];
};

}  // namespace pf::rt::told
