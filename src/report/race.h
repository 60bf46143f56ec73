// A race with all its names resolved: what renderers show. Field by field the JSON contract of the project
// (docs/reports.md); a field that is not known stays empty and is left out.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pf::report {

struct Frame {
  std::string location;  // of a trace: all there is
  std::string function, file, module;
  uint32_t line = 0, column = 0;
  uint64_t offset = 0;

  // "deposit bank.cpp:12:3", "345", or "bank+0x11d3": as people read it, and as the fingerprint takes it.
  std::string text() const;
};

struct Access {
  uint64_t thread_id = 0;
  std::string thread_name;
  std::string op;  // read, write or free
  uint64_t size = 0;
  bool atomic = false;
  std::vector<std::string> locks;
  std::vector<Frame> stack;
};

struct Location {
  std::string kind = "unknown";  // global heap stack tls freed mapped variable unknown
  std::string name;
  std::optional<uint64_t> size, offset;
  std::optional<Frame> origin;  // where the block was allocated or freed
};

struct Race {
  std::string engine;
  std::string verdict;
  uint64_t count = 1;
  Location location;
  Access first, second;

  std::string kind() const { return first.op + "-" + second.op; }
  // Stable over runs: the two places, in either order, and the memory.
  std::string id() const;
};

struct Summary {
  std::string engine;  // the chain as written
  uint64_t events = 0, accesses = 0, dropped = 0;
  uint64_t races = 0, dynamic_races = 0, racy_events = 0;
  uint64_t threads = 0, bytes = 0;
  double seconds = 0;
  std::vector<std::pair<std::string, uint64_t>> rules;
};

}  // namespace pf::report
