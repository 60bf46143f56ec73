// From 64-bit ids to objects that stay where they are: locks, atomics, shadow pages. Open addressing over pointers;
// the objects are in the arena and go with it.
#pragma once
#include <new>
#include <type_traits>
#include <vector>

#include "offline/env.h"

namespace pf {

template <class T>
class IdMap {
  static_assert(std::is_trivially_destructible_v<T>);

 public:
  // Hot: one probe when the id is there.
  T& at(uint64_t id, Arena& arena) {
    for (std::size_t i = home(id); table_[i].object != nullptr; i = (i + 1) & mask_) {
      if (table_[i].id == id) return *table_[i].object;
    }
    return insert(id, arena);
  }

  T* find(uint64_t id) const {
    for (std::size_t i = home(id);; i = (i + 1) & mask_) {
      if (table_[i].object == nullptr || table_[i].id == id) return table_[i].object;
    }
  }

  // The caller has cleared the object.
  void erase(uint64_t id, Arena& arena) {
    std::size_t hole = home(id);
    while (table_[hole].id != id || table_[hole].object == nullptr) hole = (hole + 1) & mask_;
    arena.deallocate(table_[hole].object, sizeof(T));
    --used_;
    for (std::size_t i = (hole + 1) & mask_; table_[i].object != nullptr; i = (i + 1) & mask_) {
      const bool may_move = ((i - home(table_[i].id)) & mask_) >= ((i - hole) & mask_);
      if (!may_move) continue;
      table_[hole] = table_[i];
      hole = i;
    }
    table_[hole] = {};
  }

  // The ids in [first, last], found by walking whichever is shorter, the range or the table.
  std::vector<uint64_t> ids_in(uint64_t first, uint64_t last) const {
    std::vector<uint64_t> ids;
    if (used_ == 0) return ids;
    if (last - first < table_.size()) {
      for (uint64_t id = first;; ++id) {
        if (find(id) != nullptr) ids.push_back(id);
        if (id == last) return ids;
      }
    }
    for (const Entry& e : table_) {
      if (e.object != nullptr && e.id >= first && e.id <= last) ids.push_back(e.id);
    }
    return ids;
  }

  std::size_t size() const { return used_; }
  std::size_t bytes() const { return table_.size() * sizeof(Entry); }

 private:
  struct Entry {
    uint64_t id = 0;
    T* object = nullptr;
  };

  // The high bits of the product: ids in a row land far apart.
  std::size_t home(uint64_t id) const { return id * 0x9E3779B97F4A7C15U >> shift_; }

  [[gnu::noinline]] T& insert(uint64_t id, Arena& arena) {
    if (used_ * 2 >= table_.size()) grow();
    std::size_t i = home(id);
    while (table_[i].object != nullptr) i = (i + 1) & mask_;
    ++used_;
    table_[i] = {id, new (arena.allocate(sizeof(T))) T{}};
    return *table_[i].object;
  }

  void grow() {
    std::vector<Entry> old(table_.size() * 2);
    old.swap(table_);
    mask_ = table_.size() - 1;
    --shift_;
    for (const Entry& e : old) {
      if (e.object == nullptr) continue;
      std::size_t i = home(e.id);
      while (table_[i].object != nullptr) i = (i + 1) & mask_;
      table_[i] = e;
    }
  }

  std::vector<Entry> table_ = std::vector<Entry>(64);
  std::size_t mask_ = 63, used_ = 0;
  unsigned shift_ = 58;  // 64 less the bits of mask_
};

}  // namespace pf
