// Shadow memory against one history per byte: whatever accesses overlap in whatever way, each byte has the history of
// its own accesses and of no other.
#include "offline/shadow.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>

namespace pf {
namespace {

// A detector that remembers everything: a history is a number that each access changes in its own way. It owns memory,
// so that a clone or a clear too few or too many shows.
struct Historian {
  struct Var {
    uint64_t* history = nullptr;
  };
  static uint64_t read(const Var& x) { return x.history == nullptr ? 0 : *x.history; }
  static uint64_t after(uint64_t history, uint64_t access) { return history * 1000003 + access; }
  static void add(Var& x, uint64_t access, OfflineEnv& env) {
    if (x.history == nullptr) x.history = new (env.allocate(sizeof(uint64_t))) uint64_t{0};
    *x.history = after(*x.history, access);
  }
  static Var clone(const Var& x, OfflineEnv& env) {
    if (x.history == nullptr) return {};
    return {new (env.allocate(sizeof(uint64_t))) uint64_t{*x.history}};
  }
  static void clear(Var& x, OfflineEnv& env) {
    if (x.history != nullptr) env.deallocate(x.history, sizeof(uint64_t));
    x.history = nullptr;
  }
};

struct Byte {
  uint64_t history = 0;
  uint64_t initial = 0;  // what its block began with, 0 if it is in none
};

constexpr uint64_t kRange = 400;  // bytes that are used: some pages

class Model {
 public:
  Model(uint64_t base, OfflineEnv& env) : base_(base), env_(env), shadow_(env) {}

  void access(uint64_t offset, uint64_t size, uint64_t number) {
    std::set<uint64_t> places;
    shadow_.for_each(base_ + offset, size, [&](Historian::Var& x, uint64_t at) {
      RC_ASSERT(at >= base_ + offset && at < base_ + offset + size);
      RC_ASSERT(places.insert(at).second);
      RC_ASSERT(Historian::read(x) == bytes_[at - base_].history);
      Historian::add(x, number, env_);
    });
    for (uint64_t i = offset; i < offset + size; ++i) bytes_[i].history = Historian::after(bytes_[i].history, number);
  }

  // The free must meet every byte that was used, and what it meets must be the history of a byte of the block.
  void free(uint64_t offset, uint64_t size, uint64_t number) {
    Historian::Var freed;
    Historian::add(freed, number, env_);
    std::set<uint64_t> met, must_meet, may_meet;
    for (uint64_t i = offset; i < offset + size; ++i) {
      if (bytes_[i].history != 0) must_meet.insert(bytes_[i].history);
      may_meet.insert({bytes_[i].history, bytes_[i].initial});
      bytes_[i] = {Historian::after(0, number), Historian::after(0, number)};
    }
    shadow_.free_block(
        base_ + offset, size, [&](Historian::Var& x, uint64_t) { met.insert(Historian::read(x)); }, freed);
    RC_ASSERT(std::ranges::includes(met, must_meet));
    RC_ASSERT(std::ranges::includes(may_meet, met));
  }

  void begin_block(uint64_t offset, uint64_t size, uint64_t number) {
    Historian::Var initial;
    Historian::add(initial, number, env_);
    shadow_.begin_block(base_ + offset, size, initial);
    for (uint64_t i = offset; i < offset + size; ++i) {
      bytes_[i] = {Historian::after(0, number), Historian::after(0, number)};
    }
  }

  void forget(uint64_t offset, uint64_t size) {
    shadow_.forget(base_ + offset, size);
    for (uint64_t i = offset; i < offset + size; ++i) bytes_[i] = {};
  }

  void check_every_byte() {
    for (uint64_t i = 0; i < kRange; ++i) {
      shadow_.for_each(base_ + i, 1, [&](Historian::Var& x, uint64_t at) {
        RC_ASSERT(at == base_ + i);
        RC_ASSERT(Historian::read(x) == bytes_[i].history);
      });
    }
  }

 private:
  uint64_t base_;
  OfflineEnv& env_;
  Shadow<Historian, OfflineEnv> shadow_;
  std::map<uint64_t, Byte> bytes_;
};

RC_GTEST_PROP(Shadow, gives_each_byte_its_own_history, ()) {
  const auto base = *rc::gen::element<uint64_t>(0, 0x7f0000001003, (uint64_t{1} << 63) - 200, 0xFFFFFFFFFFEFFF00U);
  using Choice = std::tuple<int, uint64_t, uint64_t>;
  const auto size = rc::gen::oneOf(rc::gen::element<uint64_t>(1, 2, 4, 8), rc::gen::inRange<uint64_t>(1, 200));
  const auto offset = rc::gen::oneOf(rc::gen::inRange<uint64_t>(0, 24), rc::gen::inRange<uint64_t>(0, 200));
  const auto choices = *rc::gen::container<std::vector<Choice>>(
      rc::gen::tuple(rc::gen::weightedElement<int>({{8, 0}, {2, 1}, {1, 2}, {1, 3}, {1, 4}}), offset, size));
  OfflineEnv env;
  Model model(base, env);
  uint64_t number = 0;
  for (const auto& [step, at, bytes] : choices) {
    ++number;
    if (step == 0) model.access(at, bytes, number);
    if (step == 1) model.free(at, bytes, number);
    if (step == 2) model.forget(at, bytes);
    if (step == 3) model.begin_block(at, bytes, number);
    if (step == 4) model.check_every_byte();
  }
  model.check_every_byte();
  model.forget(0, kRange);
  RC_ASSERT(env.arena.live_bytes() == 0U);
}

TEST(Shadow, forgets_and_frees_far_more_than_is_used) {
  OfflineEnv env;
  Shadow<Historian, OfflineEnv> shadow(env);
  unsigned met = 0;
  const auto count = [&](Historian::Var&, uint64_t) { ++met; };
  shadow.for_each(1000, 1, [&](Historian::Var& x, uint64_t) { Historian::add(x, 1, env); });
  shadow.free_block(0, uint64_t{1} << 62, count, {});
  EXPECT_EQ(met, 1U);
  shadow.forget(0, ~uint64_t{0});
  shadow.for_each(1000, 1, [&](Historian::Var& x, uint64_t) { EXPECT_EQ(Historian::read(x), 0U); });
}

}  // namespace
}  // namespace pf
