// The runtime's own memory. It never uses the program's malloc: that may be what called us, or hold a lock.
#pragma once
#include <cstring>
#include <new>

#include "runtime/sys.h"

namespace pf::rt {

// Pages for good; ends the program with a message when there are none.
void* map_or_die(std::size_t bytes, const char* what);

// Bytes mapped for the runtime itself, shadow included.
std::size_t mapped_bytes();

// Writes, and changes nothing. A page of zeros that is read before it is written has two faults, the second of which interrupts all other
// processors: so who is about to read where nobody may have written yet does this first.
inline void touch(void* p) { __asm__ volatile("lock orb $0, %0" : "+m"(*static_cast<char*>(p)) : : "cc"); }

// Memory in size classes of 16 bytes; larger pieces are the system's. One arena per thread, so no lock; what one
// thread allocated another may free, it then is the other's. Who frees what all have allocated hands it over to all.
class Arena {
 public:
  // Hot: pops a free list. Not zeroed.
  void* allocate(std::size_t bytes) {
    const std::size_t c = (bytes + 15) / 16;
    if (c < kClasses && free_[c] != nullptr) [[likely]] {
      Link* head = free_[c];
      free_[c] = head->next;
      return head;
    }
    return c < kClasses ? refill(c) : map_or_die(c * 16, "a large table");
  }
  void deallocate(void* p, std::size_t bytes) {
    const std::size_t c = (bytes + 15) / 16;
    if (c >= kClasses) return sys::unmap(p, c * 16);
    auto* link = static_cast<Link*>(p);
    link->next = free_[c];
    free_[c] = link;
  }

  // For small things that may be looked at while they go (objects.h): what was one of these is never anything else, and
  // keeps what is behind its first word until it is used again.
  void* allocate_object(std::size_t bytes) {
    const std::size_t size = (bytes + 15) / 16 * 16;
    Link*& first = objects_[size / 16];
    // Zero already, but a page that is read before it is written has two faults, the second of which interrupts all other processors.
    if (first == nullptr) [[unlikely]]
      return std::memset(carve(size), 0, size);
    Link* head = first;
    first = head->next;
    return head;
  }
  void deallocate_object(void* p, std::size_t bytes) {
    Link*& first = objects_[(bytes + 15) / 16];
    auto* link = static_cast<Link*>(p);
    link->next = first;
    first = link;
  }
  static constexpr std::size_t kLargestObject = 256;

  // All that is free here, but for objects, is for the first who needs it.
  void hand_over();

 private:
  struct Link {
    Link* next;
    Link* next_chain;  // of one that was handed over
  };
  static constexpr std::size_t kClasses = 512;  // up to 8 KiB
  struct Common;
  static Common g_common;

  [[gnu::noinline]] void* refill(std::size_t c);
  void* carve(std::size_t bytes);

  Link* free_[kClasses] = {};
  Link* objects_[kLargestObject / 16 + 1] = {};
  char* at_ = nullptr;
  std::size_t left_ = 0;
};

// A table by dense index that never moves: pieces are mapped as they are needed, readers take no lock.
template <class T, unsigned kPieceBits, unsigned kPieces>
class Pieces {
 public:
  T& operator[](std::size_t i) const {
    return __atomic_load_n(&pieces_[i >> kPieceBits], __ATOMIC_ACQUIRE)[i & ((std::size_t{1} << kPieceBits) - 1)];
  }
  bool has(std::size_t i) const { return __atomic_load_n(&pieces_[i >> kPieceBits], __ATOMIC_ACQUIRE) != nullptr; }
  // Call before the first use of an index. Returns false past the end.
  bool provide(std::size_t i) {
    const std::size_t piece = i >> kPieceBits;
    if (piece >= kPieces) return false;
    if (__atomic_load_n(&pieces_[piece], __ATOMIC_ACQUIRE) != nullptr) [[likely]]
      return true;
    return add(piece);
  }

 private:
  static constexpr std::size_t kBytes = sizeof(T[std::size_t{1} << kPieceBits]);

  [[gnu::noinline, gnu::cold]] bool add(std::size_t piece) {
    T* expected = nullptr;
    auto* fresh = static_cast<T*>(map_or_die(kBytes, "a table"));
    if (!__atomic_compare_exchange_n(&pieces_[piece], &expected, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
      sys::unmap(static_cast<void*>(fresh), kBytes);
    }
    return true;
  }

  T* pieces_[kPieces] = {};
};

}  // namespace pf::rt
