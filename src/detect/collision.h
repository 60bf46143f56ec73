// Collisions: what the registry knows of them. They are accesses that really overlap in time, so there are none in a trace; the
// engine itself is in the target (runtime/watch_host.h).
#pragma once
#include "core/engine_info.h"

namespace pf {

inline constexpr OptionInfo kCollisionOptions[] = {
    {"rate", "R", "1%", "share of the program's instructions that are sampled"},
    {"delay", "T", "15ms", "how long a sampled access waits for another to collide with"},
    {"overhead", "R", "5%", "share of the time that may go into waiting; delays become shorter and fewer to keep it"},
    {"seed", "N", "a fresh one", "for drawing the instructions"},
};
inline constexpr EngineInfo kCollisionInfo = {
    .name = "collision",
    .kind = StageKind::Detector,
    .summary = "sampled accesses are delayed while a hardware breakpoint waits for a racing one",
    .guarantee = "every report is of two accesses that overlapped in time",
    .source = "DataCollider; CRSampler, algorithm 2",
    .options = kCollisionOptions,
    .rules = {},
    .offline = false,
};

}  // namespace pf
