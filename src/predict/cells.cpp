#include "predict/cells.h"

#include <algorithm>

namespace pf::predict {

Cells::Cells(const Window& window, bool heed_missing) : window_(window) {
  cut();
  find_writers();
  learn_first_values();
  reached_.resize(cuts_.size());
  if (heed_missing) mark_reached();
}

void Cells::cut() {
  for (const Event& e : window_.events) {
    if (!touches_memory(e.op)) continue;
    const Range range = range_of(e);
    cuts_.insert(cuts_.end(), {range.begin, range.end});
  }
  std::ranges::sort(cuts_);
  cuts_.erase(std::ranges::unique(cuts_).begin(), cuts_.end());
  const auto cell_at = [&](uint64_t address) {
    return static_cast<Cell>(std::ranges::lower_bound(cuts_, address) - cuts_.begin());
  };
  for (const Event& e : window_.events) {
    const Range range = touches_memory(e.op) ? range_of(e) : Range{};
    spans_.push_back(touches_memory(e.op) ? Span{cell_at(range.begin), cell_at(range.end)} : Span{});
  }
}

void Cells::find_writers() {
  writers_.resize(cuts_.size());
  seen_.resize(window_.events.size());
  for (Index i = 0; i < window_.events.size(); ++i) {
    const Op op = window_.events[i].op;
    for (Cell cell = spans_[i].begin; cell < spans_[i].end; ++cell) {
      if (reads_memory(op)) seen_[i].push_back(writers_[cell].empty() ? kNone : writers_[cell].back());
      if (changes_memory(op)) writers_[cell].push_back(i);
    }
  }
}

// What is not known from before the window, its first reads tell.
void Cells::learn_first_values() {
  first_values_.resize(cuts_.size());
  for (Cell cell = 0; cell < cuts_.size(); ++cell) first_values_[cell] = before_window(cell);
  for (Index i = 0; i < window_.events.size(); ++i) {
    const Op op = window_.events[i].op;
    if (op != Op::Read && op != Op::AtomicLoad) continue;
    for (Cell cell = spans_[i].begin; cell < spans_[i].end; ++cell)
      if (seen(i, cell) == kNone && !first_values_[cell]) first_values_[cell] = carried(i, cell);
  }
}

void Cells::mark_reached() {
  const auto mark = [&](const Range& range) {
    const auto after = std::ranges::upper_bound(cuts_, range.begin);
    auto cell = static_cast<Cell>(after - cuts_.begin() - (after == cuts_.begin() ? 0 : 1));
    for (; cell < cuts_.size() && cuts_[cell] < range.end; ++cell) reached_[cell] = true;
  };
  for (const Window::Missing& m : window_.missing) std::ranges::for_each(m.reach, mark);
  for (const Event& e : window_.events)
    if (e.op == Op::Reach) mark(range_of(e));
}

// The bytes of the cell in the value that an access carries.
std::optional<uint64_t> Cells::carried(Index access, Cell cell) const {
  const Event& e = window_.events[access];
  const uint64_t offset = cuts_[cell] - e.target, size = cuts_[cell + 1] - cuts_[cell];
  if (!is_access(e.op) || !e.has_value || offset + size > 8) return {};
  const uint64_t shifted = e.value >> 8 * offset;
  return size == 8 ? shifted : shifted & ((uint64_t{1} << 8 * size) - 1);
}

std::optional<uint64_t> Cells::before_window(Cell cell) const {
  if (window_.words.empty() || cell + 1 == cuts_.size() || cuts_[cell + 1] - cuts_[cell] > 8) return {};
  uint64_t value = 0;
  for (uint64_t at = cuts_[cell]; at < cuts_[cell + 1]; ++at) {
    const auto word = window_.words.find(at / 8);
    if (word == window_.words.end() || (word->second.known >> 8 * (at % 8) & 0xff) == 0) return {};
    value |= (word->second.value >> 8 * (at % 8) & 0xff) << 8 * (at - cuts_[cell]);
  }
  return value;
}

std::optional<uint64_t> Cells::value(Index writer, Cell cell) const {
  return writer == kNone ? first_values_[cell] : carried(writer, cell);
}

bool Cells::by_value(Index read, Cell cell) const {
  if (reached_[cell]) return false;
  const std::optional<uint64_t> was = value(seen(read, cell), cell);
  if (!was) return false;
  // A value that is not the one written came from a write that the trace does not have.
  const bool tells = window_.events[read].op != Op::AtomicRmw && window_.events[read].has_value;
  return !tells || carried(read, cell) == was;
}

bool Cells::accepts(Index read, Cell cell, Index writer) const {
  const Index was = seen(read, cell);
  if (writer == was) return true;
  return by_value(read, cell) && value(writer, cell) == value(was, cell);
}

}  // namespace pf::predict
