// What lives at an address besides plain memory: locks, atomics, heap blocks, thread handles. Found by address through the
// lines of its chunk: each line heads a short list of the objects in its 128 bytes, guarded by the lowest bit of the head.
//
// An object may be used only while its Line is held, and is gone when its memory is forgotten.
#pragma once
#include "runtime/chunks.h"
#include "runtime/spin.h"

namespace pf::rt {

struct Object {
  uintptr_t address;
  Object* next;
  uint8_t kind;
};

struct LineHead {
  uintptr_t first;  // and the lock

  bool empty() const { return __atomic_load_n(&first, __ATOMIC_RELAXED) == 0; }
};

class [[nodiscard]] Line {
 public:
  explicit Line(uintptr_t address) : Line(head_of(chunk(address), address)) {}
  ~Line() { __atomic_store_n(&head_.first, first_, __ATOMIC_RELEASE); }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  Object* first() const { return reinterpret_cast<Object*>(first_); }

  template <class T>
  T* find(uintptr_t address) const {
    for (Object* o = first(); o != nullptr; o = o->next) {
      if (o->address == address && o->kind == T::kKind) return static_cast<T*>(o);
    }
    return nullptr;
  }
  template <class T>
  T& get(uintptr_t address, Arena& arena) {
    T* known = find<T>(address);
    return known != nullptr ? *known : add<T>(address, arena);
  }
  template <class T>
  [[gnu::noinline]] T& add(uintptr_t address, Arena& arena) {
    T* fresh = new (arena.allocate(sizeof(T))) T{};
    fresh->address = address;
    fresh->kind = T::kKind;
    fresh->next = first();
    first_ = reinterpret_cast<uintptr_t>(static_cast<Object*>(fresh));
    return *fresh;
  }
  // Unlinks; the caller frees it.
  void remove(Object* gone) {
    if (first() == gone) {
      first_ = reinterpret_cast<uintptr_t>(gone->next);
      return;
    }
    Object* o = first();
    while (o->next != gone) o = o->next;
    o->next = gone->next;
  }

  static LineHead& head_of(char* chunk, uintptr_t address) {
    return reinterpret_cast<LineHead*>(chunk)[address >> kLineBits & (kLinesPerChunk - 1)];
  }
  explicit Line(LineHead& head) : head_(head), first_(lock(head)) {}

 private:
  static constexpr uintptr_t kLocked = 1;

  static uintptr_t lock(LineHead& head) {
    for (unsigned round = 0;; ++round) {
      uintptr_t seen = __atomic_load_n(&head.first, __ATOMIC_RELAXED);
      if ((seen & kLocked) == 0 &&
          __atomic_compare_exchange_n(&head.first, &seen, seen | kLocked, true, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        return seen;
      }
      relax(round);
    }
  }

  LineHead& head_;
  uintptr_t first_;
};

// Calls f(line, object) for every object in [begin, end). f may remove it.
template <class F>
void for_each_object(uintptr_t begin, uintptr_t end, F&& f) {
  constexpr uintptr_t kLine = uintptr_t{1} << kLineBits;
  for_each_touched_part(begin, end, 0, kPage / sizeof(uintptr_t) * kLine, [&](uintptr_t from, uintptr_t to) {
    for (uintptr_t a = from & ~(kLine - 1); a < to; a += kLine) {
      char* c = existing_chunk(a);
      if (c == nullptr) continue;
      LineHead& head = Line::head_of(c, a);
      if (head.empty()) continue;
      Line line(head);
      for (Object* o = line.first(); o != nullptr;) {
        Object* next = o->next;
        if (o->address >= begin && o->address < end) f(line, o);
        o = next;
      }
    }
  });
}

// --- objects that are the same for every detector ---

enum ObjectKind : uint8_t { kBlock, kThreadHandle, kContextObject, kFirstOfDetector };

// A heap block, alive or freed and not yet used again.
struct Block : Object {
  static constexpr uint8_t kKind = kBlock;
  uint64_t size;
  uint32_t allocated_at, freed_at;  // depot
  uint32_t allocated_by, freed_by;  // thread ids
  bool freed;
};

}  // namespace pf::rt
