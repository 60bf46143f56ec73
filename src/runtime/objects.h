// What lives at an address besides plain memory: locks, atomics, heap blocks, thread handles. Found by address through the
// lines of its chunk: each line heads a short list of the objects in its 64 bytes, guarded by the lowest bit of the head.
//
// An object may be used only while its Line is held, and is gone when its memory is forgotten. Ways around the Line, which others in the
// same 64 bytes need too: to look only (Glance), and to keep those who would change the object away for a moment, to change
// nothing (Hold) or to be the one who does (Grip).
#pragma once
#include "runtime/chunks.h"
#include "runtime/spin.h"

namespace pf::rt {

struct Object {
  uintptr_t address;
  Object* next;
  uint8_t kind;
  uint32_t changes;  // odd while it is being changed or held, for those that glance at it; and once it is gone
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
    static_assert(sizeof(T) <= Arena::kLargestObject);
    void* place = arena.allocate_object(sizeof(T));
    const uint32_t before = __atomic_load_n(&static_cast<Object*>(place)->changes, __ATOMIC_RELAXED);
    T* fresh = new (place) T{};
    fresh->kind = T::kKind;
    fresh->next = first();
    // Who glanced at the object that was here before sees another; who remembers where that was knows this one by its address.
    __atomic_store_n(&fresh->changes, (before | 1) + 1, __ATOMIC_RELAXED);
    __atomic_store_n(&fresh->address, address, __ATOMIC_RELEASE);
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
    // Neighbours are far from each other in their page: who works at one does not take the other's cache line away.
    constexpr uintptr_t kPerPage = kPage / sizeof(LineHead), kTogether = 8;
    const uintptr_t i = address >> kLineBits & (kLinesPerChunk - 1), in_page = i % kPerPage;
    return reinterpret_cast<LineHead*>(
        chunk)[i - in_page + in_page % kTogether * (kPerPage / kTogether) + in_page / kTogether];
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

// From an even count to the odd one after it; false if it is another by now.
inline bool take_odd(Object& o, uint32_t even) {
  return __atomic_compare_exchange_n(&o.changes, &even, even + 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}
// The same with the Line held, once nobody holds it (Hold).
inline void wait_for_odd(Object& o) {
  for (unsigned round = 0;; relax(round++)) {
    const uint32_t seen = __atomic_load_n(&o.changes, __ATOMIC_RELAXED);
    if (seen % 2 == 0 && take_odd(o, seen)) return;
  }
}

// Held, together with its Line, while what a Glance looks at is changed, and what goes with it in the program. kWaits: of objects that
// may be held without their Line.
template <bool kWaits = false>
class [[nodiscard]] Change {
 public:
  explicit Change(Object& o) : object_(o) {
    begin(o);
    __atomic_thread_fence(__ATOMIC_RELEASE);
  }
  // The last one, which does not end before there is another object in its place.
  static void begin(Object& o) {
    if constexpr (kWaits) {
      wait_for_odd(o);
    } else {
      __atomic_store_n(&o.changes, o.changes + 1, __ATOMIC_RELAXED);
    }
  }
  ~Change() { __atomic_store_n(&object_.changes, object_.changes + 1, __ATOMIC_RELEASE); }
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;

 private:
  Object& object_;
};

// A look at an object without its Line, which writes nothing that threads share. What was seen counts only if it holds afterwards:
// then nothing changed in between, nor did what the program did under a Change. While the object itself goes, it is still
// some object that is looked at (Arena::allocate_object).
//
// `remembered` is where an object was found that may be this one: it is if its address says so, wherever else it is in the end.
template <class T>
class Glance {
 public:
  [[gnu::always_inline]] Glance(uintptr_t address, Object*& remembered) {
    if (Object* o = remembered; o != nullptr) [[likely]] {
      changes_ = __atomic_load_n(&o->changes, __ATOMIC_ACQUIRE);
      if (is_it(o, address)) [[likely]] {
        object_ = static_cast<T*>(o);
        return;
      }
    }
    search(address, remembered);
  }

  // Whether looking again may help, if it is not clear now.
  bool is_near() const { return object_ != nullptr || head_ != nullptr; }
  // Whether there was anything to see; without an object, too, if it is known that there is none.
  bool is_clear() const { return object_ != nullptr ? changes_ % 2 == 0 : head_ != nullptr && first_ % 2 == 0; }
  const T* object() const { return object_; }
  bool holds() const {
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (object_ != nullptr) return __atomic_load_n(&object_->changes, __ATOMIC_RELAXED) == changes_;
    return __atomic_load_n(&head_->first, __ATOMIC_RELAXED) == first_;
  }

 private:
  friend class Hold;
  template <class>
  friend class Grip;
  static constexpr unsigned kSteps = 8;

  static bool is_it(const Object* o, uintptr_t address) {
    return __atomic_load_n(&o->address, __ATOMIC_ACQUIRE) == address && o->kind == T::kKind;
  }
  [[gnu::noinline]] void search(uintptr_t address, Object*& remembered) {
    char* c = existing_chunk(address);
    if (c == nullptr) return;
    head_ = &Line::head_of(c, address);
    first_ = __atomic_load_n(&head_->first, __ATOMIC_ACQUIRE);
    auto* o = reinterpret_cast<Object*>(first_ & ~uintptr_t{1});
    for (unsigned i = 0; o != nullptr; ++i) {
      changes_ = __atomic_load_n(&o->changes, __ATOMIC_ACQUIRE);
      if (is_it(o, address)) {
        object_ = static_cast<T*>(o);
        remembered = o;
        return;
      }
      Object* next = __atomic_load_n(&o->next, __ATOMIC_ACQUIRE);
      // What has left this list meanwhile leads astray.
      const uintptr_t its_address = __atomic_load_n(&o->address, __ATOMIC_RELAXED);
      if (i == kSteps || its_address >> kLineBits != address >> kLineBits) {
        head_ = nullptr;
        return;
      }
      o = next;
    }
  }

  LineHead* head_ = nullptr;
  uintptr_t first_ = 0;
  T* object_ = nullptr;
  uint32_t changes_ = 0;
};

// While it lasts, nobody changes what the glance saw, and nothing is as if it had changed when it ends: for an operation of the
// program that leaves the object as it is, but must not come between the halves of another's. Only of objects whose Changes wait; within a
// Scope, since a handler of a signal would wait for itself.
class [[nodiscard]] Hold {
 public:
  template <class T>
  explicit Hold(const Glance<T>& clear)
      : object_(*clear.object_), even_(clear.changes_), done_(take_odd(object_, even_)) {}
  ~Hold() {
    if (done_) __atomic_store_n(&object_.changes, even_, __ATOMIC_RELEASE);
  }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

  // False: somebody was quicker.
  explicit operator bool() const { return done_; }

 private:
  Object& object_;
  uint32_t even_;
  bool done_;
};

// A Change by itself, of an object that a glance found. Whoever would have the object go waits for that, as for any Change, and a count that
// is what the glance saw is of the same life: so it still is the one at its address.
template <class T>
class [[nodiscard]] Grip {
 public:
  explicit Grip(const Glance<T>& clear)
      : object_(*clear.object_), even_(clear.changes_), done_(take_odd(object_, even_)) {
    __atomic_thread_fence(__ATOMIC_RELEASE);
  }
  ~Grip() {
    if (done_) __atomic_store_n(&object_.changes, even_ + 2, __ATOMIC_RELEASE);
  }
  Grip(const Grip&) = delete;
  Grip& operator=(const Grip&) = delete;

  // False: somebody was quicker.
  explicit operator bool() const { return done_; }
  T& object() const { return object_; }

 private:
  T& object_;
  uint32_t even_;
  bool done_;
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
