// What runs of a window: of each thread its first events, so many as a clock says; and how the critical sections of each lock stand
// then. The two predictors without a solver grow such a cut until it is one that a reordering can run.
#pragma once
#include <optional>

#include "predict/order.h"

namespace pf::predict {

// The sections of one lock and thread, in order.
struct ThreadSections {
  Thread thread;
  std::vector<Section> writing, holding;
};

class Cuts {
 public:
  explicit Cuts(const Model& model);

  const std::vector<std::vector<ThreadSections>>& locks() const { return locks_; }
  bool includes(const Clock& cut, Index i) const { return cut[model_.thread(i)] > model_.position(i); }
  bool has_begun(const Section& s, const Clock& cut) const { return s.begin == kNone || includes(cut, s.begin); }
  bool is_open(const Section& s, const Clock& cut) const { return s.end == kNone || !includes(cut, s.end); }
  const Section* last_begun(const std::vector<Section>& sections, const Clock& cut) const;

  // Grows what the order puts before both accesses until close(sections of a lock, cut, grown) has nothing to add for any lock. Nothing: a lock
  // refuses, or an access itself would run.
  template <class Close>
  std::optional<Clock> grown_before(Index a, Index b, const Order& order, Close close) const {
    Clock cut(order.enabling(a).begin(), order.enabling(a).end());
    join(cut, order.enabling(b));
    for (bool grown = true; grown;) {
      if (includes(cut, a) || includes(cut, b)) return {};
      grown = false;
      for (const auto& lock : locks_)
        if (!close(lock, cut, grown)) return {};
    }
    return cut;
  }

 private:
  const Model& model_;
  std::vector<std::vector<ThreadSections>> locks_;
};

}  // namespace pf::predict
