// One counter behind one mutex: SIZE additions divided among the threads.
#include "micro.h"

#include <mutex>

int main(int argc, char** argv) {
  const auto [threads, additions] = arguments(argc, argv);
  std::mutex mutex;
  std::uint64_t counter = 0;
  parallel(threads, [&, threads = threads, additions = additions](unsigned i) {
    const auto [begin, end] = part(additions, i, threads);
    for (std::uint64_t n = begin; n < end; ++n) {
      const std::lock_guard lock(mutex);
      counter += n;
    }
  });
  return finish(counter);
}
