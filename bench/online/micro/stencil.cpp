// Five-point stencil on a 512×512 grid of doubles, SIZE sweeps, rows divided among the threads, a barrier after each sweep.
#include "micro.h"

#include <bit>
#include <pthread.h>

namespace {
constexpr std::size_t kSide = 512;
constexpr std::size_t kRow = kSide + 2;
using Grid = std::vector<double>;

void sweep(const Grid& from, Grid& to, Part rows) {
  for (std::size_t y = rows.begin + 1; y <= rows.end; ++y) {
    for (std::size_t i = y * kRow + 1; i <= y * kRow + kSide; ++i) {
      to[i] = 0.5 * from[i] + 0.125 * (from[i - 1] + from[i + 1] + from[i - kRow] + from[i + kRow]);
    }
  }
}
}  // namespace

int main(int argc, char** argv) {
  const auto [threads, sweeps] = arguments(argc, argv);
  Grid grids[] = {Grid(kRow * kRow), Grid(kRow * kRow)};
  Random random{1};
  for (auto& cell : grids[0]) cell = static_cast<double>(random() % 1000);
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, threads);
  parallel(threads, [&, threads = threads, sweeps = sweeps](unsigned i) {
    for (std::uint64_t s = 0; s < sweeps; ++s) {
      sweep(grids[s % 2], grids[(s + 1) % 2], part(kSide, i, threads));
      pthread_barrier_wait(&barrier);
    }
  });
  std::uint64_t sum = 0;
  for (const double cell : grids[sweeps % 2]) sum = sum * 31 + std::bit_cast<std::uint64_t>(cell);
  return finish(sum);
}
