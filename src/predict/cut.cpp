#include "predict/cut.h"

#include <algorithm>

namespace pf::predict {

Cuts::Cuts(const Model& model) : model_(model) {
  for (const auto& [lock, sections] : model.locks()) {
    std::map<Thread, ThreadSections> uses;
    for (const Section& s : sections.writing) uses[s.thread].writing.push_back(s);
    for (const Section& s : sections.holding) uses[s.thread].holding.push_back(s);
    std::vector<ThreadSections>& all = locks_.emplace_back();
    for (auto& [thread, use] : uses) all.push_back({thread, std::move(use.writing), std::move(use.holding)});
  }
}

const Section* Cuts::last_begun(const std::vector<Section>& sections, const Clock& cut) const {
  const auto after = std::ranges::partition_point(sections, [&](const Section& s) { return has_begun(s, cut); });
  return after == sections.begin() ? nullptr : &*std::prev(after);
}

}  // namespace pf::predict
