// The predictors as the catalog knows them.
#pragma once
#include "core/engine_info.h"

namespace pf::predict {

// What became of the pairs that conflict: see Tally.
inline constexpr std::string_view kRules[] = {"windows",          "ordered or locked", "known already", "by kept order",
                                              "by sync reversal", "by the solver",     "refuted",       "unknown",
                                              "schedules tried",  "missing calls"};

#define PF_WINDOW_OPTIONS                                                                                              \
  {"window", "N", "10000", "events of a window; races are looked for within one"},                                     \
      {"jobs", "N", "0", "windows worked on at once; 0: one for each core, the result is the same"}
#define PF_SOLVER_OPTIONS                                                                                              \
  {"solver", "cadical|z3", "cadical",                                                                                  \
   "what decides the hard pairs: clauses as they are needed; or one formula of difference logic for every pair, "      \
   "slow"},                                                                                                            \
      {"steps", "N", "100",                                                                                            \
       "thousands of schedules and conflicts that the solver may try for a pair, the same on every machine"},          \
      {"timeout", "N", "60000", "milliseconds that the solver may take for a pair, in case its steps take long"},      \
      {"tries", "N", "64",                                                                                             \
       "pairs of one pair of sites and variable that the solver may refute in a window; the rest is unknown"}
inline constexpr OptionInfo kSyncpOptions[] = {PF_WINDOW_OPTIONS};
inline constexpr OptionInfo kSolverOptions[] = {PF_WINDOW_OPTIONS, PF_SOLVER_OPTIONS};
inline constexpr OptionInfo kRelationOptions[] = {
    PF_WINDOW_OPTIONS,
    PF_SOLVER_OPTIONS,
    {"raw", "", "off", "the relation itself, as textbooks have it: no witness, and only the first race is sure"},
};
#undef PF_WINDOW_OPTIONS
#undef PF_SOLVER_OPTIONS

inline constexpr EngineInfo kHbInfo = {
    .name = "hb",
    .kind = StageKind::Predictor,
    .summary = "happens-before over windows: every unordered pair that another schedule shows side by side",
    .guarantee =
        "every race has a witness that was replayed; with raw exactly the pairs of a window that happens-before "
        "leaves unordered",
    .source = "TREE and RDIT §5.2",
    .options = kRelationOptions,
    .rules = kRules,
};
inline constexpr EngineInfo kCpInfo = {
    .name = "cp",
    .kind = StageKind::Predictor,
    .summary = "causally-precedes over windows: of lock order, what conflicts make necessary",
    .guarantee = "every race has a witness that was replayed; all that hb has, nothing that mc has not",
    .source = "TREE and RDIT §5.2; Smaragdakis et al., POPL 2012",
    .options = kRelationOptions,
    .rules = kRules,
};
inline constexpr EngineInfo kSyncpInfo = {
    .name = "syncp",
    .kind = StageKind::Predictor,
    .summary = "sync-preserving races over windows: prediction without a solver",
    .guarantee =
        "exactly the pairs of a window that a reordering shows which keeps the order of critical sections and what "
        "every read sees",
    .source = "Mathur, Pavlogiannis, Viswanathan, POPL 2021",
    .options = kSyncpOptions,
    .rules = kRules,
};
inline constexpr EngineInfo kOsrInfo = {
    .name = "osr",
    .kind = StageKind::Predictor,
    .summary = "optimistic sync-reversal over windows: syncp, and the sections around the two accesses may come last",
    .guarantee = "every race has a witness that was replayed; all that syncp has, nothing that mc has not",
    .source = "Shi, Mathur, Pavlogiannis, OOPSLA 2024",
    .options = kSyncpOptions,
    .rules = kRules,
};
inline constexpr EngineInfo kMcInfo = {
    .name = "mc",
    .kind = StageKind::Predictor,
    .summary = "maximal causality over windows: every race that a schedule of the same events has",
    .guarantee = "exactly the predictable races of a window, each with a witness that was replayed; what a limit left "
                 "open is counted as unknown",
    .source = "TREE and RDIT §4.4, §5.2",
    .options = kSolverOptions,
    .rules = kRules,
};
inline constexpr EngineInfo kRditInfo = {
    .name = "rdit",
    .kind = StageKind::Predictor,
    .summary = "maximal causality where part of the program was not instrumented",
    .guarantee = "no race that the complete trace does not have, whatever happened in calls without instrumentation; "
                 "without such calls exactly mc",
    .source = "TREE and RDIT §4",
    .options = kSolverOptions,
    .rules = kRules,
};

}  // namespace pf::predict
