// fasttrack,libs=barrier: FastTrack's rules over library_order.h.
// Guarantee: no false alarm where part of the program is not instrumented, as far as library_order.h says; what plain FastTrack reports
// besides is a suspect, counted or told of. Without calls into such code it reports what FastTrack does.
// Cost: two clocks for each; a call costs a look at the memory it reaches (runtime/reach.h).
#pragma once
#include "core/library_order.h"
#include "detect/fasttrack.h"

namespace pf {

template <class Env>
struct LibraryFastTrack : FastTrackRules<Env, LibraryOrder<Env>> {
  static constexpr const EngineInfo& kInfo = kFastTrackInfo;
};

}  // namespace pf
