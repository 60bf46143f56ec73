// The detector that this library is for: CMake compiles the files that include this once for each.
#pragma once
#ifdef PF_DETECTOR
#include "detect/library_fasttrack.h"
#include "detect/registry.h"
#include "runtime/online_host.h"
#elif defined(PF_RECORDER)
#include "runtime/record_host.h"
#else
#include "runtime/watch_host.h"
#endif

namespace pf::rt {

#ifdef PF_DETECTOR
using Host = OnlineHost<PF_DETECTOR>;
#elif defined(PF_RECORDER)
using Host = RecordHost;
#else
using Host = WatchHost;
#endif

inline Host::HostThread& of(Thread& t) { return Host::of(t); }

}  // namespace pf::rt
