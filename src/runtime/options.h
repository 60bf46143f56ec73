// What the environment asks of the runtime: PHOTOFINISH_OPTIONS, TSAN_OPTIONS when that is absent, and what the
// program's own __tsan_default_options says before either. The detector's own options are in PHOTOFINISH_CHAIN.
#pragma once
#include <cstdint>

#include "core/periods.h"
#include "filter/carisma_law.h"

namespace pf::rt {

// Of the library, not of the environment: one library per detector.
extern const char kDetectorName[];
extern const bool kIsForSampling;  // of programs that are not instrumented: does nothing unless photofinish asks for it

// Names with '*' in them, apart by '/' (boundary.h).
struct Patterns {
  const char* text = "";
  uint64_t size = 0;
};
enum class Libraries : uint8_t { Unseen, ByArguments, ByState };

// What no race can be found with any more: past.h.
enum class Forget : uint8_t { Nothing, Usually, Eagerly };

struct Options {
  bool halt_on_error = false;
  bool report_bugs = true;
  bool report_thread_leaks = true;
  bool report_mutex_bugs = true;
  bool report_destroy_locked = true;
  int exitcode = 66;
  uint32_t queue_length = 1;  // simplelock's q, of the chain
  // The tree filter's:
  bool tree = false, tree_exact = false, tree_two_threads = false;
  uint64_t tree_memory = uint64_t{64} << 20;
  // literace's:
  uint64_t burst = 0;  // 0: no such filter
  // carisma's:
  bool carisma = false;
  bool has_filter_seed = false;
  CarismaLaw law;
  uint64_t depth = 1;
  uint64_t filter_seed = 0;  // of either
  // pacer's:
  uint64_t rate = known_rate("3%"), seed = 0;
  uint64_t period = 0;  // 0: as periods.h has it
  bool has_rate = false;
  bool has_seed = false;  // else every run draws its own
  uint64_t trial = 0;     // the number of this run: with one seed for all, each still draws its own
  Forget forget = Forget::Usually;
  bool near = true;  // hot code is copied to where the program can call it directly

  // Of the engines that watch with breakpoints; times in nanoseconds:
  bool breakpoints = true, symmetric = false;
  uint64_t limit = 15'000'000, delay = 15'000'000, overhead = known_rate("5%");
  const char* steer = nullptr;  // what photofinish confirm asks for: steer.h
  // Of a recording, in bytes of windows; 0 for none:
  uint64_t record_limit = 0, record_ring = 0;
  bool record_values = true;
  // Of calls into code without instrumentation (library_calls.h):
  Libraries libraries = Libraries::Unseen;
  bool reach_cache = true;     // 0 is for measuring what it saves
  bool show_suspects = false;  // what only such calls may order is told of, not just counted
  Patterns known_libraries, stateless_libraries;
};
extern Options g_options;

void read_options(char** environment);
uint64_t fresh_seed();  // of the clock and the process
void parse_options(const char* text);

// The value if the entry is NAME=value, else null.
const char* value_of(const char* entry, const char* name);

// Without `photofinish run`, a process that reads the run directory and prints.
void start_collector(const char* directory);

}  // namespace pf::rt
