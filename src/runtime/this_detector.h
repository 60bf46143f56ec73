// The detector that this library is for: CMake compiles the files that include this once for each.
#pragma once
#include "detect/registry.h"
#include "runtime/online_host.h"

namespace pf::rt {

using Host = OnlineHost<PF_DETECTOR>;

inline Host::HostThread& of(Thread& t) { return Host::of(t); }

}  // namespace pf::rt
