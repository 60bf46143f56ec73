#include "report/raw.h"

#include <nlohmann/json.hpp>

namespace pf::report {
namespace {

using Json = nlohmann::ordered_json;

const Json& field(const Json& j, const char* name) {
  static const Json none;
  if (!j.is_object()) return none;
  const auto it = j.find(name);
  return it == j.end() ? none : *it;
}

std::optional<uint64_t> maybe_number(const Json& j, const char* name) {
  const Json& value = field(j, name);
  return value.is_number_unsigned() ? std::optional(value.get<uint64_t>()) : std::nullopt;
}

uint64_t number(const Json& j, const char* name) { return maybe_number(j, name).value_or(0); }

std::string text(const Json& j, const char* name) {
  const Json& value = field(j, name);
  return value.is_string() ? value.get<std::string>() : std::string();
}

bool truth(const Json& j, const char* name) {
  const Json& value = field(j, name);
  return value.is_boolean() && value.get<bool>();
}

Pcs pcs(const Json& j, const char* name) {
  Pcs list;
  const Json& value = field(j, name);
  if (!value.is_array()) return list;
  for (const Json& pc : value) {
    if (pc.is_number_unsigned()) list.push_back(pc.get<uint64_t>());
  }
  return list;
}

RawAccess access(const Json& j) {
  RawAccess a{number(j, "thread"), text(j, "op"), number(j, "size"), truth(j, "atomic"), false, {}, pcs(j, "stack")};
  const Json& locks = field(j, "locks");
  if (!locks.is_array()) return a;
  a.knows_locks = true;
  for (const Json& lock : locks) a.locks.push_back({number(lock, "address"), text(lock, "mode") == "read"});
  return a;
}

RawLocation location(const Json& j) {
  return {text(j, "kind"),           maybe_number(j, "start"), maybe_number(j, "size"),
          maybe_number(j, "thread"), pcs(j, "stack"),          pcs(j, "allocated")};
}

RawLockStep lock_step(const Json& j) { return {number(j, "thread"), text(j, "mode") == "read", pcs(j, "stack")}; }

std::optional<RawHiddenBy> hidden_by(const Json& j) {
  if (!j.is_object()) return {};
  return RawHiddenBy{number(j, "lock"), lock_step(field(j, "release")), lock_step(field(j, "acquire"))};
}

Result<RawLine> race(const Json& j) {
  const Json& accesses = field(j, "accesses");
  if (!accesses.is_array() || accesses.size() != 2) return Error{"a race without two accesses"};
  return RawLine(RawRace{number(j, "key"), text(j, "verdict"), number(j, "address"), location(field(j, "location")),
                         access(accesses[0]), access(accesses[1]), truth(j, "by_locks"), truth(j, "by_library"),
                         hidden_by(field(j, "hidden_by")), maybe_number(j, "chance")});
}

Watching watching(const Json& j) {
  const auto share = [&](const char* part, double whole) { return static_cast<double>(number(j, part)) / whole; };
  Watching w;
  w.asked = share("rate", 4294967296.0);
  w.effective = share("sampled_places", std::max(1.0, static_cast<double>(number(j, "places"))));
  w.hardware = number(j, "hardware") != 0;
  for (const auto& [name, field] : kWatchingCounts) w.*field = number(j, name);
  w.delayed = share("delayed", 1e9);
  w.elapsed = share("elapsed", 1e9);
  return w;
}

std::vector<std::pair<std::string, uint64_t>> counts(const Json& j) {
  std::vector<std::pair<std::string, uint64_t>> list;
  if (!j.is_object()) return list;
  for (const auto& [name, count] : j.items()) {
    if (count.is_number_unsigned()) list.emplace_back(name, count.get<uint64_t>());
  }
  return list;
}

RawSummary summary(const Json& j) {
  RawSummary s{number(j, "events"),
               number(j, "accesses"),
               number(j, "dynamic_races"),
               number(j, "threads"),
               number(j, "bytes"),
               number(j, "dropped"),
               {}};
  if (const Json& filter = field(j, "filter"); filter.is_object())
    s.filter = {number(filter, "bytes"), counts(field(filter, "rules"))};
  if (const Json& sampling = field(j, "sampling"); sampling.is_object()) {
    s.samples = true;
    s.rate = maybe_number(sampling, "rate");
    s.work = number(sampling, "work");
    s.sampled_work = number(sampling, "sampled_work");
    s.sampled = number(sampling, "sampled");
    s.live = number(sampling, "live");
  }
  if (const Json& watch = field(j, "watch"); watch.is_object()) s.watching = watching(watch);
  if (const Json& l = field(j, "libraries"); l.is_object())
    s.libraries = Libraries{number(l, "calls"), number(l, "pairs"), number(l, "cut")};
  s.rules = counts(field(j, "rules"));
  return s;
}

}  // namespace

Result<RawLine> parse_raw(std::string_view line) {
  const Json j = Json::parse(line, nullptr, false);
  if (!j.is_object()) return Error{"no JSON object"};
  const std::string kind = text(j, "raw");
  if (kind.empty()) return Error{"no kind of line"};
  if (kind == "race") return race(j);
  if (kind == "process") {
    return RawLine(RawProcess{number(j, "pid"), number(j, "parent"), text(j, "engine"), text(j, "exe")});
  }
  if (kind == "module") {
    return RawLine(RawModule{number(j, "start"), number(j, "end"), number(j, "offset"), text(j, "path")});
  }
  if (kind == "thread") {
    return RawLine(RawThread{number(j, "id"), text(j, "name"), maybe_number(j, "parent"), pcs(j, "stack")});
  }
  if (kind == "misuse") {
    return RawLine(RawMisuse{text(j, "what"), number(j, "address"), number(j, "thread"), pcs(j, "stack")});
  }
  if (kind == "repeat") return RawLine(RawRepeat{number(j, "key"), number(j, "count")});
  if (kind == "suppressions") return RawLine(RawWishes{{}, text(j, "text")});
  if (kind == "options") return RawLine(RawWishes{text(j, "text"), {}});
  if (kind == "lost") return RawLine(RawLost{text(j, "what")});
  if (kind == "summary") return RawLine(summary(j));
  return RawLine(RawUnknown{});
}

}  // namespace pf::report
