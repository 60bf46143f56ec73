// photofinish confirm: runs an instrumented program again, several times, steering two threads to the two places of a race that was
// reported (src/runtime/steer.h), and says whether both were there at once, at the same memory.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/cli.h"
#include "cli/reports.h"
#include "cli/runtime_files.h"
#include "cli/supervise.h"
#include "core/duration.h"

namespace pf::cli {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

struct Request {
  std::string race;  // FILE, FILE:ID or FILE:NUMBER
  uint64_t attempts = 9;
  std::string delay = "100ms";
  bool json = false;
};

// --- the race ---

Result<std::vector<Json>> read_races(const std::string& file) {
  std::ifstream in(file);
  if (!in) return Error{fmt::format("cannot read {}: {}", file, std::strerror(errno))};
  std::vector<Json> races;
  for (std::string line; std::getline(in, line);) {
    const Json j = Json::parse(line, nullptr, false);
    if (!j.is_object())
      return Error{fmt::format("{} is no report in JSON lines (-r json:FILE, or analyze --json)", file)};
    if (j.value("type", "") == "race") races.push_back(j);
  }
  if (races.empty()) return Error{fmt::format("{} has no race", file)};
  return races;
}

bool is_number(const std::string& text) {
  return !text.empty() && text.size() < 10 && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// The whole word may be a file; else what follows its last colon says which race of it.
Result<Json> find_race(const std::string& word) {
  const std::size_t colon = word.rfind(':');
  std::error_code error;
  const bool is_file = colon == std::string::npos || fs::exists(word, error);
  const std::string file = is_file ? word : word.substr(0, colon), which = is_file ? "" : word.substr(colon + 1);
  const Result<std::vector<Json>> races = read_races(file);
  if (!races) return races.error();
  std::vector<Json> found;
  const auto has_id = [&](const Json& r) { return r.value("id", "").starts_with(which); };
  std::ranges::copy_if(*races, std::back_inserter(found), has_id);
  const auto same_id = [&](const Json& r) { return r.at("id") == found.front().at("id"); };
  if (!found.empty() && std::ranges::all_of(found, same_id)) return found.front();  // several engines may have it
  if (found.empty() && is_number(which)) {
    const std::size_t number = std::strtoull(which.c_str(), nullptr, 10);
    if (number >= 1 && number <= races->size()) return (*races)[number - 1];
  }
  if (found.empty()) return Error{fmt::format("no race '{}' in {}, which has {}", which, file, races->size())};
  return Error{fmt::format("{} has {} races{}: say which as {}:ID or {}:NUMBER", file, found.size(),
                           which.empty() ? "" : fmt::format(" whose id begins with {}", which), file, file)};
}

// --- its places ---

struct Place {
  std::string text;    // as people read it
  std::string module;  // empty: the program
  std::vector<report::CodeRange> code;

  bool has(const report::Frame& f, const std::string& program) const {
    return f.module == (module.empty() ? program : module) &&
           std::ranges::any_of(code,
                               [&](const report::CodeRange& r) { return r.begin <= f.offset && f.offset < r.end; });
  }
};

// Where the access was, in the program as it is now; in a library, where it was then.
Result<Place> find_place(const Json& access, const fs::path& program, report::Symbolizer& symbolizer) {
  const Json stack = access.value("stack", Json::array());
  if (stack.empty()) return Error{"one of the accesses has no place: its thread is not known"};
  const Json& top = stack.front();
  if (!top.contains("module")) {
    return Error{
        fmt::format("the place '{}' is no place in a program: the trace was not recorded by photofinish record",
                    top.value("location", "?"))};
  }
  report::Frame frame;
  frame.function = top.value("function", "");
  frame.file = top.value("file", "");
  frame.line = top.value("line", 0U);
  frame.column = top.value("column", 0U);
  frame.module = top.value("module", "");
  frame.offset = std::strtoull(top.value("offset", "0").c_str(), nullptr, 16);
  Place place{frame.text(), frame.module, {}};
  const std::vector<report::CodeRange> recorded = {{frame.offset, frame.offset + 1}};
  if (frame.module != fs::canonical(program).filename() && frame.module != program.filename()) {
    place.code = recorded;
    return place;
  }
  place.module.clear();
  if (frame.line != 0) place.code = symbolizer.code_of(program.string(), frame.file, frame.line, frame.column);
  const report::Frame now = symbolizer.frames(program.string(), frame.offset).front();
  if (place.code.empty() && frame.line == 0 && now.function == frame.function) place.code = recorded;
  if (place.code.empty())
    return Error{fmt::format("{} is not in {} (any more): report the race again", place.text, program.string())};
  return place;
}

// --- attempts ---

struct Attempt {
  uint64_t waiting;  // places: 1, 2 or both
  uint64_t skip;     // visits
  uint64_t factor;   // of the delay
};

// Whoever holds a lock that the other needs must not be the one who waits, so each is tried alone, too; then longer, and later.
Attempt attempt(uint64_t number) {
  constexpr uint64_t kWaiting[] = {3, 1, 2};
  const uint64_t round = number / std::size(kWaiting);
  return {kWaiting[number % std::size(kWaiting)], round * (round + 1) / 2, uint64_t{1} << std::min<uint64_t>(round, 4)};
}

std::string steering(const std::array<Place, 2>& places, const Attempt& a) {
  std::string text = fmt::format("{} {}\n", a.waiting, a.skip);
  for (std::size_t i = 0; i < places.size(); ++i)
    for (const report::CodeRange& r : places[i].code)
      text +=
          fmt::format("{} {} {} {}\n", i + 1, r.begin, r.end - 1, places[i].module.empty() ? "-" : places[i].module);
  return text;
}

// Keeps the race that was asked for.
class Catch final : public report::Renderer {
 public:
  Catch(const std::array<Place, 2>& places, std::string program, std::optional<report::Race>& caught)
      : places_(places), program_(std::move(program)), caught_(caught) {}

  void race(const report::Race& r) override {
    if (caught_ || r.first.stack.empty() || r.second.stack.empty()) return;
    const report::Frame &a = r.first.stack.front(), &b = r.second.stack.front();
    const bool is_it = (is_at(0, a) && is_at(1, b)) || (is_at(1, a) && is_at(0, b));
    if (!is_it) return;
    caught_ = r;
    caught_->verdict = "confirmed";
    caught_->engine = "confirm";
  }
  void misuse(const report::Misuse&) override {}
  void summary(const report::Summary&) override {}

 private:
  bool is_at(std::size_t place, const report::Frame& f) const { return places_[place].has(f, program_); }

  const std::array<Place, 2>& places_;
  std::string program_;
  std::optional<report::Race>& caught_;
};

class Confirmation {
 public:
  Confirmation(const Request& request, uint64_t delay, std::vector<std::string> command, fs::path runtime,
               report::RunOptions options, std::array<Place, 2> places)
      : request_(request), delay_(delay), command_(std::move(command)), runtime_(std::move(runtime)),
        options_(std::move(options)), places_(std::move(places)) {}

  Status run() {
    while (made < request_.attempts && !caught && !gate_.stopped()) {
      if (const Status done = run_once(attempt(made++)); !done) return done;
      if (!instrumented_) return Error{not_instrumented(command_.front())};
    }
    return Done{};
  }

  std::optional<report::Race> caught;
  uint64_t made = 0;
  int status = 0;  // of the program: the first that is not zero

 private:
  Status run_once(const Attempt& a) {
    const Result<RunDirectory> directory = RunDirectory::make();
    if (!directory) return directory.error();
    report::RunFollower follower(directory->path());
    const std::string chain = fmt::format("collision,delay={}us", a.factor * delay_ / 1000);
    Environment environment = environment_of(chain, directory->path(), runtime_.string(), false);
    environment.emplace_back("PHOTOFINISH_STEER", steering(places_, a));
    const Result<pid_t> program = start_program(command_, environment, gate_);
    if (!program) return program.error();
    const IgnoredPipes ignored;
    std::vector<report::Session::Sink> sinks;
    const fs::path executable = find_program(command_.front()).value_or(command_.front());
    sinks.push_back({std::make_unique<Catch>(places_, fs::canonical(executable).filename(), caught), stderr,
                     "to standard error", true});
    report::Session session(chain, options_, report::Suppressions(), std::move(sinks));
    const int ended = follow(*program, gate_, follower,
                             [&](const std::string& file, std::string_view line) { session.take(file, line); });
    session.finish(0);
    if (status == 0) status = ended;
    instrumented_ = follower.any();
    return Done{};
  }

  const Request& request_;
  uint64_t delay_;  // nanoseconds
  std::vector<std::string> command_;
  fs::path runtime_;
  report::RunOptions options_;
  std::array<Place, 2> places_;
  SignalGate gate_;
  bool instrumented_ = false;
};

void tell(const Confirmation& c, const Json& race, const Request& request, const Globals& globals) {
  const std::string id = race.value("id", "");
  if (request.json) {
    if (c.caught) report::make_json_renderer(stdout)->race(*c.caught);
    const Json line = {{"type", "confirmation"},
                       {"id", id},
                       {"verdict", c.caught ? "confirmed" : "unconfirmed"},
                       {"attempts", c.made}};
    fmt::print("{}\n", line.dump());
    return;
  }
  if (c.caught) {
    const report::TextStyle style{.color = globals.colored(2), .verbose = false, .quiet = globals.quiet};
    report::make_text_renderer(stderr, style)->race(*c.caught);
  }
  if (globals.quiet) return;
  if (c.caught) {
    fmt::print(stderr, "confirmed {} in attempt {}: both threads were there at once\n", id, c.made);
  } else {
    fmt::print(stderr, "not confirmed {} in {} attempt{}; that is no proof that it cannot happen\n", id, c.made,
               c.made == 1 ? "" : "s");
  }
}

Outcome confirm(const Request& request, const std::vector<std::string>& command, const Globals& globals) {
  if (command.empty()) return Error{"confirm: no program given (see photofinish confirm --help)"};
  const std::optional<uint64_t> delay = parse_duration(request.delay);
  if (!delay || *delay < 1000) return Error{fmt::format("--delay takes a time such as 100ms, not '{}'", request.delay)};
  const Result<Json> race = find_race(request.race);
  if (!race) return race.error();
  const std::optional<fs::path> program = find_program(command.front());
  if (!program) return Error{fmt::format("cannot find {}", command.front())};
  const std::optional<fs::path> runtime = find_runtime("collision");
  if (!runtime)
    return Error{fmt::format("there is no runtime for 'collision' in {}", runtime_roots().front().string())};
  report::Symbolizer symbolizer([](const std::string& text) { fmt::print(stderr, "photofinish: {}\n", text); });
  std::array<Place, 2> places;
  const Json accesses = race->value("accesses", Json::array());
  if (accesses.size() != places.size()) return Error{"the race has not two accesses"};
  for (std::size_t i = 0; i < places.size(); ++i) {
    Result<Place> place = find_place(accesses[i], *program, symbolizer);
    if (!place) return place.error();
    places[i] = std::move(*place);
  }
  report::RunOptions options = read_run_options(globals);
  Confirmation confirmation(request, *delay, command, *runtime, options, std::move(places));
  if (const Status done = confirmation.run(); !done) return done.error();
  tell(confirmation, *race, request, globals);
  return exit_code(confirmation.status, confirmation.caught.has_value(), options);
}

}  // namespace

void add_confirm(const Verbs& verbs) {
  CLI::App* verb = verbs.app.add_subcommand("confirm", "Run a program again until a reported race is seen to happen");
  auto request = std::make_shared<Request>();
  auto shown_only = std::make_shared<std::vector<std::string>>();
  verb->add_option("RACE", request->race,
                   "FILE:ID or FILE:NUMBER of a report in JSON lines; FILE alone if it has but one race")
      ->required();
  verb->add_option("--attempts", request->attempts, "Runs of the program, at most")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verb->add_option("--delay", request->delay,
                   "How long a thread waits at its place in the first attempts; later ones are longer")
      ->capture_default_str();
  verb->add_flag("--json", request->json, "JSON lines on standard output: the race as it was seen, then the verdict");
  verb->add_option("PROGRAM", *shown_only, "The program, built with pf-c++ or pf-cc, and its arguments");
  verb->footer("A thread that comes to one of the two places of the race waits there for the other one. Confirmed: "
               "both were there\n"
               "at once, at the same memory. Exit code: 66 (PHOTOFINISH_OPTIONS=exitcode=N) if so, else the program's "
               "own, or 2 for\n"
               "wrong usage, a race that is not in the file, a place that is not in the program, or a program without "
               "instrumentation.");
  verb->callback(
      [request, verbs] { verbs.run = [request, verbs] { return confirm(*request, verbs.command, verbs.globals); }; });
}

}  // namespace pf::cli
