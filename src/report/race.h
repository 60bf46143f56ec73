// A race with all its names resolved: what renderers show. Field by field the JSON contract of the project
// (docs/reports.md); a field that is not known stays empty and is left out.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/trials.h"

namespace pf::report {

struct Frame {
  std::string location;  // of a trace: all there is
  std::string function, file, module;
  uint32_t line = 0, column = 0;
  uint64_t offset = 0;
  std::string signature = {};  // the function with its parameters; for suppressions

  // "deposit bank.cpp:12:3", "345", or "bank+0x11d3": as people read it, and as the fingerprint takes it.
  std::string text() const;
};

struct Access {
  uint64_t thread_id = 0;
  std::string thread_name;
  std::string op;  // read, write or free
  uint64_t size = 0;
  bool atomic = false;
  bool knows_locks = true;  // else `locks` is empty for that
  std::vector<std::string> locks;
  std::vector<Frame> stack;
  std::string thread_text = {};  // "thread 1 (worker)", as text shows it; empty: the name alone

  const std::string& by() const { return thread_text.empty() ? thread_name : thread_text; }
};

struct Location {
  std::string kind = "unknown";  // global heap stack tls freed mapped variable unknown
  std::string name;
  std::optional<uint64_t> size, offset;
  std::optional<Frame> origin;  // where the block was allocated or freed

  // Of a running program more is known, and text spells it out.
  bool online = false;
  std::optional<uint64_t> thread = {};       // that owns the stack or thread-local memory, allocated or freed the block
  std::string thread_text = {};              // the same, as text shows it
  std::vector<Frame> stack = {};             // origin with its callers
  std::vector<Frame> allocation_stack = {};  // of a freed block
};

// A thread that takes part in a race: who created it, and where.
struct Creation {
  uint64_t thread_id = 0;
  std::string thread_name, thread_text;
  uint64_t parent_id = 0;
  std::string parent_text;
  std::vector<Frame> stack;
};

// Which process of the run it was; 0 when there is but one, as in a trace.
struct Process {
  uint64_t pid = 0;
  std::string exe = {};
  bool other = false;  // not the first of the run
};

// Of a potential race: the lock whose release by one thread and acquire by another ordered the two accesses in this run.
struct HiddenBy {
  struct Step {
    uint64_t thread_id = 0;
    std::string thread_name;
    bool reading = false;  // the read side of an rwlock
    uint64_t event = 0;    // its number in the trace, from 1; 0 if unknown
    std::vector<Frame> stack = {};
    std::string thread_text = {};  // as Access has it

    const std::string& by() const { return thread_text.empty() ? thread_name : thread_text; }
  };
  std::string lock;
  Step release, acquire;
};

// A step of the schedule that shows a predicted race.
struct WitnessStep {
  uint64_t thread_id = 0;
  std::string thread_name;
  uint64_t event = 0;  // its number in the trace, from 1
  std::string what;    // "acq(L1)"
  Frame frame;
};

struct Race {
  std::string engine;
  std::string verdict;
  uint64_t count = 1;
  Location location;
  Access first, second;
  std::vector<Creation> threads = {};
  Process process = {};
  std::string chain = {};  // of a trace: which of those asked for, as written
  bool by_locks = false;   // of a potential race: nothing but the order of locks put the first access before the second
  std::optional<HiddenBy> hidden_by = {};
  std::string doubt = {};                 // of a suspect: what speaks against it
  std::optional<Trials> trials = {};      // of a program that was run several times
  std::optional<double> chance = {};      // of a run to sample it, by the rate that its memory or its time has
  std::vector<WitnessStep> witness = {};  // of a predictor: what runs before the two accesses, and they
  std::string found_by = {};              // of a predictor: which way of looking for it found the witness
  // Of a shard of windows, what merging needs: in which window, and what makes two races the same one.
  std::optional<uint64_t> window = {};
  std::string pair = {};

  std::string kind() const { return first.op + "-" + second.op; }
  std::string title() const;  // "write-read on global account of 48 bytes"
  // Stable over runs: the two places, in either order, and the memory.
  std::string id() const;
};

// A synchronization operation that is wrong whatever the schedule: an unlock of a mutex that is not locked.
struct Misuse {
  std::string engine;
  std::string what;
  uint64_t address = 0;
  uint64_t thread_id = 0;
  std::string thread_name, thread_text;
  std::vector<Frame> stack;
  uint64_t count = 1;
  Process process = {};

  std::string id() const;  // what and where
};

struct FilterSummary {
  std::string name;
  uint64_t events = 0, dropped = 0, bytes = 0, peak_bytes = 0;
  std::vector<std::pair<std::string, uint64_t>> rules;
};

struct Sampling {
  std::optional<double> asked;  // a share of the program's work, as the next
  double effective = 0;
  uint64_t accesses = 0, sampled = 0;
  std::optional<uint64_t> live_bytes = {};  // of a program: of the histories that are kept at its end
};

// Of the engines that wait at hardware breakpoints.
struct Watching {
  double asked = 0, effective = 0;  // shares of the instructions
  bool hardware = true;
  uint64_t armed = 0, fired = 0, expired = 0, stale = 0, own = 0, busy = 0, late = 0;  // watch/slots.h
  uint64_t delays = 0, spared = 0, changed = 0;  // spared: for the budget's sake; changed: told by the value alone
  double delayed = 0, elapsed = 0;               // seconds
};

// The counts by the names that they have in JSON.
inline constexpr std::pair<const char*, uint64_t Watching::*> kWatchingCounts[] = {
    {"armed", &Watching::armed},    {"fired", &Watching::fired},   {"expired", &Watching::expired},
    {"stale", &Watching::stale},    {"own", &Watching::own},       {"busy", &Watching::busy},
    {"late", &Watching::late},      {"delays", &Watching::delays}, {"spared", &Watching::spared},
    {"changed", &Watching::changed}};

// Calls into code without instrumentation, where a chain orders by them.
struct Libraries {
  std::optional<uint64_t> calls = {};  // of a running program
  uint64_t pairs = 0;                  // that only such calls may have ordered
  uint64_t cut = 0;                    // calls that reached more memory than is followed
};
inline constexpr std::string_view kOrderedByLibrary =
    "a call into code without instrumentation may have ordered the two";

struct Summary {
  std::string engine;  // the chain as written
  uint64_t events = 0, accesses = 0, dropped = 0;
  uint64_t races = 0, dynamic_races = 0, racy_events = 0;
  uint64_t threads = 0, bytes = 0;
  double seconds = 0;
  // Of a trace:
  uint64_t potential = 0;  // of the races
  uint64_t peak_bytes = 0;
  double own_seconds = 0;  // processor time of the chain alone, without reading
  std::vector<FilterSummary> filters = {};
  std::vector<std::pair<std::string, uint64_t>> rules;
  std::optional<Sampling> sampling = {};
  std::optional<Watching> watching = {};
  std::optional<Libraries> libraries = {};
  std::optional<uint64_t> unknown = {};                         // of a predictor: pairs that it could not decide
  std::vector<std::pair<std::string, uint64_t>> found_by = {};  // the same: races that each way of looking found
  uint64_t predicted = 0;                                       // of the races
  std::string shard = {};                                       // "0/4"

  bool online = false;  // of a running program, for which these are known, too:
  uint64_t processes = 0, misuses = 0, suppressed = 0;
  uint64_t suspects = 0;    // not among the races
  uint64_t unfinished = 0;  // processes that were killed before they told their counters
  // Of a program that was run several times:
  struct Rate {
    std::string what, id;
    Trials trials;
  };
  uint64_t trials = 0;
  std::vector<Rate> rates = {};  // of the races, the most frequent first
};

}  // namespace pf::report
