// Atomics in a granule (runtime/compact.h) against FastTrack's rules for each byte by itself: random atomics of aligned sizes, now and then a
// plain access or the end of the memory, by threads that synchronize, some of which use up their slot. Each access must meet the very
// epochs that the rules meet; what the host leaves out because the granule is as the same atomic left it in this epoch, they must settle.
// Of atomics that came one after the other, a plain access that races with the first may meet the last only; and both, where some threads tell
// atomics in places of their own (told.h). FastTrack keeps one or all, depending on whether any two were concurrent before.
//
// PF_SEED=S sets the first seed, PF_TRACES=N their number; a failure prints its seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>

#include "runtime/actor_slots.h"
#include "runtime/compact.h"

namespace pf::rt {
namespace {

using D = FastTrack<OnlineEnv>;
using Store = CompactStore<D>;

struct Actor {
  Arena arena;
  OnlineEnv env, rules_env;  // of the store, and of the rules by themselves
  told::Place place{};
  D::Thread state{};
  Store::Now now;

  Actor() { env.arena = rules_env.arena = &arena; }
  void renew() {
    Store::renew(now, state);
    env.learn();
  }
};

using Met = std::set<std::pair<unsigned, OnlineEpoch>>;  // byte, epoch

Met take_met(OnlineEnv& env) {
  Met met;
  env.take_found([&](const OnlineEnv::Found& f) {
    for (unsigned i = 0; i < 8; ++i) {
      if ((f.bytes >> i & 1) != 0) met.insert({i, f.prior.epoch});
    }
  });
  return met;
}

class Game {
 public:
  static constexpr unsigned kActors = 4, kLocks = 2;
  unsigned left_out = 0, races = 0, few = 0, alone = 0, more = 0, less = 0;

  explicit Game(uint64_t seed) : random_(seed) {
    actor_count_ = 2 + draw(kActors - 1);
    for (auto& a : actors_) a = std::make_unique<Actor>();
    for (unsigned i = 0; i < kActors; ++i) {
      actors_[i]->env.owner = i + 1;
      D::start(actors_[i]->state, ThreadId{i}, slot_of_actor(i));
      if (draw(4) == 0) actors_[i]->state.now = OnlineEpoch::kMaxClock - draw(10);
      if (i != 0) D::fork(actors_[0]->state, actors_[i]->state, actors_[0]->env);
    }
    for (auto& a : actors_) a->renew();
    sync_share_ = 1 + draw(50);
    plain_share_ = draw(3) == 0 ? draw(20) : draw(3);
    whole_ = draw(2) == 0;
    has_places_ = draw(3) != 0;
  }

  // What is wrong, or nothing.
  std::string step() {
    Actor& t = *actors_[draw(actor_count_)];
    if (draw(100) < sync_share_) return sync(t), "";
    const unsigned size = whole_ ? 8 : 1U << draw(4), first = draw(8 / size) * size;
    const auto bytes = static_cast<uint8_t>(((1U << size) - 1) << first);
    const depot::Id id = 1 + draw(8);
    if (draw(100) >= plain_share_) return atomic(t, bytes, draw(3) == 0, id);
    if (draw(4) == 0) return clear(t, bytes), "";
    if (draw(4) == 0) return Store::forget(cell_, t.env, [](OnlineEpoch) { return false; }), "";
    return draw(2) == 0 ? plain<Op::Read>(t, bytes, id) : plain<Op::Write>(t, bytes, id);
  }
  bool ends_empty() {
    for (auto& a : actors_) {
      if (whole_ || draw(2) == 0) give_up(*a);
    }
    if (whole_) {
      Store::forget(cell_, actors_[0]->env, [](OnlineEpoch) { return true; });
    } else {
      clear(*actors_[0], 0xFF);
    }
    return Store::empty(cell_);
  }

 private:
  unsigned draw(unsigned below) { return static_cast<unsigned>(random_() % below); }

  void sync(Actor& t) {
    D::Lock& lock = locks_[draw(kLocks)];
    draw(2) == 0 ? D::release(t.state, lock, t.env) : D::acquire(t.state, lock, t.env);
    t.renew();
  }
  void clear(Actor& t, uint8_t bytes) {
    Store::clear(cell_, bytes, t.env);
    for_each_byte(t, bytes, [&](D::Var& x) { D::clear(x, t.rules_env); });
    forget_atomics(bytes);
  }
  static void give_up(Actor& t) {
    Store::give_up(only_cell(), t.place, t.env);
    t.place = {};
  }

  // As the host does: what left the granule as it is need not be done again in this epoch.
  std::string atomic(Actor& t, uint8_t bytes, bool writes, depot::Id id) {
    const auto rule = [&](D::Var& x, OnlineEnv& env) {
      writes ? D::atomic_write(t.state, x, Store::access(id), env) : D::atomic_read(t.state, x, Store::access(id), env);
    };
    if (has_places_ && draw(20) == 0) give_up(t);
    const Way way = tell(t, bytes, writes, id, rule);
    const bool is_left_out = way == Way::LeftOut;
    left_out += is_left_out ? 1 : 0;
    alone += way == Way::Alone ? 1 : 0;
    for (unsigned i = 0; i < 8; ++i) {
      if ((bytes >> i & 1) != 0) atomics_[i][t.env.owner - 1][writes ? 1 : 0] = moment(t);
    }
    t.rules_env.settled = 0;
    const unsigned visited = for_each_byte(t, bytes, [&](D::Var& x) { rule(x, t.rules_env); });
    if (is_left_out && t.rules_env.settled != visited) return "left out, but not settled";
    few += (cell_.mark[1] & 0xFFFF) != 0 && *reinterpret_cast<uint32_t*>(cell_.mark[1] >> 16 << 4) == 0 ? 1 : 0;
    return compare(t);
  }
  enum class Way : uint8_t { LeftOut, Alone, ToAll };
  Way tell(Actor& t, uint8_t bytes, bool writes, depot::Id id, auto rule) {
    told::Place* place = nullptr;
    if (has_places_ && t.env.owner != 1) {
      if (t.place.key != bytes) {
        give_up(t);
        t.place.key = bytes;
      }
      place = &t.place;
      if (Store::was_told(*place, writes, t.now)) return Way::LeftOut;
      if (Store::is_alone(*place, writes) && Store::tell_alone(*place, bytes, writes, Store::access(id), t.now))
        return Way::Alone;
    }
    Told& told = told_[t.env.owner - 1][writes ? 1 : 0][bytes];
    if (told.epoch == D::epoch(t.state) && told.stamp == Store::stamp(cell_)) return Way::LeftOut;
    const uint64_t stamp = Store::visit_atomic(cell_, bytes, writes, Store::access(id), t.now, t.state, t.env, place,
                                               [&](D::Var& x) { rule(x, t.env); });
    if (stamp != 0) told = {D::epoch(t.state), stamp};
    return Way::ToAll;
  }
  template <Op kOp>
  std::string plain(Actor& t, uint8_t bytes, depot::Id id) {
    const auto rule = [&](D::Var& x, OnlineEnv& env) {
      kOp == Op::Read ? D::read(t.state, x, Store::access(id), env) : D::write(t.state, x, Store::access(id), env);
    };
    const Deed deed = Deed{id, 0, t.env.knowledge << (64 - Deed::kKnowledgeBits)}.to(bytes);
    Store::visit_plain<kOp>(cell_, deed, Store::access(id), t.now, t.state, t.env, [&](D::Var& x) { rule(x, t.env); });
    for_each_byte(t, bytes, [&](D::Var& x) { rule(x, t.rules_env); });
    const std::string wrong = compare(t, bytes, kOp);
    if (kOp == Op::Write) forget_atomics(bytes);
    return wrong;
  }
  void forget_atomics(uint8_t bytes) {
    for (unsigned i = 0; i < 8; ++i) {
      if ((bytes >> i & 1) != 0) std::ranges::fill(atomics_[i], std::array<Moment, 2>{});
    }
  }

  // An access, and up to where its thread knew all others, in all their slots.
  struct Moment {
    OnlineEpoch at{};
    std::array<past::Clock, kActors> known{};
  };
  Moment moment(const Actor& t) {
    Moment m{D::epoch(t.state)};
    for (unsigned i = 0; i < kActors; ++i) m.known[i] = D::known(t.state, slot_of_actor(i));
    return m;
  }
  // The last atomics of each thread at this byte that a plain access conflicts with.
  template <class F>
  void for_each_atomic(unsigned byte, Op op, F&& f) {
    for (const auto& of_actor : atomics_[byte]) {
      for (const bool writes : {false, true}) {
        const Moment& m = of_actor[writes ? 1 : 0];
        if (!m.at.never() && (op == Op::Write || writes)) f(m);
      }
    }
  }
  bool came_before(OnlineEpoch e, const Moment& m) const {
    for (unsigned i = 0; i < kActors; ++i) {
      if (have_one_entry<OnlineEnv>(slot_of_actor(i), e.slot()))
        return OnlineEnv::entry(e.slot()).before + e.clock() <= m.known[i];
    }
    return false;
  }
  std::string compare(Actor& t, uint8_t bytes = 0, Op op = Op::Read) {
    const bool are_all_told = t.env.found_count < OnlineEnv::kFewFound;
    const Met met = take_met(t.env), expected = std::exchange(expected_, {});
    races += static_cast<unsigned>(met.size());
    more += std::ranges::includes(expected, met) ? 0 : 1;
    less += std::ranges::includes(met, expected) ? 0 : 1;
    Met allowed = expected, needed = expected;
    for (unsigned i = 0; i < 8; ++i) {
      if ((bytes >> i & 1) == 0) continue;
      for_each_atomic(i, op, [&](const Moment& m) {
        if (has_places_ && !D::ordered(m.at, t.state)) allowed.insert({i, m.at});
        if (met.contains({i, m.at}))
          std::erase_if(needed, [&](const auto& e) { return e.first == i && came_before(e.second, m); });
      });
    }
    if (!std::ranges::includes(allowed, met)) return "a race that is none";
    return are_all_told && !std::ranges::includes(met, needed) ? "a race was missed" : "";
  }
  template <class F>
  unsigned for_each_byte(Actor& t, uint8_t bytes, F&& f) {
    unsigned count = 0;
    for (unsigned i = 0; i < 8; ++i) {
      if ((bytes >> i & 1) == 0) continue;
      t.rules_env.look_at(1U << i);
      f(bytes_[i]);
      expected_.merge(take_met(t.rules_env));
      ++count;
    }
    return count;
  }

  // With its rest behind it.
  static Store::Cell& only_cell() {
    static auto* cell = static_cast<Store::Cell*>(map_or_die(Store::kRestsOffset * 2, "a cell"));
    return *cell;
  }

  struct Told {
    OnlineEpoch epoch{};
    uint64_t stamp = 0;
  };
  std::mt19937_64 random_;
  unsigned actor_count_ = 0, sync_share_ = 0, plain_share_ = 0;
  bool whole_ = false, has_places_ = false;
  std::array<Moment, 2> atomics_[8][kActors] = {};  // of each byte, the last reads and writes
  std::unique_ptr<Actor> actors_[kActors];
  D::Lock locks_[kLocks];
  Store::Cell& cell_ = only_cell();
  D::Var bytes_[8];
  Met expected_;
  Told told_[kActors][2][256];
};

uint64_t from_environment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(Atomics, AreFastTrackForEachByte) {
  const uint64_t first = from_environment("PF_SEED", 1), count = from_environment("PF_TRACES", 20000);
  unsigned left_out = 0, races = 0, few = 0, alone = 0, more = 0, less = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const auto game = std::make_unique<Game>(seed);
    for (unsigned i = 0; i < 200; ++i) {
      const std::string wrong = game->step();
      ASSERT_EQ(wrong, "") << "step " << i << ": PF_SEED=" << seed << " PF_TRACES=1";
    }
    ASSERT_TRUE(game->ends_empty()) << "PF_SEED=" << seed << " PF_TRACES=1";
    left_out += game->left_out;
    races += game->races;
    few += game->few;
    alone += game->alone;
    more += game->more;
    less += game->less;
  }
  if (count < 100) return;
  EXPECT_GT(alone, count);
  EXPECT_TRUE(count < 10'000 || more + less > 0);
  EXPECT_GT(left_out, count);
  EXPECT_GT(races, count);
  EXPECT_GT(few, count);
}

// A thread changes its place while another takes what is there again and again: what was told before that began is among what it gets, or was got before.
TEST(Atomics, InAPlaceAreThereForWhoAsks) {
  constexpr uint64_t kTakes = 20'000;
  told::Place place{};
  std::mutex granule;
  bool is_named = true;  // of the granule
  place.store(true, 1);
  std::atomic<uint64_t> told{1};
  std::atomic<bool> is_over{false};
  std::thread teller([&] {
    for (uint64_t i = 2; !is_over; ++i) {
      if (place.exchange(true, i) == told::kTaken) {
        const std::lock_guard guard(granule);
        place.store(false, 0);
        place.store(true, i);
        is_named = true;
      }
      told = i;
    }
  });
  uint64_t last = 0, too_old = 0, not_new = 0;
  for (uint64_t taken = 0; taken < kTakes;) {
    const uint64_t before = told;
    const std::lock_guard guard(granule);
    if (!std::exchange(is_named, false)) continue;
    place.take([&](uint64_t mark, bool) {
      not_new += mark <= last ? 1 : 0;
      last = mark;
      ++taken;
    });
    too_old += last < before ? 1 : 0;
  }
  is_over = true;
  teller.join();
  EXPECT_EQ(too_old, 0U);
  EXPECT_EQ(not_new, 0U);
}

}  // namespace
}  // namespace pf::rt
