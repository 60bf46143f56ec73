#include "predict/needed.h"

namespace pf::predict {

// False: two sections would have to be open at once.
bool Needed::close(const std::vector<ThreadSections>& lock, Thread a, Thread b, Clock& cut, bool& grown) const {
  const auto open = [&](const std::vector<Section>& sections) -> const Section* {
    const Section* last = cuts_.last_begun(sections, cut);
    return last != nullptr && cuts_.is_open(*last, cut) ? last : nullptr;
  };
  // In the whole of any reordering: those around the accesses, and those that never end.
  const auto stays = [&](const Section& s) { return s.end == kNone || s.thread == a || s.thread == b; };
  const auto end_before = [&](const Section* first, const Section* second) {
    if (first == nullptr || second == nullptr || !stays(*second)) return true;
    if (first->begin == kNone && second->begin == kNone) return true;  // as they are, in a trace that is no run
    if (stays(*first)) return false;
    join(cut, must_.up_to(first->end));
    return grown = true;
  };
  for (const ThreadSections& first : lock)
    for (const ThreadSections& second : lock) {
      if (first.thread == second.thread) continue;
      if (!end_before(open(first.writing), open(second.holding))) return false;
      if (!end_before(open(first.holding), open(second.writing))) return false;
    }
  return true;
}

std::optional<Clock> Needed::by(Index a, Index b) const {
  return cuts_.grown_before(a, b, must_, [&](const auto& lock, Clock& cut, bool& grown) {
    return close(lock, model_.thread(a), model_.thread(b), cut, grown);
  });
}

}  // namespace pf::predict
