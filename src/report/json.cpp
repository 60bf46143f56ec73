// JSON lines, as the contract in docs/reports.md has them: one object per line, races first, then summaries.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/renderer.h"

namespace pf::report {
namespace {

using Json = nlohmann::ordered_json;

Json frame(const Frame& f) {
  if (!f.location.empty()) return {{"location", f.location}};
  Json j = Json::object();
  if (!f.function.empty()) j["function"] = f.function;
  if (!f.file.empty()) j["file"] = f.file;
  if (f.line != 0) j["line"] = f.line;
  if (f.column != 0) j["column"] = f.column;
  if (!f.module.empty()) j["module"] = f.module;
  if (!f.module.empty()) j["offset"] = fmt::format("{:#x}", f.offset);
  return j;
}

Json frames(const std::vector<Frame>& stack) {
  Json list = Json::array();
  for (const Frame& f : stack) list.push_back(frame(f));
  return list;
}

Json access(const Access& a) {
  return {{"thread", {{"id", a.thread_id}, {"name", a.thread_name}}},
          {"op", a.op},
          {"size", a.size},
          {"atomic", a.atomic},
          {"locks", a.locks},
          {"stack", frames(a.stack)}};
}

Json location(const Location& l) {
  Json j = {{"kind", l.kind}};
  if (!l.name.empty()) j["name"] = l.name;
  if (l.size) j["size"] = *l.size;
  if (l.offset) j["offset"] = *l.offset;
  if (l.thread) j["thread"] = *l.thread;
  if (!l.stack.empty()) {
    j["stack"] = frames(l.stack);
  } else if (l.origin) {
    j["stack"] = Json::array({frame(*l.origin)});
  }
  if (!l.allocation_stack.empty()) j["allocated"] = frames(l.allocation_stack);
  return j;
}

Json creation(const Creation& c) {
  return {{"id", c.thread_id}, {"name", c.thread_name}, {"parent", c.parent_id}, {"stack", frames(c.stack)}};
}

Json lock_step(const HiddenBy::Step& s) {
  Json j = {{"thread", {{"id", s.thread_id}, {"name", s.thread_name}}}};
  if (s.reading) j["mode"] = "read";
  if (s.event != 0) j["event"] = s.event;
  j["stack"] = frames(s.stack);
  return j;
}

Json hidden_by(const HiddenBy& h) {
  return {{"lock", h.lock}, {"release", lock_step(h.release)}, {"acquire", lock_step(h.acquire)}};
}

Json witness(const std::vector<WitnessStep>& steps) {
  Json list = Json::array();
  for (const WitnessStep& s : steps) {
    Json j = {{"thread", {{"id", s.thread_id}, {"name", s.thread_name}}}, {"event", s.event}, {"op", s.what}};
    j.update(frame(s.frame));
    list.push_back(std::move(j));
  }
  return list;
}

void add_process(Json& j, const Process& p) {
  if (p.pid != 0) j["process"] = {{"pid", p.pid}, {"exe", p.exe}};
}

Json counts(const std::vector<std::pair<std::string, uint64_t>>& rules) {
  Json j = Json::object();
  for (const auto& [rule, count] : rules) j[rule] = count;
  return j;
}

Json filter(const FilterSummary& f) {
  return {{"name", f.name},   {"events", f.events},         {"dropped", f.dropped},
          {"bytes", f.bytes}, {"peak_bytes", f.peak_bytes}, {"rules", counts(f.rules)}};
}

Json trials(const Trials& t) {
  return {{"runs", t.runs}, {"found", t.found}, {"rate", t.rate()},
          {"low", t.low()}, {"high", t.high()}, {"more_runs", t.more_runs()}};
}

Json sampling(const Sampling& s) {
  Json j = Json::object();
  if (s.asked) j["asked"] = *s.asked;
  j["effective"] = s.effective;
  j["accesses"] = s.accesses;
  j["sampled"] = s.sampled;
  if (s.live_bytes) j["live_bytes"] = *s.live_bytes;
  return j;
}

Json watching(const Watching& w) {
  Json j = {{"asked", w.asked}, {"effective", w.effective}, {"hardware", w.hardware}};
  for (const auto& [name, field] : kWatchingCounts) j[name] = w.*field;
  j["delayed_seconds"] = w.delayed;
  j["elapsed_seconds"] = w.elapsed;
  return j;
}

class JsonRenderer final : public Renderer {
 public:
  explicit JsonRenderer(std::FILE* out) : out_(out) {}

  void race(const Race& r) override {
    Json j = {{"type", "race"},
              {"id", r.id()},
              {"engine", r.engine},
              {"kind", r.kind()},
              {"verdict", r.verdict},
              {"count", r.count},
              {"location", location(r.location)},
              {"accesses", Json::array({access(r.first), access(r.second)})}};
    for (const Creation& c : r.threads) j["threads"].push_back(creation(c));
    add_process(j, r.process);
    if (!r.chain.empty()) j["chain"] = r.chain;
    if (r.hidden_by) j["hidden_by"] = hidden_by(*r.hidden_by);
    if (!r.doubt.empty()) j["doubt"] = r.doubt;
    if (r.trials) j["trials"] = trials(*r.trials);
    if (r.chance) j["estimate"] = {{"by", "rate"}, {"probability", *r.chance}, {"runs", Trials::runs_for(*r.chance)}};
    if (r.window) j["window"] = *r.window;
    if (!r.pair.empty()) j["pair"] = r.pair;
    if (!r.witness.empty()) {
      j["found_by"] = r.found_by;
      j["witness"] = witness(r.witness);
    }
    line(j);
  }

  void misuse(const Misuse& m) override {
    Json j = {{"type", "misuse"},
              {"id", m.id()},
              {"engine", m.engine},
              {"what", m.what},
              {"count", m.count},
              {"address", fmt::format("{:#x}", m.address)},
              {"thread", {{"id", m.thread_id}, {"name", m.thread_name}}},
              {"stack", frames(m.stack)}};
    add_process(j, m.process);
    line(j);
  }

  void summary(const Summary& s) override {
    Json j = {{"type", "summary"},
              {"engine", s.engine},
              {"events", s.events},
              {"accesses", s.accesses},
              {"dropped", s.dropped},
              {"races", s.races},
              {"dynamic_races", s.dynamic_races},
              {"racy_events", s.racy_events},
              {"threads", s.threads},
              {"bytes", s.bytes},
              {"seconds", s.seconds},
              {"rules", counts(s.rules)}};
    if (s.unknown) j["unknown"] = *s.unknown;
    if (!s.found_by.empty()) j["found_by"] = counts(s.found_by);
    if (!s.shard.empty()) j["shard"] = s.shard;
    if (s.sampling) j["sampling"] = sampling(*s.sampling);
    if (s.watching) j["watch"] = watching(*s.watching);
    if (s.libraries) {
      j["libraries"] = {{"pairs", s.libraries->pairs}, {"cut", s.libraries->cut}};
      if (s.libraries->calls) j["libraries"]["calls"] = *s.libraries->calls;
    }
    if (s.trials != 0) j["trials"] = s.trials;
    if (s.suspects != 0) j["suspects"] = s.suspects;
    if (s.online) {
      j["processes"] = s.processes;
      j["unfinished"] = s.unfinished;
      j["misuses"] = s.misuses;
      j["suppressed"] = s.suppressed;
    } else {
      j["potential"] = s.potential;
      j["peak_bytes"] = s.peak_bytes;
      j["own_seconds"] = s.own_seconds;
    }
    for (const FilterSummary& f : s.filters) j["filters"].push_back(filter(f));
    line(j);
  }

 private:
  // Names come from a program and may be any bytes: what is not UTF-8 is replaced, never refused.
  void line(const Json& j) { fmt::print(out_, "{}\n", j.dump(-1, ' ', false, Json::error_handler_t::replace)); }

  std::FILE* out_;
};

}  // namespace

std::unique_ptr<Renderer> make_json_renderer(std::FILE* out) { return std::make_unique<JsonRenderer>(out); }

}  // namespace pf::report
