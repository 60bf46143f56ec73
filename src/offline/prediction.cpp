#include "offline/prediction.h"

#include <algorithm>
#include <cstdlib>

#include "offline/race_log.h"
#include "predict/engines.h"
#include "predict/predictor.h"

namespace pf {
namespace {

// The options of a chain were checked when it was parsed.
predict::Settings settings_of(const StageSpec& spec, Shard shard) {
  using predict::Method;
  predict::Settings s;
  if (spec.info == &predict::kHbInfo) s.method = Method::Hb;
  if (spec.info == &predict::kCpInfo) s.method = Method::Cp;
  if (spec.info == &predict::kSyncpInfo) s.method = Method::SyncP;
  if (spec.info == &predict::kOsrInfo) s.method = Method::Osr;
  if (spec.info == &predict::kRditInfo) s.method = Method::Rdit;
  const auto number = [&](std::string_view name, uint64_t fallback) {
    const auto it = spec.options.find(name);
    return it == spec.options.end() ? fallback : std::strtoull(it->second.c_str(), nullptr, 10);
  };
  if (const auto it = spec.options.find("solver"); it != spec.options.end() && it->second == "z3")
    s.solver = predict::SolverKind::Z3;
  s.raw = spec.options.contains("raw");
  s.window = std::max<uint64_t>(2, number("window", s.window));
  s.limits.steps = 1000 * number("steps", s.limits.steps / 1000);
  s.limits.milliseconds = number("timeout", s.limits.milliseconds);
  s.tries = number("tries", s.tries);
  s.jobs = number("jobs", s.jobs);
  s.shard = shard.number;
  s.shards = shard.of;
  return s;
}

class PredictorStage final : public DetectorStage {
 public:
  explicit PredictorStage(const predict::Settings& settings) : predictor_(settings), is_shard_(settings.shards > 1) {}

  void process(std::span<const Event> batch) override {
    events_ += batch.size();
    for (const Event& e : batch) accesses_ += is_access(e.op) ? 1 : 0;
    predictor_.process(batch);
  }

  Findings findings() const override {
    Findings f;
    RaceLog log;
    predict::Tally tally;
    for (const predict::WindowResult& window : predictor_.finish()) {
      tally += window.tally;
      f.processor_seconds += window.processor_seconds;
      for (const predict::Prediction& p : window.races) {
        FoundRace* race = is_shard_ ? &f.races.emplace_back(FoundRace{.record = p.record}) : log.add(p.record);
        if (race == nullptr) continue;
        race->first_locks = p.first_locks;
        race->second_locks = p.second_locks;
        race->witness = p.witness;
        race->found_by = name(p.found_by);
        if (is_shard_) race->window = window.number;
      }
    }
    if (!is_shard_) f.races = log.take_races();
    f.dynamic_races = is_shard_ ? f.races.size() : log.dynamic_races();
    const uint64_t counts[] = {tally.windows, tally.ordered, tally.known,   tally.preserving, tally.reversed,
                               tally.solved,  tally.refuted, tally.unknown, tally.rounds,     tally.missing};
    for (std::size_t i = 0; i < std::size(counts); ++i) f.rules.push_back({predict::kRules[i], counts[i]});
    f.unknown = tally.unknown;
    for (const std::string_view by : predict::kFoundByNames)
      f.found_by.push_back({by, static_cast<uint64_t>(std::ranges::count(f.races, by, &FoundRace::found_by))});
    f.events = events_;
    f.accesses = accesses_;
    f.threads = predictor_.threads();
    return f;
  }

 private:
  mutable predict::Predictor predictor_;  // asked for findings, it waits for its workers
  bool is_shard_;
  uint64_t events_ = 0, accesses_ = 0;
};

}  // namespace

bool is_predictor(const EngineInfo& info) { return info.kind == StageKind::Predictor; }

std::unique_ptr<DetectorStage> make_predictor(const StageSpec& spec, Shard shard) {
  return std::make_unique<PredictorStage>(settings_of(spec, shard));
}

}  // namespace pf
