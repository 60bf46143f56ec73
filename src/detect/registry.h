// The one list of detectors. A new one is a header and a line here: help, chains, hosts and the differential tests
// iterate this list.
#pragma once
#include "detect/acculock.h"
#include "detect/clockrace.h"
#include "detect/djit.h"
#include "detect/eraser.h"
#include "detect/fasttrack.h"
#include "detect/generic.h"
#include "detect/multilock.h"
#include "detect/pacer.h"
#include "detect/shb.h"
#include "detect/simplelock.h"

namespace pf {

template <template <class> class... D>
struct DetectorList {};

using Detectors =
    DetectorList<FastTrack, Djit, Generic, Shb, Pacer, SimpleLock, MultiLock, AccuLock, Eraser, ClockRace>;

}  // namespace pf
