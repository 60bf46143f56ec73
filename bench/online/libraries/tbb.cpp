// Loops and a sort of oneTBB: its templates are instrumented, its scheduler is not.
#include <oneapi/tbb.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int, char** arguments) {
  using Range = oneapi::tbb::blocked_range<std::size_t>;
  const auto threads = static_cast<std::size_t>(atoi(arguments[1])),
             size = static_cast<std::size_t>(atoi(arguments[2]));
  const oneapi::tbb::global_control control(oneapi::tbb::global_control::max_allowed_parallelism, threads);
  std::vector<unsigned> values(size);
  oneapi::tbb::parallel_for(Range(0, size, 200), [&](const Range& r) {
    for (std::size_t i = r.begin(); i != r.end(); ++i) values[i] = static_cast<unsigned>(i * 2654435761U);
  });
  oneapi::tbb::parallel_sort(values.begin(), values.end());
  const unsigned sum = oneapi::tbb::parallel_reduce(
      Range(0, size, 200), 0U,
      [&](const Range& r, unsigned part) {
        for (std::size_t i = r.begin(); i != r.end(); ++i) part += values[i] * static_cast<unsigned>(i);
        return part;
      },
      [](unsigned a, unsigned b) { return a + b; });
  std::printf("%u\n", sum);
}
