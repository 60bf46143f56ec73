// SIZE items through bounded queues of atomics (Vyukov's), one queue for each pair of a producer and a consumer thread;
// an odd number of threads is rounded down.
#include "micro.h"

#include <atomic>
#include <memory>

namespace {
constexpr std::uint64_t kCells = 1024;

class Queue {
 public:
  Queue() {
    for (std::uint64_t i = 0; i < kCells; ++i) cells_[i].turn.store(i, std::memory_order_relaxed);
  }
  bool push(std::uint64_t value) {
    std::uint64_t at = tail_.load(std::memory_order_relaxed);
    Cell& cell = cells_[at % kCells];
    if (cell.turn.load(std::memory_order_acquire) != at) return false;
    if (!tail_.compare_exchange_strong(at, at + 1, std::memory_order_relaxed)) return false;
    cell.value = value;
    cell.turn.store(at + 1, std::memory_order_release);
    return true;
  }
  bool pop(std::uint64_t& value) {
    std::uint64_t at = head_.load(std::memory_order_relaxed);
    Cell& cell = cells_[at % kCells];
    if (cell.turn.load(std::memory_order_acquire) != at + 1) return false;
    if (!head_.compare_exchange_strong(at, at + 1, std::memory_order_relaxed)) return false;
    value = cell.value;
    cell.turn.store(at + kCells, std::memory_order_release);
    return true;
  }

 private:
  struct Cell {
    std::atomic<std::uint64_t> turn;
    std::uint64_t value;
  };
  Cell cells_[kCells];
  alignas(64) std::atomic<std::uint64_t> tail_{0};
  alignas(64) std::atomic<std::uint64_t> head_{0};
};

// Full and empty queues are left to the other threads, so that more threads than cores do not spin.
void produce(Queue& queue, Part items) {
  for (std::uint64_t n = items.begin; n < items.end; ++n) {
    while (!queue.push(n)) std::this_thread::yield();
  }
}

std::uint64_t consume(Queue& queue, Part items) {
  std::uint64_t sum = 0;
  for (std::uint64_t n = items.begin; n < items.end; ++n) {
    std::uint64_t value = 0;
    while (!queue.pop(value)) std::this_thread::yield();
    sum = sum * 31 + value;
  }
  return sum;
}
}  // namespace

int main(int argc, char** argv) {
  const auto [threads, items] = arguments(argc, argv);
  const unsigned pairs = threads < 2 ? 1 : threads / 2;
  const auto queues = std::make_unique<Queue[]>(pairs);
  std::vector<std::uint64_t> sums(pairs);
  parallel(2 * pairs, [&, items = items](unsigned i) {
    const unsigned pair = i / 2;
    if (i % 2 == 0) {
      produce(queues[pair], part(items, pair, pairs));
    } else {
      sums[pair] = consume(queues[pair], part(items, pair, pairs));
    }
  });
  std::uint64_t sum = 0;
  for (const auto s : sums) sum += s;
  return finish(sum);
}
