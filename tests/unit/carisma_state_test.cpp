// CARISMA's sums: the estimator, the water level against brute force, and the file that many processes share.
#include "filter/carisma_state.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "core/random.h"

namespace pf {
namespace {

uint64_t parts(double rate) { return static_cast<uint64_t>(std::llround(rate * 0x1p32)); }

std::vector<double> fill(std::span<const double> sizes, double level, double min_rate) {
  std::vector<double> budgets;
  for (const double p : sizes) budgets.push_back(std::min(std::max(level, min_rate * p), p));
  return budgets;
}

double sum(std::span<const double> values) { return std::accumulate(values.begin(), values.end(), 0.0); }

double unevenness(std::span<const double> budgets, double mean) {
  double squares = 0;
  for (const double b : budgets) squares += (b - mean) * (b - mean);
  return squares;
}

RC_GTEST_PROP(WaterLevel, spends_the_budget, ()) {
  const auto whole = *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(1, 100000)));
  const std::vector<double> sizes(whole.begin(), whole.end());
  const double rate = *rc::gen::inRange(1, 1000) / 1000.0, min_rate = rate * *rc::gen::inRange(0, 1000) / 1000.0;
  const double budget = rate * sum(sizes);
  const std::vector<double> budgets = fill(sizes, water_level(sizes, budget, min_rate), min_rate);
  RC_ASSERT(std::abs(sum(budgets) - budget) <= 1e-9 * budget);
}

// (3) by brute force: no budgets on a grid of whole numbers, with the same sum and within the bounds, are more even.
TEST(WaterLevel, is_the_most_even_way) {
  Random random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<double> sizes;
    for (int i = 0; i < 3; ++i) sizes.push_back(static_cast<double>(1 + random.below(30)));
    const auto budget = static_cast<double>(random.below(static_cast<uint64_t>(sum(sizes)) + 1));
    const double min_rate = 0.001 * static_cast<double>(random.below(300));
    if (min_rate * sum(sizes) > budget) continue;
    const std::vector<double> best = fill(sizes, water_level(sizes, budget, min_rate), min_rate);
    EXPECT_NEAR(sum(best), budget, 1e-9);
    const double mean = budget / 3;
    for (int whole_a = static_cast<int>(std::ceil(min_rate * sizes[0])); whole_a <= sizes[0]; ++whole_a) {
      for (int whole_b = static_cast<int>(std::ceil(min_rate * sizes[1])); whole_b <= sizes[1]; ++whole_b) {
        const double a = whole_a, b = whole_b, c = budget - a - b;
        if (c < min_rate * sizes[2] || c > sizes[2]) continue;
        EXPECT_LE(unevenness(best, mean), unevenness(std::vector{a, b, c}, mean) + 1e-9)
            << "round " << round << ": " << a << " " << b << " " << c;
      }
    }
  }
}

TEST(WaterLevel, has_its_limits) {
  EXPECT_EQ(water_level({}, 0, 0.1), 0);
  const std::vector<double> sizes = {4, 8};
  EXPECT_EQ(water_level(sizes, 1, 0.5), 0);  // the least of each takes more
  EXPECT_EQ(fill(sizes, water_level(sizes, 12, 0), 0), sizes);
}

TEST(ContextRates, are_the_target_where_nothing_is_known) {
  const ContextSums known{100, parts(0.5)}, met{0, parts(0.5)}, unknown{};
  const std::vector<double> rates = context_rates(std::vector{known, met, unknown}, 0.1, 0.001);
  EXPECT_NEAR(rates[0], 0.1, 1e-9);
  EXPECT_EQ(rates[1], 0.1);
  EXPECT_EQ(rates[2], 0.1);
}

// (1) and (2): over many experiments of several trials at different rates the mean of the estimates is the size.
TEST(ContextSums, estimate_without_bias) {
  constexpr int kExperiments = 4000;
  constexpr uint64_t kSize = 40;
  Random random(11);
  double mean = 0;
  for (int i = 0; i < kExperiments; ++i) {
    ContextSums sums;
    for (const double rate : {0.02, 0.1, 0.5, 0.03}) {
      sums.rates += parts(rate);
      for (uint64_t location = 0; location < kSize; ++location) sums.samples += random.chance(parts(rate)) ? 1 : 0;
    }
    mean += sums.size() / kExperiments;
  }
  const double variance = kSize * (0.02 * 0.98 + 0.1 * 0.9 + 0.5 * 0.5 + 0.03 * 0.97) / (0.65 * 0.65);
  EXPECT_NEAR(mean, kSize, 4 * std::sqrt(variance / kExperiments));
}

// --- the file ---

class StateFile : public testing::Test {
 protected:
  StateFile() {
    std::string name = std::filesystem::temp_directory_path() / "pf-carisma-XXXXXX";
    folder_ = mkdtemp(name.data());
    path_ = folder_ + "/state";
  }
  ~StateFile() override { std::filesystem::remove_all(folder_); }

  CarismaState load() const {
    const Result<CarismaState> state = load_state(path_, SampleUnit::Writes);
    if (!state) ADD_FAILURE() << state.error().message;
    return state ? *state : CarismaState{};
  }
  std::string error() const {
    const Result<CarismaState> state = load_state(path_, SampleUnit::Writes);
    return state ? "" : state.error().message;
  }
  std::string bytes() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(const std::string& text) const { std::ofstream(path_, std::ios::binary) << text; }

  std::string folder_, path_;
};

CarismaState one_trial(uint64_t context, uint64_t samples, uint64_t rate) {
  CarismaState state;
  state.trials = 1;
  state.contexts[context] = {samples, rate};
  return state;
}

TEST_F(StateFile, adds_trials_up) {
  EXPECT_EQ(load().trials, 0U);
  ASSERT_TRUE(add_trial(path_, SampleUnit::Writes, one_trial(5, 10, 100)));
  ASSERT_TRUE(add_trial(path_, SampleUnit::Writes, one_trial(5, 1, 200)));
  ASSERT_TRUE(add_trial(path_, SampleUnit::Writes, one_trial(3, 0, 7)));
  const CarismaState state = load();
  EXPECT_EQ(state.trials, 3U);
  ASSERT_EQ(state.contexts.size(), 2U);
  EXPECT_EQ(state.contexts.at(5).samples, 11U);
  EXPECT_EQ(state.contexts.at(5).rates, 300U);
  EXPECT_EQ(state.contexts.at(3).rates, 7U);
  EXPECT_EQ(bytes().size(), 32U + 2 * 24U);
}

// A file of the first version, byte by byte: as docs/engines/carisma.md has it.
TEST_F(StateFile, has_the_documented_format) {
  ASSERT_TRUE(add_trial(path_, SampleUnit::Writes, one_trial(0x1122334455667788, 10, 1U << 31)));
  const std::string expected("PFCARIS1"
                             "\x4c\x8d\xdf\x82\xe9\x9f\x44\x74"
                             "\2\0\0\0\0\0\0\0"
                             "\1\0\0\0\0\0\0\0"
                             "\x88\x77\x66\x55\x44\x33\x22\x11"
                             "\x0a\0\0\0\0\0\0\0"
                             "\0\0\0\x80\0\0\0\0",
                             56);
  EXPECT_EQ(bytes().substr(0, 8), expected.substr(0, 8));
  EXPECT_EQ(bytes().substr(16), expected.substr(16));
  EXPECT_EQ(bytes(), expected);
}

TEST_F(StateFile, is_not_overwritten_when_it_is_wrong) {
  ASSERT_TRUE(add_trial(path_, SampleUnit::Writes, one_trial(5, 10, 100)));
  const std::string good = bytes();
  EXPECT_NE(load_state(path_, SampleUnit::Locations).error().message.find("another strategy"), std::string::npos);
  EXPECT_FALSE(add_trial(path_, SampleUnit::Locations, one_trial(5, 10, 100)));
  EXPECT_EQ(bytes(), good);
  write("a text\n");
  EXPECT_EQ(error(), path_ + " is no state of carisma");
  EXPECT_FALSE(add_trial(path_, SampleUnit::Writes, one_trial(5, 10, 100)));
  EXPECT_EQ(bytes(), "a text\n");
  write("");
  EXPECT_EQ(load().trials, 0U);
  EXPECT_EQ(load_state(folder_, SampleUnit::Writes).error().message, "cannot open " + folder_ + ": Is a directory");
  EXPECT_EQ(load_state("/none/x", SampleUnit::Writes).error().message,
            "cannot open /none/x: No such file or directory");
  EXPECT_FALSE(add_trial("/none/x", SampleUnit::Writes, {}));
}

TEST_F(StateFile, notices_every_changed_byte) {
  ASSERT_TRUE(add_trial(path_, SampleUnit::Writes, one_trial(5, 10, 100)));
  const std::string good = bytes();
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    write(bad);
    EXPECT_NE(error(), "") << "byte " << i;
    write(good.substr(0, i));
    EXPECT_EQ(error().empty(), i == 0) << "cut at " << i;  // an empty file is an empty state
  }
}

// Sixteen processes add to one file, and are killed and started anew at any moment. Each adds one sample at a time to a context of its own,
// and counts in shared memory what it was told is kept: nothing of that may be missing, and at most the addition under way
// at each kill may be there beyond.
TEST_F(StateFile, loses_nothing_when_processes_are_killed) {
  constexpr unsigned kProcesses = 16, kKills = 200;
  struct Shared {
    std::atomic<uint64_t> kept[kProcesses];
  };
  auto* shared =
      static_cast<Shared*>(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(shared, MAP_FAILED);
  const auto start = [&](unsigned i) {
    const pid_t pid = fork();
    if (pid != 0) return pid;
    for (;;) {
      if (!add_trial(path_, SampleUnit::Writes, one_trial(i, 1, 3))) _exit(1);
      ++shared->kept[i];
    }
  };
  std::vector<pid_t> children;
  for (unsigned i = 0; i < kProcesses; ++i) children.push_back(start(i));
  std::vector<uint64_t> kills(kProcesses);
  const auto end = [&](unsigned i) {
    int status = 0;
    kill(children[i], SIGKILL);
    waitpid(children[i], &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status)) << "process " << i << " could not add";
    ++kills[i];
  };
  Random random(3);
  for (unsigned round = 0; round < kKills; ++round) {
    usleep(static_cast<useconds_t>(random.below(10000)));
    const auto i = static_cast<unsigned>(random.below(kProcesses));
    end(i);
    children[i] = start(i);
    EXPECT_EQ(error(), "");
  }
  uint64_t all = 0;
  for (unsigned i = 0; i < kProcesses; ++i) end(i);
  const CarismaState state = load();
  for (unsigned i = 0; i < kProcesses; ++i) {
    const auto it = state.contexts.find(i);
    const ContextSums sums = it == state.contexts.end() ? ContextSums{} : it->second;
    EXPECT_GE(sums.samples, shared->kept[i]) << "process " << i;
    EXPECT_LE(sums.samples, shared->kept[i] + kills[i]) << "process " << i;
    EXPECT_EQ(sums.rates, 3 * sums.samples);
    all += sums.samples;
  }
  EXPECT_EQ(state.trials, all);
  EXPECT_GT(all, kKills) << "hardly anything was added";
  munmap(shared, sizeof(Shared));
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    const std::string name = entry.path().filename();
    EXPECT_TRUE(name == "state" || name == "state.new") << name;
  }
}

}  // namespace
}  // namespace pf
