// The memory of a window cut into cells: bytes that none of its events tells apart. An event touches a range of cells.
// And what each read sees there: the write before it, or any other that is known to have left the same value.
#pragma once
#include <optional>

#include "predict/window.h"

namespace pf::predict {

constexpr bool reads_memory(Op op) { return op == Op::Read || op == Op::AtomicLoad || op == Op::AtomicRmw; }
constexpr bool changes_memory(Op op) { return writes(op) || op == Op::Alloc; }
constexpr bool touches_memory(Op op) { return is_access(op) || op == Op::Alloc || op == Op::Free; }
constexpr bool may_race(Op op) { return is_access(op) || op == Op::Free; }

using Cell = uint32_t;

class Cells {
 public:
  struct Span {
    Cell begin = 0, end = 0;
  };
  // heed_missing: memory that calls without instrumentation reach may have changed unseen.
  Cells(const Window& window, bool heed_missing);

  Cell count() const { return static_cast<Cell>(cuts_.size()); }
  Span of(Index event) const { return spans_[event]; }
  Span common(Index a, Index b) const {
    return {std::max(spans_[a].begin, spans_[b].begin), std::min(spans_[a].end, spans_[b].end)};
  }
  uint64_t address(Cell cell) const { return cuts_[cell]; }
  // The events that change the cell, in the order of the trace.
  const std::vector<Index>& writers(Cell cell) const { return writers_[cell]; }

  // The event whose value a read sees in the trace; kNone: what was there before the window.
  Index seen(Index read, Cell cell) const { return seen_[read][cell - spans_[read].begin]; }
  // Would the read see the same value there if `writer` were the last to write? kNone as above.
  bool accepts(Index read, Cell cell, Index writer) const;
  // More than one writer may do.
  bool by_value(Index read, Cell cell) const;

 private:
  std::optional<uint64_t> value(Index writer, Cell cell) const;
  std::optional<uint64_t> carried(Index access, Cell cell) const;
  std::optional<uint64_t> before_window(Cell cell) const;
  void cut();
  void find_writers();
  void learn_first_values();
  void mark_reached();

  const Window& window_;
  std::vector<uint64_t> cuts_;
  std::vector<Span> spans_;
  std::vector<std::vector<Index>> writers_;            // by cell
  std::vector<std::vector<Index>> seen_;               // of each read, by cell
  std::vector<std::optional<uint64_t>> first_values_;  // of each cell, when the window begins
  std::vector<bool> reached_;                          // by a call without instrumentation
};

}  // namespace pf::predict
