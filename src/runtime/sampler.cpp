#include "runtime/sampler.h"

#include "core/hash.h"
#include "runtime/options.h"

namespace pf::rt::sampler {
namespace {

constinit uint64_t g_seed = 0;

uint64_t seed_of_options() {
  return g_options.has_filter_seed ? hash_with(g_options.filter_seed, g_options.trial) : fresh_seed();
}

}  // namespace

void start() {
  if (!is_used()) return;
  g_seed = seed_of_options();
  carisma::start();
}
bool is_used() { return literace::is_used() || carisma::is_used(); }
uint64_t seed() { return g_seed; }

void become(Thread* t) {
  self = t;
  const bool in_library = t != nullptr && t->library_depth != 0;
  in_calls = literace::is_used() || in_library ? nullptr : t;
  watched = is_used() || (in_library && t->is_outside) ? nullptr : t;
  if (t != nullptr) literace::look_at_top(*t);
}

bool passes(Thread& t, Op op, uintptr_t address, uintptr_t size) {
  bool passed = true;  // of a thread that was just met, without a filter
  if (t.bursts != nullptr) passed = literace::passes_outside(t);
  if (carisma::is_used()) passed = carisma::passes(t, op, address, size);
  if (!passed) ++t.dropped;
  return passed;
}

}  // namespace pf::rt::sampler
