#include "predict/cp.h"

#include <algorithm>

namespace pf::predict {

CausallyPrecedes::CausallyPrecedes(const Model& model, const Order& hb, bool heed_missing)
    : model_(model), edges_(model.size()) {
  struct Pairing {
    Sections firsts;
    const std::vector<Section>* seconds;
  };
  std::vector<Pairing> pairings;
  for (const auto& [lock, use] : model.locks()) {
    for (const auto& [firsts, seconds] :
         {std::pair(&use.writing, &use.holding), std::pair(&use.holding, &use.writing)}) {
      add_conflicting(*firsts, *seconds);
      Pairing& p = pairings.emplace_back(Pairing{{}, seconds});
      for (const Section& s : *firsts) p.firsts[s.thread].push_back(s);
    }
  }
  for (bool grown = true; grown;) {
    order_ = std::make_unique<Order>(model, hb, edges_, heed_missing);
    grown = false;
    for (const Pairing& p : pairings) grown |= add_ordered(p.firsts, *p.seconds);
  }
}

// True: it is new.
bool CausallyPrecedes::add_edge(Index release, Index acquire) {
  std::vector<Index>& known = edges_[acquire];
  if (std::ranges::find(known, release) != known.end()) return false;
  known.push_back(release);
  return true;
}

// In the window; of a section that does not end there, all that is left of its thread.
Index CausallyPrecedes::last_event(const Section& s) const {
  return s.end != kNone ? s.end : model_.events_of(s.thread).back();
}

std::vector<Index> CausallyPrecedes::accesses(const Section& s) const {
  std::vector<Index> found;
  if (s.thread == Model::kNoThread) return found;
  const std::vector<Index>& own = model_.events_of(s.thread);
  for (uint32_t p = s.begin == kNone ? 0 : model_.position(s.begin); p <= model_.position(last_event(s)); ++p)
    if (may_race(model_.event(own[p]).op)) found.push_back(own[p]);
  return found;
}

// Rule (a). Of each thread the latest such section is enough: the earlier ones precede it.
void CausallyPrecedes::add_conflicting(const std::vector<Section>& firsts, const std::vector<Section>& seconds) {
  struct Entry {
    const Section* section;
    Index access;
  };
  std::unordered_map<Cell, std::vector<Entry>> by_cell;  // in the order of the trace
  for (const Section& s : firsts) {
    if (s.end == kNone) continue;
    for (const Index a : accesses(s))
      for (Cell cell = model_.cells().of(a).begin; cell < model_.cells().of(a).end; ++cell)
        by_cell[cell].push_back({&s, a});
  }
  for (const Section& second : seconds) {
    if (second.begin == kNone) continue;
    std::map<Thread, const Section*> latest;
    for (const Index b : accesses(second))
      for (Cell cell = model_.cells().of(b).begin; cell < model_.cells().of(b).end; ++cell) {
        const auto entries = by_cell.find(cell);
        if (entries == by_cell.end()) continue;
        for (const Entry& e : entries->second) {
          const Section*& known = latest[e.section->thread];
          const bool may_be = e.section->thread != second.thread && e.section->end < second.begin &&
                              (known == nullptr || known->end < e.section->end);
          if (may_be && model_.conflict(e.access, b)) known = e.section;
        }
      }
    for (const auto& [thread, first] : latest)
      if (first != nullptr) add_edge(first->end, second.begin);
  }
}

// Rule (b), by what is known so far. True: it has added an edge.
bool CausallyPrecedes::add_ordered(const Sections& firsts, const std::vector<Section>& seconds) {
  bool grown = false;
  for (const Section& second : seconds) {
    if (second.begin == kNone || second.thread == Model::kNoThread) continue;
    const auto before = order_->up_to(last_event(second));
    for (const auto& [thread, sections] : firsts) {
      if (thread == second.thread || thread == Model::kNoThread) continue;
      const auto applies = [&](const Section& s) {
        const uint32_t position = s.begin == kNone ? 0 : model_.position(s.begin);
        return s.end != kNone && s.end < second.begin && position < before[thread];
      };
      const auto after = std::ranges::partition_point(sections, applies);
      if (after != sections.begin()) grown |= add_edge(std::prev(after)->end, second.begin);
    }
  }
  return grown;
}

}  // namespace pf::predict
