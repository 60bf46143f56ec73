// Plants breakpoints into a running program that has our runtime inside (watch/sites.h): a few at a time, on random instructions that
// access memory, each good for one sample.
//
// Every instruction is as likely as any other, however often it runs (DataCollider), so rare code gets its share; with `cold`, those that
// were met least are preferred. A breakpoint that nobody meets for a while is taken back and another instruction drawn. The cost is
// bounded: the runtime counts the time that its handler takes, we what planting does, and while both are more than the asked share of the
// program's processor time, nothing is planted.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "binary/board.h"
#include "binary/process.h"
#include "core/random.h"

namespace pf::binary {

struct PlanterOptions {
  double overhead = 0.02;              // share of the processor time
  unsigned breakpoints = 128;          // planted at a time
  std::vector<std::string> libraries;  // whose code is sampled, too: shell patterns of file names
  bool cold = false;
  uint64_t seed = 0;
};

class Planter {
 public:
  Planter(pid_t process, BoardFile& file, PlanterOptions options);

  // Why the program cannot be sampled, once that is known.
  const Status& status() const { return status_; }
  // Now and then, dozens of times a second: takes note of what was met, plants anew.
  void work();
  // Takes all breakpoints out of the program.
  void withdraw();

  struct Counts {
    uint64_t sites, planted, fired;
    double overhead;  // measured so far
    std::size_t modules, skipped_functions;
  };
  Counts counts();

 private:
  using Clock = std::chrono::steady_clock;
  struct Planted {
    const watch::Site* site;
    Clock::time_point since;
    bool to_confirm;
  };

  bool follow_exec();
  void look_for_modules();
  void add_module(const Mapping& code, uint64_t base);
  bool is_chosen(const std::string& path) const;
  void take_fired();
  void take_back_old(Clock::time_point now);
  void plant_to_confirm(Clock::time_point now);
  void plant_at_random(Clock::time_point now);
  const watch::Site* draw(uint64_t& address);
  bool plant(uint64_t address, const watch::Site& site, bool to_confirm, Clock::time_point now);
  void take_back(uint64_t address, const Planted& planted);
  bool is_affordable();
  double measured_overhead();

  pid_t process_;
  BoardFile& file_;
  PlanterOptions options_;
  std::unique_ptr<Memory> memory_;
  Random random_;
  unsigned target_;  // breakpoints at a time
  Status status_ = Done{};
  std::string program_;
  std::set<std::pair<uint64_t, std::string>> known_;  // modules, by where they are
  Clock::time_point next_look_{};
  std::map<uint64_t, Planted> planted_;
  std::unordered_map<uint64_t, uint32_t> met_;  // how often, by address
  uint64_t generation_ = 0, fired_seen_ = 0, sites_ = 0, skipped_functions_ = 0, ever_planted_ = 0;
  uint64_t processor_at_start_, processor_ = 0;
  uint64_t own_ = 0;  // processor time that went into planting
};

}  // namespace pf::binary
