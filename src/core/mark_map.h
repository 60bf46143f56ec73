// Marks by slot: the last access of each slot, for detectors that keep more than one; slots that have one entry in vector clocks
// count as one. A small open-addressing table: entries are dense, so their low bits are the hash and a probe seldom takes a second step.
#pragma once
#include <cstring>

#include "core/env.h"

namespace pf {

template <class Env>
class MarkMap {
 public:
  bool empty() const { return table_ == nullptr; }

  // Whether the mark kept for this epoch's slot is of this very epoch.
  bool has(typename Env::Epoch e) const { return table_ != nullptr && find(e.slot()).epoch == e; }

  // Replaces the mark of the same slot.
  void put(const Mark<Env>& m, Env& env) {
    if (table_ == nullptr || table_->used * 4 >= table_->capacity * 3) grow(env);
    Mark<Env>& place = find(m.epoch.slot());
    if (place.epoch.never()) ++table_->used;
    place = m;
  }

  // Puts the mark in place of those that it comes after. If no other is left, there is no map any more, and false. A slot that has a mark in a
  // large map only gets another: to look at all of them is for who makes it larger.
  template <class IsBefore>
  bool follow(const Mark<Env>& m, IsBefore&& is_before, Env& env) {
    constexpr uint32_t kFew = 16;
    if (table_->used > kFew && !find(m.epoch.slot()).epoch.never()) {
      put(m, env);
      return true;
    }
    uint32_t left = 0;
    for_each([&](const Mark<Env>& old) { left += is_before(old.epoch) ? 0U : 1U; });
    if (left == 0) {
      clear(env);
      return false;
    }
    const bool has_slot = !find(m.epoch.slot()).epoch.never();
    if (left + (has_slot ? 1U : 0U) < table_->used)
      keep_if([&](const Mark<Env>& old) { return !is_before(old.epoch); }, env);
    put(m, env);
    return true;
  }

  // Forgets the mark of a slot.
  void remove(Slot gone, Env& env) {
    if (table_ == nullptr || find(gone).epoch.never()) return;
    keep_if([&](const Mark<Env>& m) { return !have_one_entry<Env>(m.epoch.slot(), gone); }, env);
  }

  template <class F>
  void for_each(F&& f) const {
    if (table_ == nullptr) return;
    for (uint32_t i = 0; i < table_->capacity; ++i) {
      if (!table_->at()[i].epoch.never()) f(table_->at()[i]);
    }
  }

  void clear(Env& env) {
    if (table_ != nullptr) env.deallocate(table_, bytes(table_->capacity));
    table_ = nullptr;
  }

  MarkMap clone(Env& env) const {
    MarkMap copy;
    if (table_ == nullptr) return copy;
    copy.table_ = static_cast<Table*>(env.allocate(bytes(table_->capacity)));
    std::memcpy(static_cast<void*>(copy.table_), table_, bytes(table_->capacity));
    return copy;
  }

 private:
  struct Table {
    uint32_t capacity;  // a power of two
    uint32_t used;

    Mark<Env>* at() { return reinterpret_cast<Mark<Env>*>(this + 1); }  // the marks follow the header
  };

  static std::size_t bytes(uint32_t capacity) { return sizeof(Table) + capacity * sizeof(Mark<Env>); }

  // Where the slot's mark is or would go; there is always a vacant place to stop at.
  Mark<Env>& find(Slot s) const {
    for (uint32_t i = Env::entry(s).index;; ++i) {
      Mark<Env>& m = table_->at()[i & (table_->capacity - 1)];
      if (m.epoch.never() || have_one_entry<Env>(m.epoch.slot(), s)) return m;
    }
  }

  // Seldom: what is left goes to a table of its own.
  template <class F>
  [[gnu::noinline]] void keep_if(F&& f, Env& env) {
    MarkMap rest;
    for_each([&](const Mark<Env>& m) {
      if (f(m)) rest.put(m, env);
    });
    clear(env);
    *this = rest;
  }

  [[gnu::noinline]] void grow(Env& env) {
    const uint32_t capacity = table_ == nullptr ? 4 : table_->capacity * 2;
    MarkMap old = *this;
    table_ = static_cast<Table*>(env.allocate(bytes(capacity)));
    std::memset(static_cast<void*>(table_), 0, bytes(capacity));
    table_->capacity = capacity;
    old.for_each([&](const Mark<Env>& m) { find(m.epoch.slot()) = m; });
    table_->used = old.table_ == nullptr ? 0 : old.table_->used;
    old.clear(env);
  }

  Table* table_ = nullptr;
};

}  // namespace pf
