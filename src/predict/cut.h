// What runs of a window: of each thread its first events, so many as a clock says; and how the critical sections of each lock stand
// then. The two predictors without a solver grow such a cut until it is one that a reordering can run.
#pragma once
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

 private:
  const Model& model_;
  std::vector<std::vector<ThreadSections>> locks_;
};

}  // namespace pf::predict
