// The random traces of the property tests. PF_TRACES=N sets their number, PF_SEED=S the first seed.
#pragma once
#include <cstdlib>

#include "property/shrink.h"
#include "trace/generator.h"

namespace pf {

inline uint64_t from_environment(const char* name, uint64_t fallback) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : fallback;
}
inline uint64_t traces() { return from_environment("PF_TRACES", 20000); }
inline uint64_t first_seed() { return from_environment("PF_SEED", 1); }

inline Trace generate(const GeneratorOptions& options) {
  Generator generator(options);
  Trace trace;
  for (Event e; generator.next(e);) trace.push_back(e);
  return trace;
}

// Each event is a site of its own, so that reports can be traced back to events.
inline Trace generate(uint64_t seed) {
  GeneratorOptions options = random_options(seed, 10 + seed % 60);
  options.unique_sites = true;
  return generate(options);
}

// Three sites, so that accesses repeat.
inline Trace generate_few_sites(uint64_t seed) {
  GeneratorOptions options = random_options(seed, 30 + seed % 60);
  options.unique_sites = options.bytes = false;
  options.heap_blocks = 0;
  options.sites = 3;
  return generate(options);
}

// The trace with sampling marks at random places, the first of all events among them; the others before accesses only, if
// somebody must be there to make them. Each event is a site of its own.
inline Trace with_periods(const Trace& trace, uint64_t seed, bool before_accesses = false) {
  Trace marked;
  uint64_t random = seed;
  bool on = false;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    const bool wanted = random >> 33 < (uint64_t{1} << 31) / (2 + seed % 7);
    if (i == 0 || (wanted && (is_access(trace[i].op) || !before_accesses))) {
      Event mark;
      mark.thread = trace[i].thread;
      on = i == 0 ? (random >> 40 & 1) != 0 : !on;
      mark.op = on ? Op::SamplingOn : Op::SamplingOff;
      marked.push_back(mark);
    }
    marked.push_back(trace[i]);
  }
  for (std::size_t i = 0; i < marked.size(); ++i) marked[i].site = SiteId{static_cast<uint32_t>(i) + 1};
  return marked;
}

}  // namespace pf
