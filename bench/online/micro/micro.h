// What the microbenchmarks share: PROGRAM THREADS SIZE, the threads, and the checksum that shows the work was done.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

struct Arguments {
  unsigned threads;
  std::uint64_t size;
};

inline Arguments arguments(int argc, char** argv) {
  Arguments a = argc == 3 ? Arguments{unsigned(std::atoi(argv[1])), std::strtoull(argv[2], nullptr, 10)} : Arguments{};
  if (a.threads == 0 || a.size == 0) {
    std::fprintf(stderr, "usage: %s THREADS SIZE\n", argv[0]);
    std::exit(2);
  }
  return a;
}

// Runs work(0) ... work(n-1), a thread each, to their ends.
template <class Work>
void parallel(unsigned n, Work work) {
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < n; ++i) threads.emplace_back(work, i);
  for (auto& thread : threads) thread.join();
}

// The i-th of n equal parts of [0, size).
struct Part {
  std::uint64_t begin, end;
};
inline Part part(std::uint64_t size, unsigned i, unsigned n) { return {size * i / n, size * (i + 1) / n}; }

// A repeatable stream of numbers (splitmix64).
struct Random {
  std::uint64_t state;
  std::uint64_t operator()() {
    std::uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
};

inline int finish(std::uint64_t checksum) {
  std::printf("checksum %llu\n", static_cast<unsigned long long>(checksum));
  return 0;
}
