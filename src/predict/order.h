// Relations between the events of a window, kept as clocks: of each event, how many events of each thread come before it.
//
//   Must   what every correct reordering keeps: program order, fork and join, barriers, the write that a read must see if
//          only one will do, the only notify that a wake can come from, a semaphore with too many uses to choose from
//   Kept   Must, and what sync-preserving reorderings keep beside the order of critical sections: every read sees its
//          own write; posts and notifies are those of the trace
//   Weak   happens-before without locks (docs/happens-before.md)
//   Hb     happens-before
//   Cp     causally-precedes, given its lock edges (cp.h); program order is no part of it
//
// With heed_missing each also has the order of calls without instrumentation (missing.h).
#pragma once
#include "predict/model.h"

namespace pf::predict {

enum class Relation : uint8_t { Must, Kept, Weak, Hb, Cp };

using Clock = std::vector<uint32_t>;  // by thread: how many of its events

void join(Clock& to, std::span<const uint32_t> from);

using LockEdges = std::vector<std::vector<Index>>;  // to each acquire, the releases that it comes after

class Order {
 public:
  Order(const Model& model, Relation relation, bool heed_missing);
  Order(const Model& model, const Order& hb, const LockEdges& edges, bool heed_missing);  // Cp

  // The event and all before it.
  std::span<const uint32_t> up_to(Index i) const { return row(up_to_, i); }
  // What must have come before the event is next in its thread: all of the above but what it needs to run.
  std::span<const uint32_t> enabling(Index i) const { return row(enabling_, i); }
  bool before(Index a, Index b) const { return up_to(b)[model_.thread(a)] > model_.position(a); }
  bool enables(Index a, Index b) const { return enabling(b)[model_.thread(a)] > model_.position(a); }

 private:
  class Builder;
  std::span<const uint32_t> row(const std::vector<uint32_t>& rows, Index i) const {
    return std::span(rows).subspan(size_t{i} * model_.threads(), model_.threads());
  }

  const Model& model_;
  std::vector<uint32_t> up_to_, enabling_;
};

// The notifies that the wake may come from, in some reordering.
std::vector<Index> notify_candidates(const Model& model, Index wake);
// The writers that a read may see in a cell; kNone among them: what was there before the window.
std::vector<Index> writer_candidates(const Model& model, Index read, Cell cell);

// Who uses a semaphore. A take needs a source for itself: a post, or a token that was there before the window.
struct Semaphore {
  std::vector<Index> posts, takes;
  size_t tokens = 0;

  size_t sources() const { return posts.size() + tokens; }
  Index post(size_t source) const { return source < posts.size() ? posts[source] : kNone; }  // kNone: a token
  bool keeps_order() const;                                                                  // by Must
  bool has_choice() const { return tokens < takes.size() && !keeps_order(); }
};
std::map<uint64_t, Semaphore> semaphores(const Model& model);

}  // namespace pf::predict
