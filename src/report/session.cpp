#include "report/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace pf::report {
namespace {

void say(const std::string& text) { std::fputs(("photofinish: " + text + "\n").c_str(), stderr); }

std::string current_folder() {
  std::error_code error;
  const std::string folder = std::filesystem::current_path(error);
  return error || folder == "/" ? "" : folder + "/";
}

// A full disk or a closed pipe is remembered for the end; the program runs on.
template <class Do>
void show(Session::Sink& sink, const Do& what) {
  int error = 0;
  try {
    what(*sink.renderer);
  } catch (const std::system_error& e) {  // by fmt
    error = e.code().value();
  }
  if (std::fflush(sink.out) != 0) error = errno;
  if (sink.error == 0) sink.error = error;
}

bool is_runtime(const Frame& f) {
  return f.module.starts_with("libphotofinish") || f.module.starts_with("libtsan.so") ||
         f.function.starts_with("__tsan_") || f.function.starts_with("__interceptor_");
}

// What may turn out to be more than that before the end.
using Counts = std::vector<std::pair<std::string, uint64_t>>;
void add_counts(Counts& sum, const Counts& more) {
  for (const auto& [name, count] : more) {
    const auto known = std::ranges::find(sum, name, &Counts::value_type::first);
    known == sum.end() ? void(sum.emplace_back(name, count)) : void(known->second += count);
  }
}

bool is_tentative(const Race& race) { return race.verdict == "potential" || race.verdict == "suspect"; }

// The line of source that the frame names, if it can be read.
std::optional<std::string> source_line(const Frame& f) {
  std::ifstream file(f.file);
  std::string line;
  for (uint32_t n = 0; n < f.line && std::getline(file, line); ++n) continue;
  return f.line == 0 || !file ? std::nullopt : std::optional(line);
}

// Why a collision in a program that is not instrumented may be one of atomics, which race with nobody; empty if it is not. On x86-64 most
// of them are ordinary instructions; what was inlined from std::atomic the runtime knows, the builtins of C only the source shows.
std::string why_doubtful(const Access& a) {
  const std::optional<std::string> line = a.stack.empty() ? std::nullopt : source_line(a.stack.front());
  if (!line) return "its source cannot be read, so it may be an atomic";
  const bool atomic = line->find("atomic") != std::string::npos || line->find("ATOMIC") != std::string::npos;
  return atomic ? "its source line speaks of atomics" : "";
}

double share(uint64_t parts) { return static_cast<double>(parts) * 0x1p-32; }

bool is_start_code(const Frame& f) {
  constexpr std::array<std::string_view, 8> kNames = {
      "_start",  "__libc_start_main", "__libc_start_call_main", "start_thread", "clone", "clone3",
      "__clone", "__clone3"};
  return std::ranges::any_of(kNames, [&](std::string_view name) {
    return f.function == name || f.function.starts_with(std::string(name) + "@");  // __libc_start_main@@GLIBC_2.34
  });
}

}  // namespace

std::string thread_text(uint64_t id, const std::string& name) {
  constexpr uint64_t kNobody = UINT32_MAX;  // nothing is known of the access but its effect
  if (id == kNobody) return "an unknown thread";
  if (id == 0) return "main thread";
  return name.empty() ? fmt::format("thread {}", id) : fmt::format("thread {} ({})", id, name);
}

void drop_plumbing(std::vector<Frame>& stack) {
  std::vector<Frame> kept;
  for (const Frame& f : stack) {
    if (is_start_code(f)) continue;
    if (!is_runtime(f)) kept.push_back(f);
    if (f.function == "main") break;
  }
  if (!kept.empty()) stack = std::move(kept);
}

Session::Session(std::string chain, RunOptions options, Suppressions suppressions, std::vector<Sink> sinks)
    : chain_(std::move(chain)), options_(std::move(options)), suppressions_(std::move(suppressions)),
      sinks_(std::move(sinks)), symbolizer_(say) {
  symbolizer_.strip_path_prefix(options_.strip_path_prefix ? *options_.strip_path_prefix : current_folder());
}

Session::Writer& Session::writer(const std::string& file) {
  std::unique_ptr<Writer>& w = writers_[file];
  if (!w) w = std::make_unique<Writer>(symbolizer_);
  return *w;
}

void Session::take(const std::string& file, std::string_view line) {
  const Result<RawLine> raw = parse_raw(line);
  if (!raw) return say(fmt::format("{}: {} in a line of the runtime", file, raw.error().message));
  Writer& w = writer(file);
  std::visit([&](const auto& l) { take_line(w, l); }, *raw);
}

void Session::show_live(const std::function<void(Renderer&)>& what) {
  for (Sink& sink : sinks_) {
    if (sink.live) show(sink, what);
  }
}

void Session::take_line(Writer&, const RawUnknown&) {}

void Session::take_line(Writer& w, const RawProcess& line) {
  w.process = line;
  w.started = true;
  w.other = std::ranges::any_of(
      writers_, [&](const auto& other) { return other.second->started && other.second->process.pid == line.parent; });
}

void Session::take_line(Writer& w, const RawModule& line) { w.space.map(line); }
void Session::take_line(Writer& w, const RawThread& line) { w.threads[line.id] = line; }

void Session::take_line(Writer& w, const RawRace& line) {
  Race race = name_race(w, line);
  if (!options_.report_bugs) return;
  if (suppressions_.covers(race)) {
    ++sums_.suppressed;
    return;
  }
  const auto [it, fresh] = race_ids_.try_emplace(race.id(), races_.size());
  w.keys.try_emplace(line.key, it->second, 1);
  in_trial_.insert(it->second);
  if (!fresh) {
    Race& known = races_[it->second];
    ++known.count;
    if (is_tentative(known) && !is_tentative(race)) {
      known.verdict = race.verdict;
      known.by_locks = false;
      known.hidden_by.reset();
      known.doubt.clear();
      found_ = true;
      show_live([&](Renderer& renderer) { renderer.race(known); });
    }
    return;
  }
  found_ = found_ || race.verdict != "suspect";
  if (!is_tentative(race)) show_live([&](Renderer& renderer) { renderer.race(race); });
  races_.push_back(std::move(race));
  found_in_.push_back(0);
}

void Session::take_line(Writer& w, const RawMisuse& line) {
  const std::string& name = thread_name(w, line.thread);
  Misuse misuse{engine(w),
                line.what,
                line.address,
                line.thread,
                name,
                thread_text(line.thread, name),
                name_stack(w, line.stack),
                1,
                name_process(w)};
  if (!options_.report_bugs || !options_.report_mutex_bugs) return;
  if (suppressions_.covers(misuse)) {
    ++sums_.suppressed;
    return;
  }
  found_ = true;
  const auto [it, fresh] = misuse_ids_.try_emplace(misuse.id(), misuses_.size());
  if (!fresh) {
    ++misuses_[it->second].count;
    return;
  }
  show_live([&](Renderer& renderer) { renderer.misuse(misuse); });
  misuses_.push_back(std::move(misuse));
}

// The count is how often in all: the race's own line was the first.
void Session::take_line(Writer& w, const RawRepeat& line) {
  const auto it = w.keys.find(line.key);
  if (it == w.keys.end()) return;
  auto& [index, before] = it->second;
  if (line.count <= before) return;
  races_[index].count += line.count - before;
  before = line.count;
}

void Session::take_line(Writer& w, const RawLost& line) {
  say(fmt::format("process {}: lost {}", w.process.pid, line.what));
}

void Session::take_line(Writer& w, const RawSummary& line) {
  w.finished = true;
  sums_.events += line.events;
  sums_.accesses += line.accesses;
  sums_.dropped += line.dropped;
  sums_.threads += line.threads;
  sums_.bytes += line.bytes;
  if (line.samples) add_sampling(line);
  if (line.filter) add_filter(*line.filter, line.dropped);
  if (line.watching) add_watching(*line.watching);
  if (line.libraries) add_libraries(*line.libraries);
  add_counts(sums_.rules, line.rules);
}

void Session::add_watching(const Watching& of_process) {
  Watching sum = sums_.watching.value_or(of_process);
  if (sums_.watching) {
    for (const auto& [name, field] : kWatchingCounts) sum.*field += of_process.*field;
    sum.hardware = sum.hardware && of_process.hardware;
    sum.delayed += of_process.delayed;
    sum.elapsed += of_process.elapsed;
  }
  sums_.watching = sum;
}

void Session::add_libraries(const Libraries& of_process) {
  Libraries sum = sums_.libraries.value_or(Libraries{});
  sum.calls = sum.calls.value_or(0) + of_process.calls.value_or(0);
  sum.pairs += of_process.pairs;
  sum.cut += of_process.cut;
  sums_.libraries = sum;
}

void Session::add_filter(const RawSummary::Filter& of_process, uint64_t dropped) {
  if (sums_.filters.empty()) sums_.filters.push_back({chain_.substr(0, chain_.find_first_of(",:")), 0, 0, 0, 0, {}});
  FilterSummary& sum = sums_.filters.front();
  for (const auto& [rule, count] : of_process.rules) sum.events += count;
  sum.dropped += dropped;
  sum.bytes += of_process.bytes;
  sum.peak_bytes = sum.bytes;
  add_counts(sum.rules, of_process.rules);
}

// Of several processes: each at its own share of the work.
void Session::add_sampling(const RawSummary& line) {
  work_ += line.work;
  sampled_work_ += line.sampled_work;
  Sampling sum;
  if (sums_.sampling) sum = *sums_.sampling;
  if (line.rate) sum.asked = share(*line.rate);
  sum.effective = work_ == 0 ? 0 : static_cast<double>(sampled_work_) / static_cast<double>(work_);
  sum.accesses += line.accesses;
  sum.sampled += line.sampled;
  sum.live_bytes = sum.live_bytes.value_or(0) + line.live;
  sums_.sampling = sum;
}

void Session::take_line(Writer&, const RawWishes& line) {
  if (wishes_.insert(line.suppressions).second) suppressions_.add(line.suppressions);
  if (!line.options.empty()) options_ = run_options_of_environment(line.options);
}

std::string Session::engine(const Writer& w) const {
  if (!w.process.engine.empty()) return w.process.engine;
  const std::string detector = chain_.substr(chain_.rfind(':') + 1);
  return detector.substr(0, detector.find(','));
}

std::vector<Frame> Session::name_stack(Writer& w, const Pcs& pcs) {
  std::vector<Frame> stack;
  for (const uint64_t pc : pcs) {
    const std::optional<AddressSpace::Place> place = w.space.find(pc);
    if (!place) {
      stack.push_back({.location = fmt::format("{:#x}", pc), .function = {}, .file = {}, .module = {}});
      continue;
    }
    const std::vector<Frame>& frames = symbolizer_.frames(place->path, place->address);
    stack.insert(stack.end(), frames.begin(), frames.end());
  }
  drop_plumbing(stack);
  return stack;
}

const std::string& Session::thread_name(const Writer& w, uint64_t id) {
  static const std::string none;
  const auto it = w.threads.find(id);
  return it == w.threads.end() ? none : it->second.name;
}

Access Session::name_access(Writer& w, const RawAccess& raw) {
  Access a;
  a.thread_id = raw.thread;
  a.thread_name = thread_name(w, raw.thread);
  a.thread_text = thread_text(raw.thread, a.thread_name);
  if (a.thread_id == 0 && a.thread_name.empty()) a.thread_name = "main";
  a.op = raw.op;
  a.size = raw.size;
  a.atomic = raw.atomic;
  a.knows_locks = raw.knows_locks;
  for (const RawLock& lock : raw.locks) {
    a.locks.push_back(fmt::format("{:#x}{}", lock.address, lock.read ? " (read)" : ""));
  }
  a.stack = name_stack(w, raw.stack);
  if (a.stack.empty()) a.stack.emplace_back();
  return a;
}

// A global lock by its name, another by its address.
std::string Session::name_lock(Writer& w, uint64_t address) {
  Location l;
  if (!name_global(w, address, l) || l.name.empty()) return fmt::format("{:#x}", address);
  const uint64_t offset = l.offset.value_or(0);
  return offset == 0 ? l.name : fmt::format("{}+{}", l.name, offset);
}

HiddenBy::Step Session::name_step(Writer& w, const RawLockStep& raw) {
  const std::string& name = thread_name(w, raw.thread);
  const std::string shown = raw.thread == 0 && name.empty() ? "main" : name;
  return {raw.thread, shown, raw.read, 0, name_stack(w, raw.stack), thread_text(raw.thread, name)};
}

bool Session::name_global(Writer& w, uint64_t address, Location& location) {
  const std::optional<AddressSpace::Place> place = w.space.find(address);
  if (!place) return false;
  const bool program = !symbolizer_.segments(place->path).empty();
  location.kind = program ? "global" : "mapped";  // a file of data
  if (!program) return true;
  if (const std::optional<GlobalSymbol> symbol = symbolizer_.global(place->path, place->address)) {
    location.name = symbol->name;
    location.size = symbol->size;
    location.offset = place->address - symbol->address;
  } else {
    location.name = fmt::format("{}+{:#x}", std::filesystem::path(place->path).filename().string(), place->address);
  }
  return true;
}

Location Session::name_location(Writer& w, const RawRace& raw) {
  Location l;
  l.online = true;
  l.kind = raw.location.kind.empty() ? "unknown" : raw.location.kind;
  if ((l.kind == "unknown" || l.kind == "mapped") && name_global(w, raw.address, l)) return l;
  l.size = raw.location.size;
  if (raw.location.start && raw.address >= *raw.location.start) l.offset = raw.address - *raw.location.start;
  l.thread = raw.location.thread;
  if (l.thread) l.thread_text = thread_text(*l.thread, thread_name(w, *l.thread));
  l.stack = name_stack(w, raw.location.stack);
  l.allocation_stack = name_stack(w, raw.location.allocated);
  if (!l.stack.empty()) l.origin = l.stack.front();
  return l;
}

std::vector<Creation> Session::name_threads(Writer& w, const RawRace& raw) {
  std::vector<Creation> list;
  for (const uint64_t id : {raw.first.thread, raw.second.thread}) {
    const auto it = w.threads.find(id);
    if (id == 0 || it == w.threads.end()) continue;
    if (!list.empty() && list.back().thread_id == id) continue;
    const RawThread& t = it->second;
    if (!t.parent) continue;
    const uint64_t parent = *t.parent;
    const std::string parent_text = thread_text(parent, thread_name(w, parent));
    list.push_back({id, t.name, thread_text(id, t.name), parent, parent_text, name_stack(w, t.stack)});
  }
  return list;
}

Process Session::name_process(const Writer& w) { return {w.process.pid, w.process.exe, w.other}; }

Race Session::name_race(Writer& w, const RawRace& raw) {
  Race race;
  race.engine = engine(w);
  race.verdict = raw.verdict.empty() ? "real" : raw.verdict;
  race.by_locks = raw.by_locks;
  if (const auto& by = raw.hidden_by) {
    race.hidden_by = {name_lock(w, by->lock), name_step(w, by->release), name_step(w, by->acquire)};
  }
  race.location = name_location(w, raw);
  race.first = name_access(w, raw.first);
  race.second = name_access(w, raw.second);
  race.threads = name_threads(w, raw);
  race.process = name_process(w);
  if (race.verdict == "confirmed") {
    race.doubt = why_doubtful(race.first);
    if (race.doubt.empty()) race.doubt = why_doubtful(race.second);
    if (!race.doubt.empty()) race.verdict = "suspect";
  }
  if (raw.by_library) race.doubt = kOrderedByLibrary;
  if (raw.chance.value_or(0) != 0) race.chance = share(*raw.chance);  // 0: the program itself said when to sample
  return race;
}

Summary Session::summarize(double seconds) const {
  Summary s = sums_;
  s.engine = chain_;
  s.online = true;
  for (const Race& race : races_) {
    ++(race.verdict == "suspect" ? s.suspects : s.races);
    s.dynamic_races += race.verdict == "suspect" ? 0 : race.count;
  }
  s.racy_events = s.dynamic_races;
  s.misuses = misuses_.size();
  s.seconds = seconds;
  return s;
}

void Session::show_tentative(Renderer& renderer) const {
  for (const Race& race : races_) {
    if (is_tentative(race)) renderer.race(race);
  }
}

void Session::show_all(Renderer& renderer) const {
  for (const Race& race : races_) {
    if (!is_tentative(race)) renderer.race(race);
  }
  show_tentative(renderer);
  for (const Misuse& misuse : misuses_) renderer.misuse(misuse);
}

Status Session::written() const {
  for (const Sink& sink : sinks_) {
    if (sink.error == 0 || sink.out == stderr) continue;  // whom to tell?
    return Error{fmt::format("cannot write {}: {}", sink.name, std::strerror(sink.error))};
  }
  return Done{};
}

void Session::end_trial() {
  for (const std::size_t race : std::exchange(in_trial_, {})) ++found_in_[race];
  ++sums_.trials;
  sums_.processes += writers_.size();
  sums_.unfinished +=
      static_cast<uint64_t>(std::ranges::count_if(writers_, [](const auto& entry) { return !entry.second->finished; }));
  writers_.clear();
}

void Session::add_rates(Summary& summary) {
  for (std::size_t i = 0; i < races_.size(); ++i) {
    Race& race = races_[i];
    race.trials = {summary.trials, found_in_[i]};
    summary.rates.push_back({race.title(), race.id(), *race.trials});
  }
  std::ranges::sort(summary.rates, std::greater{},
                    [](const Summary::Rate& r) { return std::pair(r.trials.found, r.id); });
}

void Session::finish(double seconds, bool with_rates) {
  Summary summary = summarize(seconds);
  with_rates ? add_rates(summary) : void(summary.trials = 0);
  for (Sink& sink : sinks_) {
    show(sink, [&](Renderer& renderer) {
      sink.live ? show_tentative(renderer) : show_all(renderer);
      if (!sink.live || summary.processes != 0) renderer.summary(summary);
    });
  }
  if (!options_.print_suppressions) return;
  for (const Suppression& s : suppressions_.all()) {
    if (s.hits != 0) say(fmt::format("suppressed {} time{} by {}", s.hits, s.hits == 1 ? "" : "s", s.text));
  }
}

}  // namespace pf::report
