// The locksets of all threads, for the hybrids. Sets never change and their rows never move, so what only looks at them takes no
// lock; what may intern a new one takes the table's, and threads remember their latest answers (env.h).
#pragma once
#include "core/lockset.h"
#include "runtime/memory.h"

namespace pf::rt::locksets {

// Memory of the table alone: it outlives threads.
struct Env {
  void* allocate(std::size_t bytes) { return arena.allocate(bytes); }
  void deallocate(void* p, std::size_t bytes) { arena.deallocate(p, bytes); }
  Arena arena;
};

// Rows that never move.
template <class T, class>
class Rows {
 public:
  uint32_t size() const { return size_; }
  const T& operator[](uint32_t i) const { return rows_[i]; }
  void push(const T& row, Env&) {
    rows_.provide(size_);
    rows_[size_++] = row;
  }

 private:
  Pieces<T, 12, 1U << 20> rows_;  // every number that a row can have
  uint32_t size_ = 0;
};

using Table = LocksetTable<Env, Rows>;
extern Table g_table;  // to look at

LocksetId with(LocksetId set, HeldLock l);
LocksetId without(LocksetId set, HeldLock l);
LocksetId common(LocksetId a, LocksetId b, bool writes);

}  // namespace pf::rt::locksets
