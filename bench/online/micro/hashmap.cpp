// A hash map in 64 shards, a mutex each: SIZE operations divided among the threads, one insertion to three look-ups.
#include "micro.h"

#include <memory>
#include <mutex>
#include <unordered_map>

namespace {
constexpr std::uint64_t kShards = 64;
constexpr std::uint64_t kKeys = 100'000;

struct alignas(64) Shard {
  std::mutex mutex;
  std::unordered_map<std::uint64_t, std::uint64_t> map;
};
}  // namespace

int main(int argc, char** argv) {
  const auto [threads, operations] = arguments(argc, argv);
  const auto shards = std::make_unique<Shard[]>(kShards);
  parallel(threads, [&, threads = threads, operations = operations](unsigned i) {
    const auto [begin, end] = part(operations, i, threads);
    for (std::uint64_t n = begin; n < end; ++n) {
      const std::uint64_t draw = Random{n}();
      const std::uint64_t key = draw % kKeys;
      Shard& shard = shards[key % kShards];
      const std::lock_guard lock(shard.mutex);
      if (draw >> 62 == 0) {
        ++shard.map[key];
      } else {
        shard.map.find(key);
      }
    }
  });
  std::uint64_t sum = 0;
  for (std::uint64_t s = 0; s < kShards; ++s) {
    for (const auto& [key, count] : shards[s].map) sum += Random{key}() * count;
  }
  return finish(sum);
}
