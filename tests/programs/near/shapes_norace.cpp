// Accesses of all sizes, again and again in one epoch and in others, through the copied code of each engine that has some: none races.
// RUN: %cxx -O1 %s -o %t && %with "fasttrack djit generic shb simplelock pacer,rate=100% pacer,rate=0% tree:fasttrack literace:fasttrack clockrace,rate=100%" %norace %t
#include <mutex>
#include <thread>
#include <vector>

namespace {

template <class T>
[[gnu::noinline]] void add(T* all, int count) {
  for (int i = 0; i < count; ++i) all[i] = static_cast<T>(all[i] + 1);
}
struct Shapes {
  alignas(16) char bytes[64];
  short shorts[32];
  int ints[32];
  long longs[32];
  char torn[64];

  [[gnu::noinline]] void touch() {
    add(bytes, 64);
    add(shorts, 32);
    add(ints, 32);
    add(longs, 32);
    for (int i = 1; i + 8 < 64; i += 5) {
      long value = 0;
      __builtin_memcpy(&value, torn + i, sizeof value);
      ++value;
      __builtin_memcpy(torn + i, &value, sizeof value);
    }
  }
};

Shapes shared, read_only;
std::mutex mutex;

long sum_of_all() {
  long sum = 0;
  for (const long x : read_only.longs) sum += x;
  for (const char x : read_only.bytes) sum += x;
  return sum;
}

}  // namespace

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      Shapes own{};
      long sum = 0;
      for (int round = 0; round < 50; ++round) {
        own.touch();
        sum += sum_of_all();
        const std::lock_guard lock(mutex);
        shared.touch();
        shared.longs[0] += sum;
      }
    });
  }
  for (std::thread& t : threads) t.join();
}
