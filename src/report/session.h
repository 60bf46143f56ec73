// The results of one run of a program: takes the raw lines of all its processes, names what is in them, drops what is
// suppressed, merges equal races, and shows the rest.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "report/modules.h"
#include "report/raw.h"
#include "report/renderer.h"
#include "report/run_options.h"
#include "report/suppress.h"
#include "report/symbolize.h"

namespace pf::report {

class Session {
 public:
  struct Sink {
    std::unique_ptr<Renderer> renderer;
    std::FILE* out;
    std::string name;  // after "cannot write"
    // Each race when it is first seen, potential ones and suspects at the end, when it is known that they are no more;
    // else all at the end, with their counts.
    bool live;
    int error = 0;  // the first failure to write
  };

  // Problems are told in one line each, to standard error.
  Session(std::string chain, RunOptions options, Suppressions suppressions, std::vector<Sink> sinks);

  // `file` names the writer: lines of different files may come in any order.
  void take(const std::string& file, std::string_view line);
  // The program has ended; what comes is of its next run.
  void end_trial();
  // Shows what is due at the end. No summary where there was nothing to sum up.
  void finish(double seconds, bool with_rates = false);

  // Whether all that was shown has arrived.
  Status written() const;
  // What makes the exit code 66.
  bool found() const { return found_; }
  std::size_t races() const { return races_.size(); }
  // With what the program's own __tsan_default_options says where the environment says nothing.
  const RunOptions& options() const { return options_; }

 private:
  // One raw file: a process from its start, or from an exec, on.
  struct Writer {
    explicit Writer(Symbolizer& symbolizer) : space(symbolizer) {}
    RawProcess process;
    bool started = false, finished = false, other = false;
    AddressSpace space;
    std::map<uint64_t, RawThread> threads;
    std::map<uint64_t, std::pair<std::size_t, uint64_t>> keys;  // of races: index, count so far
  };

  Writer& writer(const std::string& file);
  void add_filter(const RawSummary::Filter& of_process, uint64_t dropped);
  void add_sampling(const RawSummary& line);
  void add_libraries(const Libraries& of_process);
  void add_watching(const Watching& of_process);
  void take_line(Writer& w, const RawUnknown&);
  void take_line(Writer& w, const RawProcess& line);
  static void take_line(Writer& w, const RawModule& line);
  static void take_line(Writer& w, const RawThread& line);
  void take_line(Writer& w, const RawRace& line);
  void take_line(Writer& w, const RawMisuse& line);
  void take_line(Writer& w, const RawRepeat& line);
  static void take_line(Writer& w, const RawLost& line);
  void take_line(Writer& w, const RawSummary& line);
  void take_line(Writer& w, const RawWishes& line);

  std::string engine(const Writer& w) const;
  std::vector<Frame> name_stack(Writer& w, const Pcs& pcs);
  static const std::string& thread_name(const Writer& w, uint64_t id);  // as the program named it, or empty
  Access name_access(Writer& w, const RawAccess& raw);
  std::string name_lock(Writer& w, uint64_t address);
  HiddenBy::Step name_step(Writer& w, const RawLockStep& raw);
  Location name_location(Writer& w, const RawRace& raw);
  bool name_global(Writer& w, uint64_t address, Location& location);
  std::vector<Creation> name_threads(Writer& w, const RawRace& raw);
  Race name_race(Writer& w, const RawRace& raw);
  static Process name_process(const Writer& w);
  Summary summarize(double seconds) const;
  void add_rates(Summary& summary);
  void show_live(const std::function<void(Renderer&)>& what);
  void show_tentative(Renderer& renderer) const;
  void show_all(Renderer& renderer) const;  // real ones first

  std::string chain_;
  RunOptions options_;
  Suppressions suppressions_;
  std::vector<Sink> sinks_;
  Symbolizer symbolizer_;
  std::map<std::string, std::unique_ptr<Writer>> writers_;
  std::vector<Race> races_;  // different ones, as first seen
  std::map<std::string, std::size_t> race_ids_;
  std::set<std::size_t> in_trial_;  // races of this one
  std::vector<uint64_t> found_in_;  // of each race: how many trials
  std::vector<Misuse> misuses_;
  std::map<std::string, std::size_t> misuse_ids_;
  std::set<std::string> wishes_;  // suppressions of the program's own, taken already
  Summary sums_;
  uint64_t work_ = 0, sampled_work_ = 0;  // of sampling engines
  bool found_ = false;
};

// "main thread", "thread 1 (worker)".
std::string thread_text(uint64_t id, const std::string& name);
// Drops what the user did not write: frames of the runtime, and the C library's start code around main and threads.
void drop_plumbing(std::vector<Frame>& stack);

}  // namespace pf::report
