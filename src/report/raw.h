// The raw lines that the runtime inside the target writes to its run directory (docs/run-directory.md): numbers where
// reports have names.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/result.h"
#include "report/race.h"

namespace pf::report {

using Pcs = std::vector<uint64_t>;  // innermost first, each inside its instruction

struct RawProcess {
  uint64_t pid = 0, parent = 0;
  std::string engine, exe;
};

struct RawModule {  // one mapping of a file
  uint64_t start = 0, end = 0, offset = 0;
  std::string path;
};

struct RawThread {
  uint64_t id = 0;
  std::string name;
  std::optional<uint64_t> parent;
  Pcs stack;  // where it was created
};

struct RawLock {
  uint64_t address = 0;
  bool read = false;
};

struct RawAccess {
  uint64_t thread = 0;
  std::string op;
  uint64_t size = 0;
  bool atomic = false;
  bool knows_locks = false;
  std::vector<RawLock> locks;
  Pcs stack;
};

struct RawLocation {
  std::string kind;
  std::optional<uint64_t> start, size, thread;
  Pcs stack, allocated;
};

// What hid a potential race: a thread at a lock.
struct RawLockStep {
  uint64_t thread = 0;
  bool read = false;
  Pcs stack;
};
struct RawHiddenBy {
  uint64_t lock = 0;
  RawLockStep release, acquire;
};

struct RawRace {
  uint64_t key = 0;
  std::string verdict;
  uint64_t address = 0;
  RawLocation location;
  RawAccess first, second;
  bool by_locks = false;                      // of a potential one: nothing but the order of locks hid it
  bool by_library = false;                    // of a suspect: only a call into a library may have ordered it
  std::optional<RawHiddenBy> hidden_by = {};  // of one lock, if that is known
  std::optional<uint64_t> chance = {};        // of being sampled, in parts of 2^32
};

struct RawMisuse {
  std::string what;
  uint64_t address = 0, thread = 0;
  Pcs stack;
};

struct RawRepeat {
  uint64_t key = 0, count = 0;
};

struct RawLost {
  std::string what;
};

struct RawSummary {
  uint64_t events = 0, accesses = 0, dynamic_races = 0, threads = 0, bytes = 0, dropped = 0;
  std::vector<std::pair<std::string, uint64_t>> rules;
  struct Filter {
    uint64_t bytes = 0;
    std::vector<std::pair<std::string, uint64_t>> rules;  // how often it came to each conclusion
  };
  std::optional<Filter> filter = {};
  bool samples = false;
  std::optional<uint64_t> rate = {};  // in parts of 2^32
  uint64_t work = 0, sampled_work = 0, sampled = 0, live = 0;
  std::optional<Watching> watching = {};
  std::optional<Libraries> libraries = {};
};

struct RawWishes {  // what the program's own hooks ask for
  std::string options, suppressions;
};

struct RawUnknown {};  // a line of a newer runtime

using RawLine = std::variant<RawUnknown, RawProcess, RawModule, RawThread, RawRace, RawMisuse, RawRepeat, RawLost,
                             RawSummary, RawWishes>;

// A field that is missing or of the wrong type counts as absent; what is no object, or names no kind of line, is an error.
Result<RawLine> parse_raw(std::string_view line);

}  // namespace pf::report
