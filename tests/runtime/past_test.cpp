// What is common past (runtime/past.h), with threads that do what chance says, and no runtime around them: locks, conditions, births, ends and
// joins, and looks at what all know while others go on. Who acts must know all that is common.
//
// PF_SEED=S sets the first seed, PF_TRACES=N the number of games; a failure prints its seed.
#include "runtime/past.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "runtime/options.h"
#include "runtime/registry.h"
#include "runtime/sleep.h"

namespace pf::rt {

// What past.cpp asks of the runtime.
namespace {

std::vector<Thread*> g_live;
uint32_t g_announced = 0, g_born = 0;
bool g_is_locked = false;
std::function<void()> g_meanwhile = [] {};

}  // namespace

Options g_options{};

namespace registry {
uint32_t announced() { return g_announced; }
uint32_t count() { return g_born; }
void for_each(void (*f)(Thread&, void*), void* argument) {
  g_meanwhile();
  g_is_locked = true;
  for (Thread* t : g_live) {
    f(*t, argument);
    g_meanwhile();
  }
  g_is_locked = false;
  g_meanwhile();
}
}  // namespace registry

namespace slots {
uint32_t count() { return g_born; }
}  // namespace slots

namespace past {
namespace {

constexpr unsigned kMost = 12;
using Knowledge = std::array<Clock, kMost>;

void join(Knowledge& to, const Knowledge& from) {
  std::ranges::transform(to, from, to.begin(), [](Clock a, Clock b) { return std::max(a, b); });
}

enum class Doing { Nothing, Announced, Acts, Waits, WakesUp, Joins, Ended };

struct Actor {
  Thread thread{};
  ThreadInfo info{};
  Doing doing = Doing::Nothing;
  Knowledge knows{}, told{};  // its own tick is not over yet
  unsigned condition = 0, child = 0;
};

struct Condition {
  sleep::Waiters waiters{};
  std::vector<unsigned> asleep;  // who is woken up by the next notification
};

class Game {
 public:
  explicit Game(uint64_t seed) : random_(seed) {
    g_options.forget = Forget::Eagerly;
    std::ranges::fill(g_common, Clock{0});
    g_live.clear();
    g_born = g_announced = 0;
    for (auto& a : actors_) a = std::make_unique<Actor>();
    begin(born(Knowledge{}));
    g_meanwhile = [this] {
      while (is_looked_at_ && draw(6) != 0) step();
    };
  }
  ~Game() {
    g_meanwhile = [] {};
  }

  void play(unsigned steps) {
    for (unsigned i = 0; i < steps && !is_wrong(); ++i) step();
  }
  // Somebody acted who did not know what was common.
  bool is_wrong() const { return is_wrong_; }
  unsigned sleepers_passed_over() const { return passed_over_; }
  static Clock common() { return *std::ranges::max_element(g_common); }

 private:
  unsigned draw(unsigned below) { return static_cast<unsigned>(random_() % below); }
  Actor& at(unsigned i) { return *actors_[i]; }

  void step() {
    const unsigned i = draw(g_born);
    Actor& a = at(i);
    switch (a.doing) {
      case Doing::Announced:
        if (!g_is_locked) begin(i);
        break;
      case Doing::WakesUp: wake(a, true); break;
      case Doing::Joins:
        if (at(a.child).doing == Doing::Ended) end_join(a);
        break;
      case Doing::Acts: act(i); break;
      default: break;
    }
  }
  void act(unsigned i) {
    Actor& a = at(i);
    check(i);
    switch (draw(12)) {
      case 0:
      case 1: return release(i, locks_[draw(2)]);
      case 2:
      case 3:
      case 4: return join(a.knows, locks_[draw(2)]);
      case 5: return wait(i, draw(2));
      case 6: return notify(i, draw(2), draw(2) == 0);
      case 7:
        if (g_born < kMost) announce(i);
        return;
      case 8:
        if (i != 0 && !g_is_locked && draw(4) == 0) end(i);
        return;
      case 9: return begin_join(i, draw(g_born));
      default: return show(i);
    }
  }
  void check(unsigned i) {
    for (unsigned s = 0; s < kMost; ++s) is_wrong_ |= known(i, s) < g_common[s];
  }
  Clock known(unsigned i, unsigned slot) { return at(i).knows[slot] - (slot == i ? 1 : 0); }

  void release(unsigned i, Knowledge& into) {
    join(into, at(i).knows);
    ++at(i).knows[i];
  }
  void show(unsigned i) {
    for (unsigned s = 0; s < g_born; ++s) past::show(at(i).thread, Slot{s}, known(i, s));
    if (is_looked_at_) return;
    is_looked_at_ = true;
    const bool sleeps = std::ranges::any_of(actors_, [](auto& a) { return a->doing == Doing::Waits; });
    const Clock before = common();
    look(at(i).thread);
    passed_over_ += sleeps && common() != before ? 1 : 0;
    is_looked_at_ = false;
  }

  void wait(unsigned i, unsigned condition) {
    Actor& a = at(i);
    a.condition = condition;
    a.told = {};
    sleep::expect(a.thread, conditions_[condition].waiters);
    const bool has_an_end = draw(4) == 0;
    if (!has_an_end) sleep::begin(a.thread);
    conditions_[condition].asleep.push_back(i);
    a.doing = Doing::Waits;
    if (!has_an_end) return;
    std::erase(conditions_[condition].asleep, i);
    wake(a, false);
  }
  void notify(unsigned i, unsigned condition, bool all) {
    Condition& c = conditions_[condition];
    for (auto& other : actors_) {
      const bool waits = other->doing == Doing::Waits || other->doing == Doing::WakesUp;
      if (waits && other->condition == condition) join(other->told, at(i).knows);
    }
    ++at(i).knows[i];
    sleep::notify(c.waiters, all);
    for (std::size_t n = all ? c.asleep.size() : std::min<std::size_t>(1, c.asleep.size()); n != 0; --n) {
      const auto whom = c.asleep.begin() + draw(static_cast<unsigned>(c.asleep.size()));
      at(*whom).doing = Doing::WakesUp;
      c.asleep.erase(whom);
    }
  }
  void wake(Actor& a, bool by_notice) {
    sleep::end(a.thread);
    join(a.knows, a.told);
    sleep::wake(a.thread, conditions_[a.condition].waiters, by_notice);
    a.doing = Doing::Acts;
  }

  unsigned born(const Knowledge& parents) {
    const unsigned i = g_born++;
    ++g_announced;
    Actor& a = at(i);
    a.doing = Doing::Announced;
    a.knows = parents;
    a.knows[i] = 1;
    a.thread.info = &a.info;
    return i;
  }
  void announce(unsigned i) {
    born(at(i).knows);
    ++at(i).knows[i];
  }
  void begin(unsigned i) {
    --g_announced;
    at(i).info.is_live = true;
    at(i).doing = Doing::Acts;
    g_live.push_back(&at(i).thread);
  }
  void end(unsigned i) {
    at(i).info.is_live = false;
    at(i).doing = Doing::Ended;
    std::erase(g_live, &at(i).thread);
  }
  void begin_join(unsigned i, unsigned child) {
    if (child == i || child == 0 || at(child).doing == Doing::Joins) return;
    at(i).child = child;
    at(i).doing = Doing::Joins;
    sleep::begin_join(at(i).thread, at(child).info);
  }
  void end_join(Actor& a) {
    join(a.knows, at(a.child).knows);
    sleep::end_join(a.thread);
    a.doing = Doing::Acts;
  }

  std::mt19937_64 random_;
  std::array<std::unique_ptr<Actor>, kMost> actors_;
  std::array<Knowledge, 2> locks_{};
  std::array<Condition, 2> conditions_;
  bool is_looked_at_ = false, is_wrong_ = false;
  unsigned passed_over_ = 0;
};

uint64_t from_environment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(Past, is_known_to_all_who_act) {
  const uint64_t first = from_environment("PF_SEED", 1), games = from_environment("PF_TRACES", 20'000);
  unsigned common = 0, passed_over = 0;
  for (uint64_t seed = first; seed < first + games; ++seed) {
    Game game(seed);
    game.play(400);
    ASSERT_FALSE(game.is_wrong()) << "PF_SEED=" << seed << " PF_TRACES=1";
    common += Game::common() > 3 ? 1 : 0;
    passed_over += game.sleepers_passed_over();
  }
  // Else nothing was tested.
  EXPECT_GT(common, games / 8);
  EXPECT_GT(passed_over, games / 8);
}

// Two threads; the first knows the second up to tick 5.
class TwoThreads : public testing::Test {
 protected:
  TwoThreads() {
    std::ranges::fill(g_common, Clock{0});
    g_options.forget = Forget::Eagerly;
    g_live = {&knows_.thread, &other_.thread};
    g_born = 2;
    g_announced = 0;
    for (Actor* a : {&knows_, &other_}) {
      a->thread.info = &a->info;
      a->info.is_live = true;
    }
    past::show(knows_.thread, Slot{1}, 5);
  }
  Clock look() {
    past::look(knows_.thread);
    return g_common[1];
  }
  void put_other_to_sleep() {
    sleep::expect(other_.thread, waiters_);
    sleep::begin(other_.thread);
  }
  void notify_two_of_whom_one_wakes(bool all, bool by_notice) {
    put_other_to_sleep();
    sleep::expect(third_.thread, waiters_);
    sleep::notify(waiters_, all);
    sleep::wake(third_.thread, waiters_, by_notice);
  }
  Actor knows_, other_, third_;
  sleep::Waiters waiters_{};
};

TEST_F(TwoThreads, nothing_is_common_that_one_does_not_know) { EXPECT_EQ(look(), 0U); }

TEST_F(TwoThreads, what_both_know_is_common) {
  past::show(other_.thread, Slot{1}, 3);
  EXPECT_EQ(look(), 3U);
}

TEST_F(TwoThreads, nothing_is_if_both_sleep) {
  sleep::begin_join(knows_.thread, other_.info);
  sleep::begin_join(other_.thread, knows_.info);
  EXPECT_EQ(look(), 0U);
}

TEST_F(TwoThreads, who_sleeps_is_not_asked) {
  put_other_to_sleep();
  EXPECT_EQ(look(), 5U);
}

TEST_F(TwoThreads, who_is_notified_sleeps_no_more) {
  put_other_to_sleep();
  sleep::notify(waiters_, false);
  EXPECT_EQ(look(), 0U);
}

TEST_F(TwoThreads, who_was_not_the_one_to_wake_up_sleeps_on) {
  notify_two_of_whom_one_wakes(false, true);
  EXPECT_EQ(look(), 5U);
}

TEST_F(TwoThreads, where_all_are_notified_nobody_sleeps_on) {
  notify_two_of_whom_one_wakes(true, true);
  EXPECT_EQ(look(), 0U);
}

TEST_F(TwoThreads, who_gave_up_was_perhaps_not_the_one) {
  notify_two_of_whom_one_wakes(false, false);
  EXPECT_EQ(look(), 0U);
}

TEST_F(TwoThreads, another_condition_in_the_same_place_is_not_what_it_sleeps_for) {
  put_other_to_sleep();
  sleep::notify(waiters_, true);
  waiters_ = {};
  EXPECT_EQ(look(), 0U);
}

TEST_F(TwoThreads, whose_child_has_ended_sleeps_no_more) {
  sleep::begin_join(other_.thread, knows_.info);
  EXPECT_EQ(look(), 5U);
  std::ranges::fill(g_common, Clock{0});
  knows_.info.is_live = false;
  EXPECT_EQ(look(), 0U);
}

TEST_F(TwoThreads, nothing_is_forgotten_if_the_user_says_so) {
  past::show(other_.thread, Slot{1}, 3);
  g_options.forget = Forget::Nothing;
  EXPECT_EQ(look(), 0U);
}

// From here on nobody is counted on: these are the last.
TEST_F(TwoThreads, handlers_of_signals_that_end_programs_are_not_expected) {
  expect_handler(SIGINT);
  be_interrupted(other_.thread);  // it is awake
  sleep::begin_join(other_.thread, knows_.info);
  EXPECT_EQ(look(), 5U);
}

TEST_F(TwoThreads, who_is_interrupted_in_its_sleep_shows_that_sleepers_act) {
  sleep::begin_join(other_.thread, knows_.info);
  be_interrupted(other_.thread);
  EXPECT_EQ(look(), 0U);
}

}  // namespace
}  // namespace past
}  // namespace pf::rt
