#include "binary/planter.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "binary/code.h"

namespace pf::binary {
namespace {

using watch::Board;
using watch::Segment;
using watch::Site;
using namespace std::chrono_literals;

constexpr uint8_t kBreakpoint = 0xCC;
constexpr auto kPatience = 250ms;        // with an instruction that nobody meets
constexpr auto kBetweenLooks = 1s;       // for new modules
constexpr unsigned kMostAtATime = 1024;  // where the budget is not used up, since most code is seldom run
constexpr unsigned kCandidates = 8;      // of which `cold` takes the one met least
// What the kernel takes for a breakpoint and its way back, which the handler cannot see, and for a trap of a data breakpoint with its handler.
constexpr uint64_t kUnseenPerSample = 5'000, kPerTrap = 12'000;

uint64_t load(const uint64_t& x) { return __atomic_load_n(&x, __ATOMIC_ACQUIRE); }
void store(uint64_t& x, uint64_t value) { __atomic_store_n(&x, value, __ATOMIC_RELEASE); }

}  // namespace

Planter::Planter(pid_t process, BoardFile& file, PlanterOptions options)
    : process_(process), file_(file), options_(std::move(options)), random_(options_.seed),
      target_(options_.breakpoints), processor_at_start_(processor_time(process)) {
  file_.board().process = static_cast<uint64_t>(process);
}

void Planter::work() {
  if (!status_ || !follow_exec()) return;
  const Clock::time_point now = Clock::now();
  processor_ = std::max(processor_, processor_time(process_));
  take_fired();
  if (now >= next_look_) {
    look_for_modules();
    next_look_ = now + kBetweenLooks;
  }
  if (!try_lock(file_.board())) return;
  const uint64_t began = processor_time();
  take_back_old(now);
  if (is_affordable()) {
    plant_to_confirm(now);
    plant_at_random(now);
    target_ = std::min(target_ + target_ / 16 + 1, std::max(kMostAtATime, options_.breakpoints));
  } else {
    target_ = options_.breakpoints;
  }
  unlock(file_.board());
  own_ += processor_time() - began;
}

// Whether there is a program with our runtime. After an exec it is another one, with nothing planted.
bool Planter::follow_exec() {
  const uint64_t generation = load(file_.board().generation);
  if (generation == generation_) return generation != 0;
  generation_ = generation;
  memory_ = std::make_unique<Memory>(process_);
  if (memory_->error() == ESRCH || memory_->error() == ENOENT) return false;  // it has ended
  if (memory_->error() != 0) {
    status_ =
        Error{fmt::format("cannot write to the memory of process {}: {}", process_, std::strerror(memory_->error()))};
    return false;
  }
  std::error_code unknown;
  program_ = std::filesystem::read_symlink(fmt::format("/proc/{}/exe", process_), unknown).string();
  known_.clear();
  planted_.clear();
  met_.clear();
  sites_ = 0;
  next_look_ = {};
  return true;
}

void Planter::withdraw() {
  if (!memory_) return;
  take_fired();
  store(file_.board().stopped, 1);
  for (const auto& [address, planted] : planted_) take_back(address, planted);
  planted_.clear();
}

// --- modules ---

namespace {

// Never ourselves and what the handler needs; nor libc, which runs with all signals blocked at times: a breakpoint there would be the end.
bool is_taboo(const std::string& name) {
  constexpr std::string_view kTaboo[] = {"libphotofinish", "libtsan",  "libc.so", "libc-", "libpthread",
                                         "ld-linux",       "libgcc_s", "libdl",   "librt."};
  return std::ranges::any_of(kTaboo, [&](std::string_view part) { return name.starts_with(part); });
}

}  // namespace

bool Planter::is_chosen(const std::string& path) const {
  if (path == program_) return true;
  const std::string name = path.substr(path.rfind('/') + 1);
  if (is_taboo(name)) return false;
  return std::ranges::any_of(
      options_.libraries, [&](const std::string& pattern) { return fnmatch(pattern.c_str(), name.c_str(), 0) == 0; });
}

void Planter::look_for_modules() {
  std::map<std::string, uint64_t> bases;  // the first mapping of a file is where it is loaded
  for (const Mapping& m : mappings_of(process_)) {
    if (m.path.empty() || m.path.front() != '/') continue;
    if (m.offset == 0) bases.insert_or_assign(m.path, m.start);
    const auto base = bases.find(m.path);
    if (!m.executable || base == bases.end() || !is_chosen(m.path)) continue;
    if (known_.emplace(m.start, m.path).second) add_module(m, base->second);
  }
}

void Planter::add_module(const Mapping& code, uint64_t base) {
  Board& board = file_.board();
  const Result<Code> read = read_code(code.path);
  if (!read || board.segments == Board::kSegments) return;
  skipped_functions_ += read->skipped;
  const uint64_t first = sites_;
  for (const Site& site : read->sites) {
    const uint64_t address = base + site.offset;
    if (address >= code.start && address < code.end && sites_ < Board::kSites) file_.sites()[sites_++] = site;
  }
  board.segment[board.segments] = Segment{code.start, code.end, base, first, sites_ - first};
  store(board.segments, board.segments + 1);
}

// --- what was met ---

void Planter::take_fired() {
  Board& board = file_.board();
  const uint64_t fired = load(board.fired);
  if (fired - fired_seen_ > Board::kFired) fired_seen_ = fired - Board::kFired;
  for (; fired_seen_ < fired; ++fired_seen_) {
    const uint64_t address = load(board.fired_at[fired_seen_ % Board::kFired]);
    planted_.erase(address);
    ++met_[address];
  }
}

void Planter::take_back_old(Clock::time_point now) {
  if (planted_.size() >= sites_) return;  // there is no other one to draw
  std::erase_if(planted_, [&](const auto& entry) {
    const auto& [address, planted] = entry;
    if (planted.to_confirm || now - planted.since < kPatience) return false;
    take_back(address, planted);
    return true;
  });
}

// --- planting ---

bool Planter::is_affordable() { return measured_overhead() <= options_.overhead; }

// As of the last work().
double Planter::measured_overhead() {
  const Board& board = file_.board();
  const uint64_t spent = load(board.spent) + load(board.fired) * kUnseenPerSample + load(board.traps) * kPerTrap + own_;
  const uint64_t processor = processor_ - processor_at_start_;
  // Before there is anything to compare with, a few are free.
  constexpr uint64_t kLeast = 100'000'000;
  return static_cast<double>(spent) / static_cast<double>(std::max(processor, kLeast));
}

void Planter::plant_to_confirm(Clock::time_point now) {
  const Board& board = file_.board();
  for (const Board::Confirm& c : board.confirm) {
    const uint64_t address = load(c.pc);
    if (address == 0 || load(c.tries) >= Board::kTries || planted_.contains(address)) continue;
    if (const Site* site = site_at(board, file_.sites(), address); site != nullptr) plant(address, *site, true, now);
  }
}

void Planter::plant_at_random(Clock::time_point now) {
  const uint64_t wanted = std::min<uint64_t>(target_, sites_);
  for (uint64_t tries = 0; planted_.size() < wanted && tries < wanted; ++tries) {
    uint64_t address = 0;
    const Site* site = draw(address);
    if (site == nullptr) return;
    if ((site->flags & Site::kAtomic) == 0 && !planted_.contains(address)) plant(address, *site, false, now);
  }
}

const Site* Planter::draw(uint64_t& address) {
  const Board& board = file_.board();
  if (sites_ == 0) return nullptr;
  const Site* best = nullptr;
  for (unsigned n = 0; n < (options_.cold ? kCandidates : 1); ++n) {
    const uint64_t number = random_.below(sites_);
    const auto* segment = std::find_if(board.segment, board.segment + board.segments,
                                       [&](const Segment& s) { return number - s.first < s.count; });
    const uint64_t candidate = segment->base + file_.sites()[number].offset;
    if (best != nullptr && met_[candidate] >= met_[address]) continue;
    best = &file_.sites()[number];
    address = candidate;
  }
  return best;
}

// Only where the code is what the file has: a program may have changed it, or unloaded it.
bool Planter::plant(uint64_t address, const Site& site, bool to_confirm, Clock::time_point now) {
  if (memory_->read(address) != site.first_byte || !memory_->write(address, kBreakpoint)) return false;
  planted_.emplace(address, Planted{&site, now, to_confirm});
  ++ever_planted_;
  return true;
}

void Planter::take_back(uint64_t address, const Planted& planted) {
  if (memory_->read(address) == kBreakpoint) memory_->write(address, planted.site->first_byte);
}

Planter::Counts Planter::counts() {
  return {sites_, ever_planted_, load(file_.board().fired), measured_overhead(), known_.size(), skipped_functions_};
}

}  // namespace pf::binary
