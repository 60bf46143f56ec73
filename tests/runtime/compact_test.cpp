// The words of a granule (runtime/compact.h) against FastTrack's rules for each byte by itself: random reads, writes, frees and
// clears of any bytes by threads that now and then synchronize. Whatever form the granule is in, each access must meet the very
// epochs that its bytes remember, and name an access that touched the byte. Now and then what all of them know becomes common past, which
// may be forgotten.
//
// PF_SEED=S sets the first seed, PF_TRACES=N their number; a failure prints its seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "runtime/actor_slots.h"
#include "runtime/compact.h"

namespace pf::rt {
namespace {

using D = FastTrack<OnlineEnv>;
using Store = CompactStore<D>;

uint64_t from_environment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

using Moment = std::pair<uint32_t, uint32_t>;  // slot, clock
Moment moment(OnlineEpoch e) { return {index(e.slot()), e.clock()}; }
struct Met {
  unsigned byte;
  Moment at;
  friend auto operator<=>(const Met&, const Met&) = default;
};

struct Actor {
  Arena arena;
  OnlineEnv env;
  D::Thread state{};
  Store::Now now;

  Actor() { env.arena = &arena; }
  void renew() {
    Store::renew(now, state);
    env.learn();
  }
  Moment here() const { return moment(D::epoch(state)); }
  bool comes_after(Moment m) const { return D::ordered({Slot{m.first}, m.second}, state); }
};

// One byte, as the rules have it.
class Byte {
 public:
  // Whether there is nothing new in the access.
  bool is_same_epoch(Op op, const Actor& t) const {
    if (op == Op::Free) return false;
    return write_ == t.here() || (op == Op::Read && reads_.contains(t.here()));
  }
  // The epochs that it meets.
  std::set<Moment> met(Op op, const Actor& t) const {
    std::set<Moment> met;
    if (write_.second != 0 && !t.comes_after(write_)) met.insert(write_);
    for (const Moment& m : reads_) {
      if (op != Op::Read && !t.comes_after(m)) met.insert(m);
    }
    return met;
  }
  void access(Op op, const Actor& t, depot::Id id) {
    touched_[t.here()].insert(id);
    if (op != Op::Read) {
      write_ = t.here();
      reads_.clear();
      return;
    }
    std::erase_if(reads_, [&](Moment m) { return t.comes_after(m); });
    reads_.insert(t.here());
  }
  bool was_touched(Moment m, depot::Id id) const {
    const auto it = touched_.find(m);
    return it != touched_.end() && it->second.contains(id);
  }

 private:
  Moment write_{};
  std::set<Moment> reads_;
  std::map<Moment, std::set<depot::Id>> touched_;
};

bool is_common(OnlineEpoch e) { return past::is_common(index(e.slot()), e.clock()); }
void forget_common_past() { std::ranges::fill(past::g_common, past::Clock{0}); }

class Game {
 public:
  static constexpr unsigned kActors = 4, kGranules = 6, kLocks = 3;
  unsigned rests = 0, lists = 0, sets = 0, at_once = 0, left = 0, races = 0;

  explicit Game(uint64_t seed) : random_(seed), granules_(kGranules) {
    for (auto& a : actors_) a = std::make_unique<Actor>();
    for (unsigned i = 0; i < kActors; ++i) {
      D::start(actors_[i]->state, ThreadId{i}, slot_of_actor(i));
      if (i != 0) D::fork(actors_[0]->state, actors_[i]->state, actors_[0]->env);
    }
    for (auto& a : actors_) a->renew();
    knows_past_ = draw(2) == 0;
    sync_share_ = 1 + draw(30);
    places_ = 1 + draw(12);
    stay_ = draw(2) == 0 ? 1 : 1 + draw(60);
  }
  ~Game() { forget_common_past(); }

  // What is wrong, or nothing.
  std::string step() {
    if (draw(stay_) == 0) actor_ = draw(kActors);
    Actor& t = *actors_[actor_];
    if (draw(100) < sync_share_) return sync(t), "";
    const unsigned granule = draw(kGranules), size = 1U << draw(4), first = draw(9 - size);
    const auto bytes = static_cast<uint8_t>(((1U << size) - 1) << first);
    const unsigned what = draw(100);
    if (what == 0) return clear(t, granule, draw(2) == 0 ? uint8_t{0xFF} : bytes), "";
    if (what == 1)
      return Store::visit(cells()[granule], bytes, t.env, [](D::Var&) {}), "";  // apart, and together again
    if (what == 2) return access<Op::Free>(t, granule, bytes, place(2));
    if (what == 3) return Store::forget(cells()[granule], t.env, &is_common), "";
    if (what < 20) return sweep<Op::Read>(t, bytes);
    if (what < 30) return sweep<Op::Write>(t, bytes);
    return what < 70 ? access<Op::Read>(t, granule, bytes, place(0)) : access<Op::Write>(t, granule, bytes, place(1));
  }
  // Everything forgotten leaves nothing; so does everything known.
  bool ends_empty() {
    for (unsigned g = 0; g < kGranules; ++g) {
      if (knows_past_) {
        Store::forget(cells()[g], actors_[0]->env, [](OnlineEpoch) { return true; });
      } else {
        clear(*actors_[0], g, 0xFF);
      }
      if (!Store::empty(cells()[g])) return false;
    }
    return true;
  }

 private:
  unsigned draw(unsigned below) { return static_cast<unsigned>(random_() % below); }

  static Store::Cell* cells() {
    static auto* cells = static_cast<Store::Cell*>(map_or_die(Store::kRestsOffset * 2, "cells"));
    return cells;
  }

  void sync(Actor& t) {
    D::Lock& lock = locks_[draw(kLocks)];
    draw(2) == 0 ? D::release(t.state, lock, t.env) : D::acquire(t.state, lock, t.env);
    t.renew();
    for (unsigned i = 0; i < kActors && knows_past_; ++i) {
      past::Clock least = ~past::Clock{0};
      for (const auto& a : actors_) least = std::min(least, D::known(a->state, slot_of_actor(i)));
      past::g_common[index(slot_of_actor(i))] = least;
    }
  }
  void clear(Actor& t, unsigned granule, uint8_t bytes) {
    Store::clear(cells()[granule], bytes, t.env);
    for (unsigned i = 0; i < 8; ++i) {
      if ((bytes >> i & 1) != 0) granules_[granule][i] = {};
    }
  }

  // Each operation has places of its own.
  depot::Id place(unsigned kind) { return 1 + draw(places_) * 3 + kind; }
  // A loop over an array, or over a range that ends within a granule: one place, all granules.
  template <Op kOp>
  std::string sweep(Actor& t, uint8_t bytes) {
    const depot::Id id = place(kOp == Op::Read ? 0 : 1);
    const bool is_range = draw(2) == 0;
    std::string wrong;
    Store::Last last;
    for (unsigned g = 0; g < kGranules && wrong.empty(); ++g)
      wrong = access<kOp>(t, g, is_range && g + 1 != kGranules ? uint8_t{0xFF} : bytes, id, last);
    return wrong;
  }

  template <Op kOp>
  std::string access(Actor& t, unsigned granule, uint8_t bytes, depot::Id id) {
    Store::Last none;
    return access<kOp>(t, granule, bytes, id, none);
  }
  template <Op kOp>
  std::string access(Actor& t, unsigned granule, uint8_t bytes, depot::Id id, Store::Last& last) {
    std::set<Met> expected;
    bool is_known = true;
    for (unsigned i = 0; i < 8; ++i) {
      if ((bytes >> i & 1) == 0) continue;
      const Byte& b = granules_[granule][i];
      is_known = is_known && b.is_same_epoch(kOp, t);
      for (const Moment& m : b.met(kOp, t)) expected.insert({i, m});
    }
    const Store::Cell& cell = cells()[granule];
    if ((kOp != Op::Free && Store::same_epoch<kOp>(cell, bytes, t.now)) ||
        (kOp == Op::Read && Store::both_are_same_epoch(cell, bytes, t.now)))
      return is_known ? "" : "taken for an access of the same epoch";
    const std::set<Met> met = play<kOp>(t, granule, bytes, id, last);
    races += static_cast<unsigned>(met.size());
    if (!std::ranges::includes(met, expected)) return "a race was missed";
    if (!std::ranges::includes(expected, met)) return "a race that is none";
    for (const Met& m : met) {
      if (!granules_[granule][m.byte].was_touched(m.at, named_[m])) return "an access that did not touch the byte";
    }
    for (unsigned i = 0; i < 8; ++i) {
      if ((bytes >> i & 1) != 0) granules_[granule][i].access(kOp, t, id);
    }
    look_at(cells()[granule]);
    return "";
  }

  // As the host does.
  template <Op kOp>
  std::set<Met> play(Actor& t, unsigned granule, uint8_t bytes, depot::Id id, Store::Last& last) {
    Store::Cell& cell = cells()[granule];
    const auto a = Store::access(id);
    t.env.is_alone = draw(2) == 0;  // then it needs no lock, and that is all
    const bool is_settled = draw(2) == 0
                                ? Store::settle_next_at_once<kOp>(cell, bytes, a, t.now, t.state, t.env.is_alone, last)
                                : Store::settle_at_once<kOp>(cell, bytes, a, t.now, t.state, t.env.is_alone);
    if (is_settled) {
      ++at_once;
      left += (cell.mark[0] & 1U << 10) != 0 ? 1 : 0;  // with what is behind the cell left as it was
      return {};
    }
    t.env.at = uintptr_t{granule} * 8;
    t.env.joined = 0;
    Store::visit_plain<kOp>(cell, Deed{}.to(bytes), a, t.now, t.state, t.env, [&](D::Var& x) {
      kOp == Op::Read ? D::read(t.state, x, a, t.env) : D::write(t.state, x, a, t.env);
      if (kOp != Op::Free) return;
      D::clear(x, t.env);
      D::write(t.state, x, a, t.env);
    });
    if (kOp == Op::Read) Store::note_readers(t.env, t.now);
    std::set<Met> met;
    named_.clear();
    t.env.take_found([&](const OnlineEnv::Found& f) {
      for (unsigned i = 0; i < 8; ++i) {
        if ((f.bytes >> i & 1) == 0) continue;
        const Met m{i, moment(f.prior.epoch)};
        met.insert(m);
        named_[m] = groups::access_at(f.prior.access.id, i);
      }
    });
    return met;
  }

  void look_at(const Store::Cell& cell) {
    constexpr uint64_t kFlag = 1U << 8, kMore = 1U << 10, kForm = 0x7FF;
    const auto* rest = &cells()[Store::kRestsOffset / sizeof cell + static_cast<std::size_t>(&cell - cells())];
    const bool is_more = (cell.mark[0] & kMore) != 0;
    rests += is_more ? 1 : 0;
    lists += is_more && (rest->mark[1] & kForm) == kFlag ? 1 : 0;
    sets += (cell.mark[1] & kForm & ~0xFFU) == (kFlag | 1U << 9) ? 1 : 0;
  }

  std::mt19937_64 random_;
  unsigned sync_share_ = 0, places_ = 0, stay_ = 1, actor_ = 0;
  bool knows_past_ = false;
  std::unique_ptr<Actor> actors_[kActors];
  D::Lock locks_[kLocks];
  std::vector<std::array<Byte, 8>> granules_;
  std::map<Met, depot::Id> named_;
};

// A thread writes, and then reads half of the bytes, each in an epoch of its own.
class Forgetting : public testing::Test {
 protected:
  Forgetting() {
    forget_common_past();
    D::start(actor_.state, ThreadId{0}, slot_of_actor(0));
    cells_ = static_cast<Store::Cell*>(map_or_die(Store::kRestsOffset * 2, "cells"));
    access<Op::Write>(0xFF);
    access<Op::Read>(0x0F);
  }
  ~Forgetting() override { forget_common_past(); }
  template <Op kOp>
  void access(uint8_t bytes) {
    actor_.renew();
    const auto a = Store::access(1);
    if (!Store::settle_at_once<kOp>(*cells_, bytes, a, actor_.now, actor_.state, false))
      Store::visit_plain<kOp>(*cells_, Deed{}.to(bytes), a, actor_.now, actor_.state, actor_.env, [](D::Var&) {});
    D::release(actor_.state, lock_, actor_.env);
  }
  bool has_rest() const { return (cells_->mark[0] & 1U << 10) != 0; }
  bool is_write_in_rest() const {
    const uint64_t* rest = cells_[Store::kRestsOffset / sizeof *cells_].mark;
    return ((rest[0] | rest[1]) & 1U << 9) != 0;
  }
  static past::Clock& common() { return past::g_common[index(slot_of_actor(0))]; }

  Actor actor_;
  D::Lock lock_;
  Store::Cell* cells_;
};

TEST_F(Forgetting, KeepsWhatMayRace) {
  access<Op::Read>(0xF0);
  EXPECT_TRUE(has_rest());
  EXPECT_NE(cells_->mark[1], 0U);
}
TEST_F(Forgetting, ForgetsTheCommonPast) {
  common() = 1;  // the write
  access<Op::Read>(0xF0);
  EXPECT_FALSE(has_rest());
  EXPECT_NE(cells_->mark[1], 0U);
}
TEST_F(Forgetting, ForgetsEvenWhereThereIsRoom) {
  access<Op::Write>(0xFF);
  common() = 3;
  access<Op::Read>(0xF0);
  EXPECT_EQ(cells_->mark[1], 0U);
}
// Its own words behind the cell it leaves alone while there is room before them.
TEST_F(Forgetting, ForgetsWhatIsInTheRestWhenItNeedsRoom) {
  access<Op::Read>(0xF0);
  common() = 1;  // the write, which is in the rest
  access<Op::Read>(0xF0);
  EXPECT_TRUE(has_rest());
  EXPECT_TRUE(is_write_in_rest());
  access<Op::Read>(0x80);
  EXPECT_TRUE(has_rest());
  EXPECT_FALSE(is_write_in_rest());
}
TEST_F(Forgetting, ForgetsWhatIsInTheRestWithTheOthers) {
  access<Op::Read>(0xF0);
  access<Op::Read>(0xF0);
  Store::forget(*cells_, actor_.env, [](OnlineEpoch e) { return e.clock() == 1; });
  EXPECT_FALSE(has_rest());
  EXPECT_NE(cells_->mark[1], 0U);
}

// However many sets of readers a thread joined, it is in none of them at its next epoch.
TEST(Now, KnowsSetsForOneEpoch) {
  for (const uint64_t sets : {1U, 64U, 65U, 3000U}) {
    Actor actor;
    D::Lock lock;
    D::start(actor.state, ThreadId{0}, slot_of_actor(0));
    actor.renew();
    for (uint64_t i = 1; i <= sets; ++i) {
      actor.env.joined = i << 11;
      Store::note_readers(actor.env, actor.now);
      ASSERT_EQ(actor.now.known(actor.env.joined), actor.env.joined);
    }
    D::release(actor.state, lock, actor.env);
    actor.renew();
    for (uint64_t i = 1; i <= sets; ++i) ASSERT_EQ(actor.now.known(i << 11), 0U) << sets;
  }
}

OnlineEpoch::Clock g_unknown = 0;

// A write, a read of half of the bytes, and atomics of either half.
TEST_F(Forgetting, ForgetsPiecesIfAllIsKnown) {
  for (const uint8_t half : {uint8_t{0x0F}, uint8_t{0xF0}}) {
    actor_.renew();
    Store::visit(*cells_, half, actor_.env,
                 [&](D::Var& x) { D::atomic_write(actor_.state, x, Store::access(1), actor_.env); });
    D::release(actor_.state, lock_, actor_.env);
  }
  for (g_unknown = 4; g_unknown != 0; --g_unknown) {
    Store::forget(*cells_, actor_.env, [](OnlineEpoch e) { return e.clock() != g_unknown; });
    EXPECT_FALSE(Store::empty(*cells_)) << g_unknown;
  }
  Store::forget(*cells_, actor_.env, [](OnlineEpoch) { return true; });
  EXPECT_TRUE(Store::empty(*cells_));
}

TEST(Compact, IsFastTrackForEachByte) {
  const uint64_t first = from_environment("PF_SEED", 1), count = from_environment("PF_TRACES", 400);
  unsigned rests = 0, lists = 0, sets = 0, at_once = 0, left = 0, races = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    Game game(seed);
    for (unsigned i = 0; i < 600; ++i) {
      const std::string wrong = game.step();
      ASSERT_EQ(wrong, "") << "step " << i << ": PF_SEED=" << seed << " PF_TRACES=1";
    }
    ASSERT_TRUE(game.ends_empty()) << "PF_SEED=" << seed << " PF_TRACES=1";
    rests += game.rests;
    lists += game.lists;
    sets += game.sets;
    at_once += game.at_once;
    left += game.left;
    races += game.races;
  }
  if (count < 100) return;
  EXPECT_GT(rests, count);  // every form was there
  EXPECT_GT(lists, count);
  EXPECT_GT(sets, count);
  EXPECT_GT(at_once, count);
  EXPECT_GT(left, count);
  EXPECT_GT(races, count);
}

}  // namespace
}  // namespace pf::rt
