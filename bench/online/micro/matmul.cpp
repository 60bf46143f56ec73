// Product of two SIZE×SIZE matrices of doubles, rows divided among the threads; no synchronization but the joins.
#include "micro.h"

#include <bit>

namespace {
using Matrix = std::vector<double>;

Matrix random_matrix(std::size_t n, std::uint64_t seed) {
  Random random{seed};
  Matrix m(n * n);
  for (auto& x : m) x = static_cast<double>(random() % 1000);
  return m;
}

void multiply(const Matrix& a, const Matrix& b, Matrix& c, std::size_t n, Part rows) {
  for (std::size_t i = rows.begin; i < rows.end; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
      c[i * n + j] = sum;
    }
  }
}
}  // namespace

int main(int argc, char** argv) {
  const auto [threads, n] = arguments(argc, argv);
  const Matrix a = random_matrix(n, 1);
  const Matrix b = random_matrix(n, 2);
  Matrix c(n * n);
  parallel(threads, [&, threads = threads, n = n](unsigned i) { multiply(a, b, c, n, part(n, i, threads)); });
  std::uint64_t sum = 0;
  for (const double x : c) sum = sum * 31 + std::bit_cast<std::uint64_t>(x);
  return finish(sum);
}
