// When there is rest (runtime/rest.h), with threads that know what the test says, and no runtime around them. Everything happens on one
// thread, in the order that it is written in: what would take luck in a program.
#include "runtime/rest.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "runtime/options.h"
#include "runtime/quiet.h"
#include "runtime/registry.h"
#include "runtime/sampling.h"

namespace pf::rt {

// What rest.cpp asks of the runtime.
namespace {

std::vector<std::unique_ptr<Thread>> g_live;
uint32_t g_announced = 0;
std::function<void()> g_at_visit = [] {}, g_at_end_of_recording = [] {};
bool g_no_memory_matters = false;
int g_recording = 0;
std::vector<bool> g_sweeps;  // whether each gave pages back
bool g_is_swept_by_another = false;

}  // namespace

Options g_options{};
void deliver_pending_signals(Thread&) {}

namespace registry {
uint32_t announced() { return g_announced; }
void for_each(void (*f)(Thread&, void*), void* argument) {
  g_at_visit();
  for (const auto& t : g_live) f(*t, argument);
}
}  // namespace registry

namespace quiet {
constinit uint8_t g_nothing[kBytes] = {};
void set_rest() { g_no_memory_matters = true; }
void begin_recording() { ++g_recording; }
void end_recording() {
  --g_recording;
  g_at_end_of_recording();
}
void start_in_child(bool) {}
bool sweep(Thread&, const Forgetting&, bool gives_back) {
  if (g_is_swept_by_another) return false;
  g_sweeps.push_back(gives_back);
  sys::sleep_ms(200);
  return true;
}
}  // namespace quiet

namespace sampling {
constinit uint32_t g_period = 0;
void end_rest() { rest::end(); }
}  // namespace sampling

namespace rest {
namespace {

// Of each thread its epoch, and the latest clocks of others that it knows of.
std::map<const Thread*, OnlineEpoch> g_now;
std::map<const Thread*, std::map<Slot, OnlineEpoch::Clock>> g_known;
const Thread* g_has_told_nobody = nullptr;
unsigned g_rests_found = 0;  // as seek() said
Slot g_first_slot{};         // of this test: what earlier ones sampled is known to all

bool knows(const Thread& t, OnlineEpoch e) {
  return e.slot() < g_first_slot || e.slot() == g_now[&t].slot() || g_known[&t][e.slot()] >= e.clock();
}

// Two threads have left a period, in which the first one sampled at its epoch 1.
class Rest : public testing::Test {
 protected:
  void SetUp() override {
    sys::register_barrier_on_all_threads();
    allow({[](const Thread& t) { return g_now[&t]; },
           [](const Thread& t) { return g_has_told_nobody == &t; },
           &knows,
           [](Thread& t, OnlineEpoch e) { g_known[&t][e.slot()] = e.clock(); },
           {}});
    g_has_told_nobody = nullptr;
    g_rests_found = 0;
    g_live.clear();
    g_announced = 0;
    g_at_visit = [] {};
    g_first_slot = Slot{next_slot_};
    sampler_ = &new_thread();
    other_ = &new_thread();
    begin_period();
    see_period(*sampler_);
    see_period(*other_);
  }
  void TearDown() override { end(); }

  static Thread& new_thread() {
    g_live.push_back(std::make_unique<Thread>());
    Thread& t = *g_live.back();
    t.period = sampling::period();
    g_now[&t] = OnlineEpoch{Slot{next_slot_++}, 1};
    g_known[&t] = {};
    return t;
  }
  static void tick(const Thread& t) { g_now[&t] = OnlineEpoch{g_now[&t].slot(), g_now[&t].clock() + 1}; }

  static void begin_period() {
    end();
    g_no_memory_matters = false;
    ++sampling::g_period;
  }
  static void see_period(Thread& t) {
    forget_knowledge(t);
    may_sample();
    t.period = sampling::period();
  }
  static void leave_period(Thread& t, bool has_sampled) {
    forget_knowledge(t);
    t.period = sampling::period();
    samples_no_more(g_now[&t], has_sampled);
  }
  // All that the setup began.
  void end_period() const {
    ++sampling::g_period;
    leave_period(*sampler_, true);
    leave_period(*other_, false);
  }
  static void tell(const Thread& whom, const Thread& of) { g_known[&whom][g_now[&of].slot()] = g_now[&of].clock(); }

  static void fall_asleep(Thread& t, const Notices& notices, bool releases = true) {
    expect_notices(t, notices);
    if (releases && (t.period & 1) != 0) tick(t);
    begin_wait(t, true);
  }

  // After looks enough of each.
  static bool is_found() {
    for (unsigned i = 0; i < 128 && !is_on(); ++i) {
      for (const auto& t : g_live) {
        if (t->awaits == nullptr && t->joins == nullptr && !is_on() && seek(*t)) ++g_rests_found;
      }
    }
    return is_on() && g_no_memory_matters;
  }

  static inline uint32_t next_slot_ = 0;
  Thread *sampler_ = nullptr, *other_ = nullptr;
};

// The first test: nothing was sampled yet. In a process of its own, since handlers are expected for good.
TEST(RestAtStart, CountsOnNobodysSleep) {
  sys::register_barrier_on_all_threads();
  allow({});
  begin_at_start();
  const auto has_rest_after_a_handler = [] {
    expect_interruptions();
    return is_on();
  };
  EXPECT_EXIT(std::exit(has_rest_after_a_handler() ? 0 : 1), testing::ExitedWithCode(0), "");
  end();
}

// The second: who is in the first period of all knows no less than the others, by count.
TEST(RestAtStart, IsNotFoundInTheFirstPeriod) {
  g_live.push_back(std::make_unique<Thread>());
  Thread& t = *g_live.back();
  ++sampling::g_period;
  forget_knowledge(t);
  may_sample();
  t.period = sampling::period();
  ++sampling::g_period;  // which it has not left
  seek(t);
  EXPECT_FALSE(is_on());
  t.period = sampling::period();
  samples_no_more({}, false);
}

TEST_F(Rest, WhenAllKnow) {
  end_period();
  EXPECT_FALSE(is_found());
  tell(*other_, *sampler_);
  EXPECT_TRUE(is_found());
}

TEST_F(Rest, WhatWasSampledMayBeForgotten) {
  const OnlineEpoch sampled = g_now[sampler_];
  end_period();
  EXPECT_FALSE(is_found());
  EXPECT_EQ(g_rests_found, 0U);
  EXPECT_FALSE(is_known_to_all(sampled));
  tell(*other_, *sampler_);
  EXPECT_TRUE(is_found());
  EXPECT_EQ(g_rests_found, 1U);
  EXPECT_TRUE(is_known_to_all(sampled));
  EXPECT_FALSE(is_known_to_all({sampled.slot(), sampled.clock() + 1}));
  EXPECT_FALSE(is_known_to_all({Slot{next_slot_ + 1000}, 1}));
  begin_period();
  see_period(*sampler_);
  tick(*sampler_);
  EXPECT_TRUE(is_known_to_all(sampled)) << "for good";
  EXPECT_FALSE(is_known_to_all(g_now[sampler_]));
  ++sampling::g_period;
  leave_period(*sampler_, true);
}

TEST_F(Rest, ButNotWhatWhoWaitsHasToldNobody) {
  tick(*sampler_);
  const OnlineEpoch untold = g_now[sampler_];
  end_period();
  g_known[other_][untold.slot()] = untold.clock() - 1;
  g_has_told_nobody = sampler_;
  begin_join(*sampler_, other_);
  EXPECT_FALSE(is_found());
  EXPECT_TRUE(is_on()) << "but memory is looked at";
  EXPECT_TRUE(is_known_to_all({untold.slot(), untold.clock() - 1}));
  EXPECT_FALSE(is_known_to_all(untold));
  end_join(*sampler_);
  EXPECT_FALSE(is_on());
  EXPECT_FALSE(is_found());
  tell(*other_, *sampler_);
  EXPECT_TRUE(is_found());
}

TEST_F(Rest, WhoBeginsToJoinInThePeriodHasLeftIt) {
  tick(*sampler_);
  const OnlineEpoch untold = g_now[sampler_];
  const int all = g_recording;
  g_has_told_nobody = sampler_;
  g_at_end_of_recording = [&] { EXPECT_TRUE(sampler_->keeps_samples) << "or others would look at nothing meanwhile"; };
  begin_join(*sampler_, other_);
  g_at_end_of_recording = [] {};
  EXPECT_EQ(g_recording, all - 1);
  ++sampling::g_period;
  leave_period(*other_, false);
  g_known[other_][untold.slot()] = untold.clock() - 1;
  EXPECT_FALSE(is_found());
  EXPECT_TRUE(is_on());
  end_join(*sampler_);
  EXPECT_FALSE(is_on());
  EXPECT_EQ(g_recording, all - 1);
  EXPECT_TRUE(sampler_->has_left_period);
  leave_period(*sampler_, false);
  EXPECT_EQ(g_recording, all - 2);
  EXPECT_FALSE(is_found()) << "what it told nobody is news now";
  tell(*other_, *sampler_);
  EXPECT_TRUE(is_found());
}

TEST_F(Rest, WhoHasJoinedInThePeriodSamplesOn) {
  const int all = g_recording;
  g_has_told_nobody = sampler_;
  begin_join(*sampler_, other_);
  end_join(*sampler_);
  EXPECT_EQ(g_recording, all);
  EXPECT_FALSE(sampler_->has_left_period);
  end_period();
  EXPECT_EQ(g_recording, all - 2);
}

TEST_F(Rest, WhoMayBeInterruptedDoesNotLeaveThePeriodToJoin) {
  g_has_told_nobody = sampler_;
  const auto leaves = [&] {
    expect_interruptions();
    begin_join(*sampler_, other_);
    return sampler_->has_left_period;
  };
  EXPECT_EXIT(std::exit(leaves() ? 1 : 0), testing::ExitedWithCode(0), "");
  end_period();
}

// The only test that forgets: when the last time was is remembered for good.
TEST_F(Rest, ForgetsNotTooSoonAfterTheLastTime) {
  Arena arena;
  sampler_->arena = &arena;
  g_is_swept_by_another = true;
  forget_samples(*sampler_);
  EXPECT_TRUE(g_sweeps.empty());
  g_is_swept_by_another = false;
  forget_samples(*sampler_);
  EXPECT_EQ(g_sweeps, std::vector<bool>({true})) << "with pages, the first time; another's work was none";
  forget_samples(*sampler_);  // it took long: seconds do not matter yet
  EXPECT_EQ(g_sweeps.size(), 1U);
  end_period();
}

TEST_F(Rest, NotWhileSomebodyIsInThePeriod) {
  tell(*other_, *sampler_);
  ++sampling::g_period;
  leave_period(*other_, false);
  EXPECT_FALSE(is_found());
  leave_period(*sampler_, true);
  EXPECT_TRUE(is_found());
}

TEST_F(Rest, WhoMayRecordIsKnown) {
  const int all = g_recording;
  Notices notices{};
  fall_asleep(*other_, notices);
  EXPECT_EQ(g_recording, all - 1);
  end_wait(*other_);
  EXPECT_EQ(g_recording, all);
  end_period();
  EXPECT_EQ(g_recording, all - 2);
}

TEST_F(Rest, NotBeforeWhoWasCreatedHasBegun) {
  end_period();
  tell(*other_, *sampler_);
  g_announced = 1;
  EXPECT_FALSE(is_found());
  g_announced = 0;
  EXPECT_TRUE(is_found());
}

TEST_F(Rest, APeriodWaitsForOperationsUnderWay) {
  end_period();
  tell(*other_, *sampler_);
  ASSERT_TRUE(is_found());
  bool was_made = false;
  EXPECT_TRUE(make(*other_, [&] {
    begin_period();  // by somebody else, meanwhile
    unsigned visits = 0;
    g_at_visit = [&] { other_->at_rest = ++visits < 3; };
    see_period(*sampler_);
    wait_for_operations();
    EXPECT_GE(visits, 3U);
    EXPECT_FALSE(other_->at_rest);
    g_at_visit = [] {};
    was_made = true;
  }));
  EXPECT_TRUE(was_made);
  EXPECT_FALSE(make(*other_, [] {}));
  ++sampling::g_period;
  leave_period(*sampler_, false);
}

TEST_F(Rest, WhoWillBeNotifiedIsNotInTheWay) {
  Notices notices{};
  Thread& sleeper = new_thread();
  sleeper.period = 0;
  end_period();
  tell(*other_, *sampler_);
  EXPECT_FALSE(is_found());
  fall_asleep(sleeper, notices);
  EXPECT_TRUE(is_found());
  const OnlineEpoch sampled = g_now[sampler_];
  EXPECT_FALSE(knows(sleeper, sampled));
  end_wait(sleeper);
  EXPECT_TRUE(knows(sleeper, sampled));
}

TEST_F(Rest, IsOverWhenWhoSleepsMayBeInterrupted) {
  Notices notices{};
  Thread& sleeper = new_thread();
  sleeper.period = 0;
  end_period();
  tell(*other_, *sampler_);
  fall_asleep(sleeper, notices);
  ASSERT_TRUE(is_found());
  const auto has_rest_after_a_handler = [] {
    expect_interruptions();
    return is_on() || is_found();
  };
  EXPECT_EXIT(std::exit(has_rest_after_a_handler() ? 1 : 0), testing::ExitedWithCode(0), "");
  end_wait(sleeper);
}

TEST_F(Rest, WhoWaitsForATimeIs) {
  Notices notices{};
  Thread& sleeper = new_thread();
  sleeper.period = 0;
  end_period();
  tell(*other_, *sampler_);
  expect_notices(sleeper, notices);
  begin_wait(sleeper, false);
  EXPECT_FALSE(is_found());
}

TEST_F(Rest, WhoWasNotifiedWithoutTheNewsIs) {
  Notices notices{};
  Thread& sleeper = new_thread();
  sleeper.period = 0;
  fall_asleep(sleeper, notices);
  end_period();
  notify(*other_, notices);
  tell(*other_, *sampler_);
  EXPECT_FALSE(is_found());
  notify(*other_, notices);  // who knows by now, and has found that out
  EXPECT_TRUE(is_found());
}

TEST_F(Rest, WhoCameAfterANotificationWasNotTold) {
  Notices notices{};
  Thread &sleeper = new_thread(), &third = new_thread();
  sleeper.period = third.period = 0;
  end_period();
  tell(*other_, *sampler_);
  EXPECT_FALSE(is_found());
  notify(*other_, notices);  // who knows
  fall_asleep(sleeper, notices);
  notify(third, notices);  // who does not
  tell(third, *sampler_);
  EXPECT_FALSE(is_found());
  notify(third, notices);
  EXPECT_TRUE(is_found());
}

TEST_F(Rest, NewsThatANotificationHadAreOfThen) {
  Notices notices{};
  Thread& sleeper = new_thread();
  sleeper.period = 0;
  fall_asleep(sleeper, notices);
  end_period();
  tell(*other_, *sampler_);
  ASSERT_TRUE(is_found());
  notify(*other_, notices);
  begin_period();
  see_period(*sampler_);
  see_period(*other_);
  tick(*sampler_);
  end_period();
  tell(*other_, *sampler_);
  EXPECT_FALSE(is_found());
  notify(*other_, notices);
  EXPECT_TRUE(is_found());
}

TEST_F(Rest, WhoMayBeInterruptedDoesNotLeaveThePeriodInItsSleep) {
  Notices notices{};
  Thread& sleeper = new_thread();
  see_period(sleeper);
  const auto leaves = [&] {
    expect_interruptions();
    fall_asleep(sleeper, notices);
    return sleeper.has_left_period;
  };
  EXPECT_EXIT(std::exit(leaves() ? 1 : 0), testing::ExitedWithCode(0), "");
  end_period();
  leave_period(sleeper, false);
}

TEST_F(Rest, WhoFellAsleepInThePeriodHasLeftIt) {
  Notices notices{};
  Thread& sleeper = new_thread();
  see_period(sleeper);
  const OnlineEpoch sampled = g_now[&sleeper];
  fall_asleep(sleeper, notices);
  end_period();
  tell(*other_, *sampler_);
  EXPECT_FALSE(is_found());
  g_known[other_][sampled.slot()] = g_known[sampler_][sampled.slot()] = sampled.clock();
  EXPECT_TRUE(is_found());
  end_wait(sleeper);
  EXPECT_TRUE(sleeper.has_left_period);
  leave_period(sleeper, false);
}

TEST_F(Rest, UnlessItHasToldNobody) {
  Notices notices{};
  Thread& sleeper = new_thread();
  see_period(sleeper);
  fall_asleep(sleeper, notices, false);
  EXPECT_EQ(sleeper.awaits, nullptr);
  ++sampling::g_period;
  leave_period(*sampler_, true);
  leave_period(*other_, false);
  tell(*other_, *sampler_);
  EXPECT_FALSE(is_found());
  leave_period(sleeper, true);
}

TEST_F(Rest, WhoWakesUpInThePeriodSamplesOn) {
  Notices notices{};
  Thread& sleeper = new_thread();
  see_period(sleeper);
  fall_asleep(sleeper, notices);
  notify(*other_, notices);
  end_wait(sleeper);
  EXPECT_FALSE(sleeper.has_left_period);
  end_period();
  tell(*other_, *sampler_);
  g_known[other_][g_now[&sleeper].slot()] = g_known[sampler_][g_now[&sleeper].slot()] = 1;
  EXPECT_FALSE(is_found());
  tell(sleeper, *sampler_);
  leave_period(sleeper, true);
  EXPECT_FALSE(is_found());
  tell(*other_, sleeper);
  tell(*sampler_, sleeper);
  EXPECT_TRUE(is_found());
}

}  // namespace
}  // namespace rest
}  // namespace pf::rt
