// What a filter has seen, in bounded memory: two generations of open addressing. A full young generation becomes the old one,
// and the old one is forgotten; an entry that is met again moves to the young one.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace pf {

// `Value` of zero bytes is one never seen; the user makes it another at once.
template <class Key, class Value, class Hash>
class SeenTable {
 public:
  explicit SeenTable(uint64_t max_bytes)
      : max_entries_(std::bit_floor(max_bytes / 2 / sizeof(Entry) | kMinEntries)), young_(kMinEntries) {}

  // Hot: one probe when it was seen lately.
  Value& at(const Key& key) {
    const std::size_t hash = Hash{}(key);
    Entry* e = probe(young_, key, hash);
    if (e->value != Value{}) [[likely]]
      return e->value;
    return insert(key, hash);
  }

  uint64_t bytes() const { return (young_.size() + old_.size()) * sizeof(Entry); }
  uint64_t peak_bytes() const { return std::max(peak_bytes_, bytes()); }

 private:
  struct Entry {
    Key key{};
    Value value{};
  };
  using Entries = std::vector<Entry>;  // a power of two, at least a quarter of them vacant
  static constexpr std::size_t kMinEntries = 16;

  static Entry* probe(Entries& entries, const Key& key, std::size_t hash) {
    const std::size_t mask = entries.size() - 1;
    for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
      Entry& e = entries[i];
      if (e.value == Value{} || e.key == key) return &e;
    }
  }

  [[gnu::noinline]] Value& insert(const Key& key, std::size_t hash) {
    if (used_ >= young_.size() / 4 * 3) make_room();
    ++used_;
    Entry* e = probe(young_, key, hash);
    *e = {key, old_.empty() ? Value{} : probe(old_, key, hash)->value};
    return e->value;
  }

  void make_room() {
    if (young_.size() >= max_entries_) {
      peak_bytes_ = peak_bytes();
      used_ = 0;
      old_ = std::exchange(young_, Entries(kMinEntries));
      return;
    }
    Entries larger(young_.size() * 2);
    for (const Entry& e : young_) {
      if (e.value != Value{}) *probe(larger, e.key, Hash{}(e.key)) = e;
    }
    young_ = std::move(larger);
  }

  std::size_t max_entries_;  // of a generation
  Entries young_, old_;
  std::size_t used_ = 0;     // of the young one
  uint64_t peak_bytes_ = 0;  // before one was forgotten
};

}  // namespace pf
