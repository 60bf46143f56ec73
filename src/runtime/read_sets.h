// The concurrent readers of a variable, for FastTrack: sets of marks, each stored once and counted. An array that
// several threads read has one set for all its elements, so a granule needs no more than the set's number.
//
// A set that several have never changes: adding a mark leads to another one. Threads remember the last steps they took, so a loop over
// an array looks its step up once. A set that only one granule has becomes its own when one of the readers reads again, and from then on
// such a mark is put in place: so it is with what all threads read between their locks. Thread-safe; a ReadSet itself is one owner's.
#pragma once
#include "core/env.h"
#include "runtime/depot.h"
#include "runtime/memory.h"
#include "runtime/slots.h"

namespace pf::rt {

struct OnlineEnv;

// Number and generation: a number is used again, the pair is not (before four million times).
struct SetName {
  uint32_t id = 0;  // 0: the empty set
  uint32_t generation = 0;
  friend bool operator==(SetName, SetName) = default;
};

struct SetEntry {
  OnlineEpoch epoch;
  depot::Id access;
};

// The last step from a set with a mark, and without some.
struct SetStep {
  SetName from, to;
  OnlineEpoch epoch;
  depot::Id access;
  uint32_t gone;
};

namespace sets {

inline constexpr unsigned kGenerationBits = 22, kNumberBits = 31;

struct Set {
  uint32_t references;  // kOwn: one, and there will not be another
  uint32_t generation;
  uint32_t count;
  uint32_t next;  // in its bucket
  uint64_t hash;
  SetEntry* entries;  // by slot
};
const Set& at(uint32_t id);
// Null if the set may have another owner.
Set* own(SetName set);

// For a second owner: the set itself, or a copy of one's own.
SetName share(SetName set, Arena& arena);
void release(SetName set, Arena& arena);
// What becomes of a set, whose reference goes along, with this mark; the mark of the same slot is replaced. A bit of `gone` for each of the first
// marks that is left out.
SetName with(SetName set, const SetEntry& entry, uint32_t gone, SetStep* steps, Arena& arena);
// The same without this slot's mark; empty if nothing is left.
SetName without(SetName set, Slot slot, Arena& arena);

inline constexpr unsigned kSteps = 64;  // that a thread remembers

}  // namespace sets

// The interface of core's MarkMap.
template <class Env>
class ReadSet {
 public:
  bool empty() const { return name_.id == 0; }
  bool has(typename Env::Epoch e) const {
    bool found = false;
    for_each([&](const Mark<Env>& m) { found |= m.epoch == e; });
    return found;
  }
  void put(const Mark<Env>& m, Env& env) { put_without(0, m, env); }
  // Of very many readers, the first are enough to look at: who stays is no mistake, only one more.
  template <class IsBefore>
  bool follow(const Mark<Env>& m, IsBefore&& is_before, Env& env) {
    const sets::Set& s = sets::at(name_.id);
    uint32_t gone = 0, left = s.count;
    for (uint32_t i = 0; i < s.count && i < 32; ++i) {
      if (!is_before(s.entries[i].epoch)) continue;
      --left;
      gone |= 1U << i;
    }
    left == 0 ? clear(env) : put_without(gone, m, env);
    return left != 0;
  }
  void remove(Slot slot, Env& env) {
    if (!empty()) name_ = sets::without(name_, slot, *env.arena);
  }
  template <class F>
  void for_each(F&& f) const {
    if (empty()) return;
    const sets::Set& s = sets::at(name_.id);
    for (uint32_t i = 0; i < s.count; ++i) f(Mark<Env>{s.entries[i].epoch, {s.entries[i].access}});
  }
  void clear(Env& env) {
    if (!empty()) sets::release(name_, *env.arena);
    name_ = {};
  }
  ReadSet clone(Env& env) const { return empty() ? ReadSet{} : of(sets::share(name_, *env.arena)); }

  // Where one of the readers reads again, and comes after none of the others, in a set that nobody else has: only its mark is another. Whether it was so.
  template <class IsBefore>
  static bool renew(SetName name, const Mark<Env>& m, IsBefore&& is_before) {
    sets::Set* s = sets::own(name);
    if (s == nullptr) return false;
    SetEntry* known = nullptr;
    for (uint32_t i = 0; i < s->count; ++i) {
      if (s->entries[i].epoch.slot() == m.epoch.slot()) {
        known = &s->entries[i];
      } else if (is_before(s->entries[i].epoch)) {
        return false;
      }
    }
    if (known != nullptr) *known = {m.epoch, m.access.id};
    return known != nullptr;
  }

  // As a granule keeps it; the reference goes along.
  SetName name() const { return name_; }
  static ReadSet of(SetName name) {
    ReadSet s;
    s.name_ = name;
    return s;
  }

 private:
  void put_without(uint32_t gone, const Mark<Env>& m, Env& env) {
    name_ = sets::with(name_, {m.epoch, m.access.id}, gone, env.set_steps, *env.arena);
  }

  SetName name_;
};

}  // namespace pf::rt
