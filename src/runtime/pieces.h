// How the history of a granule is kept for any detector: a list of pieces, each the bytes that have had the same
// accesses so far and the detector's variable for them. The cell points at the list; its lowest bit is the granule's lock.
#pragma once
#include "detect/detector.h"
#include "runtime/env.h"
#include "runtime/spin.h"

namespace pf::rt {

template <class D>
class PieceStore {
 public:
  using Var = typename D::Var;
  using Cell = uintptr_t;

  // These detectors look at every access.
  struct Now {};
  static void renew(Now&, const typename D::Thread&) {}
  template <Op kOp>
  static bool latest_is_same_epoch(const Cell&, uint8_t, const Now&) {
    return false;
  }
  template <Op kOp>
  static bool other_is_same_epoch(const Cell&, uint8_t, const Now&) {
    return false;
  }
  template <Op kOp>
  static bool same_epoch(const Cell&, uint8_t, const Now&) {
    return false;
  }
  static bool repeat(Cell&, const Deed&, OnlineEnv&) { return false; }

  static void note_readers(OnlineEnv&, Now&) {}
  static OnlineEnv::Access access(depot::Id id) { return {id}; }
  template <class F>
  static void for_each_access(OnlineEnv::Access a, uint8_t bytes, F&& f) {
    f(a.id, static_cast<unsigned>(__builtin_ctz(bytes)));
  }

  // Calls f with the variable of each piece of these bytes, new ones included. Nobody else is at the granule meanwhile.
  template <class F>
  static void visit_plain(Cell& cell, const Deed& deed, OnlineEnv::Access, const Now&, OnlineEnv& env, F&& f) {
    visit(cell, static_cast<uint8_t>(deed.what), env, f);
  }
  template <class F>
  static void visit(Cell& cell, uint8_t mask, OnlineEnv& env, F&& f) {
    Piece* first = lock(cell);
    for (Piece* p = first; p != nullptr && mask != 0; p = p->next) {
      const auto common = static_cast<uint8_t>(p->mask & mask);
      if (common == 0) continue;
      if (common != p->mask) tear(*p, common, env);
      env.look_at(common);
      f(p->var);
      mask = static_cast<uint8_t>(mask & ~common);
    }
    if (mask != 0) {
      first = new (env.allocate(sizeof(Piece))) Piece{first, mask, {}};
      env.look_at(mask);
      f(first->var);
    }
    unlock(cell, first);
  }

  static bool empty(const Cell& cell) { return __atomic_load_n(&cell, __ATOMIC_RELAXED) == 0; }

  // Forgets what these bytes have seen.
  static void clear(Cell& cell, uint8_t mask, OnlineEnv& env) {
    if (empty(cell)) return;
    Piece* first = lock(cell);
    for (Piece** link = &first; *link != nullptr;) {
      Piece* p = *link;
      p->mask = static_cast<uint8_t>(p->mask & ~mask);
      if (p->mask != 0) {
        link = &p->next;
        continue;
      }
      *link = p->next;
      D::clear(p->var, env);
      env.deallocate(p, sizeof(Piece));
    }
    unlock(cell, first);
  }

 private:
  struct Piece {
    Piece* next;
    uint8_t mask;
    Var var;
  };
  static constexpr uintptr_t kLocked = 1;

  static Piece* pointer(uintptr_t cell) { return reinterpret_cast<Piece*>(cell & ~kLocked); }

  static Piece* lock(Cell& cell) {
    for (unsigned round = 0;; ++round) {
      uintptr_t seen = __atomic_load_n(&cell, __ATOMIC_RELAXED);
      if ((seen & kLocked) == 0 &&
          __atomic_compare_exchange_n(&cell, &seen, seen | kLocked, true, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        return pointer(seen);
      }
      relax(round);
    }
  }
  static void unlock(Cell& cell, Piece* first) {
    __atomic_store_n(&cell, reinterpret_cast<uintptr_t>(first), __ATOMIC_RELEASE);
  }

  static void tear(Piece& p, uint8_t common, OnlineEnv& env) {
    auto* rest =
        new (env.allocate(sizeof(Piece))) Piece{p.next, static_cast<uint8_t>(p.mask & ~common), D::clone(p.var, env)};
    p.mask = common;
    p.next = rest;
  }
};

}  // namespace pf::rt
