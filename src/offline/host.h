// The offline host: drives one detector over the events of a trace, single-threaded. It owns what the rules must not
// know of: the shadow, threads and objects (sync.h), locksets and the log of races.
#pragma once
#include <algorithm>
#include <map>

#include "core/blocks.h"
#include "detect/chain.h"
#include "detect/detector.h"
#include "detect/pacer.h"
#include "offline/library.h"
#include "offline/race_log.h"
#include "offline/shadow.h"
#include "offline/sync.h"

namespace pf {

template <template <class> class Template, class Env = OfflineEnv>
class OfflineHost final : public DetectorStage {
  using Access = typename Env::Access;
  using D = Template<Env>;
  static_assert(Detector<D, Env>);

 public:
  explicit OfflineHost(const Options& options = {}) : shows_suspects_(options.contains("show")) {
    env_.configure(options);
  }

  void process(std::span<const Event> batch) override {
    events_ += batch.size();
    for (const Event& e : batch) step(e);
  }

  Findings findings() const override {
    Findings f;
    f.races = log_.races();
    for (std::size_t i = 0; i < D::kInfo.rules.size(); ++i) f.rules.push_back({D::kInfo.rules[i], env_.rules[i]});
    f.events = events_;
    f.accesses = accesses_;
    f.dynamic_races = log_.dynamic_races();
    f.racy_events = racy_events_;
    f.threads = sync_.threads();
    const uint64_t tables = shadow_.bytes() + sync_.bytes();  // they never shrink
    f.bytes = env_.arena.live_bytes() + tables;
    f.peak_bytes = env_.arena.peak_bytes() + tables;
    if constexpr (OrdersLibraries<D>) add_suspects(f);
    if constexpr (Samples<D, Env>) {
      f.sampling = {static_cast<double>(env_.periods.rate()) / static_cast<double>(Periods::kAlways), work_,
                    sampled_work_, accesses_, sampled_accesses_};
      for (const bool in_period : {false, true}) {
        for (const bool whole : {false, true}) {
          f.rules.push_back(
              {ClockOperations::kNames[in_period][whole], env_.clock_operations.counts[in_period][whole]});
        }
      }
    }
    return f;
  }

 private:
  using HostThread = typename SyncState<D, Env>::HostThread;

  // Hot: a plain access is inlined down to its rule.
  [[gnu::always_inline]] void step(const Event& e) {
    HostThread& t = sync_.thread(e.thread);
    if constexpr (OrdersLibraries<D>) return step_between_calls(t, e);
    step_at(t, e);
  }
  [[gnu::always_inline]] void step_at(HostThread& t, const Event& e) {
    if (e.op <= Op::Write) [[likely]]
      return access<false>(t, e);
    step_sync(t, e);
  }
  void step_between_calls(HostThread& t, const Event& e) {
    libraries_.before(t.state, e);
    step_at(t, e);
    libraries_.after(t.state, e);
  }

  [[gnu::noinline]] void step_sync(HostThread& t, const Event& e) {
    if constexpr (Samples<D, Env>) step_period(e);
    switch (e.op) {
      case Op::AtomicLoad:
      case Op::AtomicStore:
      case Op::AtomicRmw: return atomic(t, e);
      case Op::Alloc: return alloc(t, e);
      case Op::Free: return free(t, e);
      default: return sync_.step(t, e);
    }
  }

  // --- sampling periods: the trace's own if it begins with one, else drawn ---

  void step_period(const Event& e) {
    const bool mark = e.op == Op::SamplingOn || e.op == Op::SamplingOff;
    if (mark) {
      has_marks_ |= is_first_;
      if (has_marks_) set_sampling(e.op == Op::SamplingOn);
    }
    is_first_ = false;
    if (mark) return;
    ++work_;
    sampled_work_ += env_.sampling ? 1 : 0;
    if (!has_marks_ && env_.periods.work(1)) set_sampling(env_.periods.sampling());
  }
  void set_sampling(bool on) {
    if (on == env_.sampling) return;
    env_.sampling = on;
    if (on) sync_.for_each_live_thread([&](HostThread& t) { D::begin_sampling(t.state, env_); });
  }

  // --- accesses ---

  // Reads and writes take one way until an epoch is seen to be new: a branch on the operation is hard to predict.
  template <bool kAtomic>
  [[gnu::always_inline]] void access(HostThread& t, const Event& e) {
    ++accesses_;
    if constexpr (Samples<D, Env>) {
      is_first_ = false;
      sampled_accesses_ += env_.sampling ? 1 : 0;
      if (!env_.sampling && shadow_.is_unsampled(e.target, e.size)) return env_.count(D::NotSampled);
    }
    shadow_.for_each(e.target, e.size, [&](typename D::Var& x, uint64_t address) {
      if constexpr (HasSameEpoch<D, Env> && !kAtomic) {
        if (D::same_epoch(t.state, x, e.op, env_)) return;
      }
      env_.current_locks = t.locks;
      const Access a = Access::of(e, t.locks);
      if constexpr (kAtomic) {
        writes(e.op) ? D::atomic_write(t.state, x, a, env_) : D::atomic_read(t.state, x, a, env_);
      } else {
        writes(e.op) ? D::write(t.state, x, a, env_) : D::read(t.state, x, a, env_);
      }
      if (!env_.found.empty()) [[unlikely]]
        note(address);
    });
    if constexpr (OrdersReadsAfterWrites<D, Env>) order_by_values(t, e);
    if (!noted_.empty()) [[unlikely]]
      settle(t, e);
  }

  void atomic(HostThread& t, const Event& e) {
    typename D::Atomic& a = sync_.atomic(e.target);
    D::atomic_before(t.state, a, e.op, e.order, env_);
    access<true>(t, e);
    D::atomic_after(t.state, a, e.op, e.order, env_);
  }

  void order_by_values(HostThread& t, const Event& e) {
    if (e.op != Op::Write && e.op != Op::AtomicStore) {
      shadow_.for_each(e.target, e.size, [&](typename D::Var& x, uint64_t) { D::reads_from(t.state, x, env_); });
    }
    if (!writes(e.op)) return;
    shadow_.for_each(e.target, e.size, [&](typename D::Var& x, uint64_t) { D::publish(t.state, x, env_); });
    D::published(t.state, env_);
  }

  // --- memory ---

  void alloc([[maybe_unused]] HostThread& t, const Event& e) {
    if (extent(e) == 0) return;
    if constexpr (OrdersReadsAfterWrites<D, Env>) {
      typename D::Var fresh{};
      D::publish(t.state, fresh, env_);
      D::published(t.state, env_);
      shadow_.begin_block(e.target, extent(e), fresh);
    } else {
      shadow_.forget(e.target, extent(e));
    }
    sync_.forget_atomics(e.target, extent(e));
    blocks_.change(e, extent(e));
  }

  void free(HostThread& t, const Event& event) {
    if (extent(event) == 0) return;
    Event e = event;
    e.size = static_cast<uint32_t>(std::min<uint64_t>(extent(e), kMaxAccessSize));  // for the report
    env_.current_locks = t.locks;
    const Access a = Access::of(e, t.locks);
    typename D::Var freed{};
    D::write(t.state, freed, a, env_);
    if constexpr (OrdersReadsAfterWrites<D, Env>) D::publish(t.state, freed, env_);
    shadow_.free_block(
        e.target, extent(e),
        [&](typename D::Var& x, uint64_t address) {
          D::write(t.state, x, a, env_);
          if (!env_.found.empty()) [[unlikely]]
            note(address);
        },
        freed);
    if constexpr (OrdersReadsAfterWrites<D, Env>) D::published(t.state, env_);
    sync_.forget_atomics(e.target, extent(e));
    if (!noted_.empty()) settle(t, e);
    blocks_.change(e, extent(e));
  }

  // Pairs that were real at another time are no suspects.
  void add_suspects(Findings& f) const {
    f.by_library = 0;
    for (const FoundRace& suspect : suspects_.races()) {
      const auto same = [&](const FoundRace& r) { return r.record.pair() == suspect.record.pair(); };
      if (std::ranges::any_of(log_.races(), same)) continue;
      ++*f.by_library;
      if (shows_suspects_) f.races.push_back(suspect);
    }
  }

  // --- races: cold ---

  struct Noted {
    Mark<Env> prior;
    Verdict verdict;
    typename Env::Epoch full;
    uint64_t address;
  };

  [[gnu::noinline, gnu::cold]] void note(uint64_t address) {
    for (const typename Env::Found& f : env_.found) {
      const auto same = [&](const Noted& n) {
        return n.prior.epoch == f.prior.epoch && Env::same_place(n.prior.access, f.prior.access) &&
               n.prior.access.locks == f.prior.access.locks;
      };
      if (std::none_of(noted_.begin(), noted_.end(), same)) noted_.push_back({f.prior, f.verdict, f.full, address});
    }
    env_.found.clear();
  }

  // Once all parts of an access were checked: the same pair counts once, however many bytes it shares.
  [[gnu::noinline, gnu::cold]] void settle(const HostThread& t, const Event& e) {
    ++racy_events_;
    for (const Noted& n : noted_) {
      RaceRecord race;
      const Access& a = n.prior.access;
      race.first = {env_.owner(n.prior.epoch), a.site, a.locks, a.op(), a.size()};
      race.second = {e.thread, e.site, t.locks, e.op, e.size};
      race.verdict = n.verdict;
      race.memory = blocks_.at(n.address);
      FoundRace* found = (n.verdict == Verdict::Suspect ? suspects_ : log_).add(race);
      if (found == nullptr) continue;
      found->first_epoch = {n.full.slot(), n.full.clock()};
      env_.locksets.for_each(a.locks, [&](const HeldLock& l) { found->first_locks.push_back(l); });
      env_.locksets.for_each(t.locks, [&](const HeldLock& l) { found->second_locks.push_back(l); });
    }
    noted_.clear();
  }

  Env env_;
  Shadow<D, Env> shadow_{env_};
  SyncState<D, Env> sync_{env_};
  struct NoLibraries {
    explicit NoLibraries(Env&) {}
  };
  template <bool kOrders, class AnyD>
  struct LibrariesOf {
    using Type = NoLibraries;
  };
  template <class AnyD>
  struct LibrariesOf<true, AnyD> {
    using Type = LibraryState<AnyD, Env>;
  };
  [[no_unique_address]] typename LibrariesOf<OrdersLibraries<D>, D>::Type libraries_{env_};
  Blocks blocks_;
  std::vector<Noted> noted_;  // races of the access being processed
  RaceLog log_, suspects_;
  bool shows_suspects_;
  uint64_t events_ = 0, accesses_ = 0, racy_events_ = 0;
  // Of a detector that samples:
  bool is_first_ = true, has_marks_ = false;
  uint64_t work_ = 0, sampled_work_ = 0, sampled_accesses_ = 0;
};

}  // namespace pf
