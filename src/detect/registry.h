// The one list of detectors. A new one is a header and a line here: help, chains, hosts and the differential tests
// iterate this list.
#pragma once
#include "detect/djit.h"
#include "detect/fasttrack.h"
#include "detect/generic.h"
#include "detect/shb.h"

namespace pf {

template <template <class> class... D>
struct DetectorList {};

using Detectors = DetectorList<FastTrack, Djit, Generic, Shb>;

}  // namespace pf
