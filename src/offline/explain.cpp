#include "offline/explain.h"

#include <algorithm>

#include "offline/catalog.h"

namespace pf {
namespace {

bool is_acquire(Op op) { return op == Op::Acquire || op == Op::ReadAcquire; }
bool is_release(Op op) { return op == Op::Release || op == Op::ReadRelease; }
LockMode mode(Op op) { return op == Op::ReadAcquire || op == Op::ReadRelease ? LockMode::Read : LockMode::Write; }

}  // namespace

Explainer::Explainer(const Chain& chain, std::span<FoundRace> races) : filters_(make_filters(chain)) {
  for (FoundRace& race : races) {
    if (race.record.verdict != Verdict::Potential || race.first_epoch.never()) continue;
    questions_[race.first_epoch.slot()].insert({race.first_epoch.clock(), Question{&race, {}, {}}});
  }
}

Status Explainer::start(const StableNames& names) { return start_all(filters_, names); }

void Explainer::process(std::span<const Event> batch) {
  for (const Event& e : batch) {
    ++number_;
    std::span<const Event> passed(&e, 1);
    for (const auto& filter : filters_) passed = filter->pass(passed);
    if (!passed.empty()) step(e);
  }
}

void Explainer::step(const Event& e) {
  if (e.op <= Op::Write) {
    sync_.thread(e.thread);
    return;
  }
  const ThreadId learner = e.op == Op::Fork ? ThreadId{static_cast<uint32_t>(e.target)} : e.thread;
  Clock before;
  if (const Sync::HostThread* t = sync_.find(learner)) before.assign(t->state.full.known, env_);
  const Env::Epoch epoch = Order::Full::epoch(sync_.thread(e.thread).state.full);
  apply(e);
  if (is_release(e.op)) note_release(e, epoch);
  note_lessons(e, learner, before);
  before.clear(env_);
}

void Explainer::apply(const Event& e) {
  Sync::HostThread& t = sync_.thread(e.thread);
  if (is_atomic(e.op)) {
    Order::Atomic& a = sync_.atomic(e.target);
    Order::atomic_before(t.state, a, e.op, e.order, env_);
    Order::atomic_after(t.state, a, e.op, e.order, env_);
  } else if (e.op == Op::Alloc || e.op == Op::Free) {
    if (extent(e) != 0) sync_.forget_atomics(e.target, extent(e));
  } else {
    sync_.step(t, e);
  }
}

void Explainer::note_release(const Event& e, Env::Epoch epoch) {
  std::vector<Release>& releases = releases_[e.target];
  const Release now{{e.thread, e.site, mode(e.op), number_}, epoch};
  const auto same = [&](const Release& r) { return r.step.thread == e.thread && r.step.mode == now.step.mode; };
  const auto it = std::ranges::find_if(releases, same);
  if (it == releases.end()) {
    releases.push_back(now);
  } else {
    *it = now;
  }
}

// The first accesses that the learner did not know of before the event, and does now.
void Explainer::note_lessons(const Event& e, ThreadId learner, const Clock& before) {
  const Sync::HostThread& t = sync_.thread(learner);
  for (auto& [slot, questions] : questions_) {
    const auto end = questions.upper_bound(t.state.full.known.get(slot));
    for (auto it = questions.upper_bound(before.get(slot)); it != questions.end() && it != end; ++it) {
      learn(it->second, e, t);
    }
  }
}

void Explainer::learn(Question& q, const Event& e, const Sync::HostThread& learner) {
  if (q.race->hidden_by) return;
  const ThreadId id = learner.state.full.id;
  if (const LockStep* release = is_acquire(e.op) ? release_before(q, e) : nullptr) {
    const LockStep acquire{e.thread, e.site, mode(e.op), number_};
    q.lessons.push_back({Order::Weak::epoch(learner.state.weak), {e.target, *release, acquire}});
  }
  q.knows_since.try_emplace(id, number_);
  if (id != q.race->record.second.thread) return;
  const auto leads_here = [&](const Lesson& l) { return Order::Weak::ordered(l.weak, learner.state.weak); };
  const auto it = std::ranges::find_if(q.lessons, leads_here);
  if (it == q.lessons.end()) return;
  q.race->hidden_by = it->by;
  q.lessons = {};
  q.knows_since = {};
}

// Of the releases that brought the lock its knowledge: the one of the first access's own thread, or else the latest.
const LockStep* Explainer::release_before(const Question& q, const Event& acquire) {
  const LockStep* best = nullptr;
  for (const Release& r : releases_[acquire.target]) {
    const bool ordered = r.step.mode == LockMode::Write || acquire.op == Op::Acquire;
    if (!ordered || !knew(q, r)) continue;
    if (r.step.thread == q.race->record.first.thread) return &r.step;
    if (best == nullptr || r.step.event > best->event) best = &r.step;
  }
  return best;
}

bool Explainer::knew(const Question& q, const Release& r) {
  const WideEpoch first = q.race->first_epoch;
  if (r.epoch.slot() == first.slot() && r.epoch.clock() >= first.clock()) return true;
  const auto it = q.knows_since.find(r.step.thread);
  return it != q.knows_since.end() && it->second < r.step.event;
}

}  // namespace pf
