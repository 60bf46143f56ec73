// The only file of the runtime that talks to the kernel: raw system calls, since libc's wrappers set errno, are
// cancellation points, and are intercepted by us.
#pragma once
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include <cstddef>
#include <cstdint>

#include "core/syscall.h"

namespace pf::rt::sys {

using kernel::call;
using kernel::call_on;
using kernel::failed;

// Zeroed memory that costs nothing until it is touched; null when there is none.
inline void* map(std::size_t bytes) {
  const long p = call(SYS_mmap, 0, static_cast<long>(bytes), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return failed(p) ? nullptr : reinterpret_cast<void*>(p);
}
inline void unmap(void* p, std::size_t bytes) { call_on(SYS_munmap, p, static_cast<long>(bytes)); }
// Gives the pages back; they read as zero afterwards.
inline void drop(void* p, std::size_t bytes) { call_on(SYS_madvise, p, static_cast<long>(bytes), MADV_DONTNEED); }
inline void no_huge_pages(void* p, std::size_t bytes) {
  call_on(SYS_madvise, p, static_cast<long>(bytes), MADV_NOHUGEPAGE);
}

inline void yield() { call(SYS_sched_yield); }
inline int process_id() { return static_cast<int>(call(SYS_getpid)); }
inline int parent_id() { return static_cast<int>(call(SYS_getppid)); }
inline int thread_id() { return static_cast<int>(call(SYS_gettid)); }
inline void sleep_ms(long ms) {
  const timespec duration{ms / 1000, ms % 1000 * 1000000};
  call_on(SYS_nanosleep, &duration);
}
// Of a clock that does not go back. A system call.
inline uint64_t nanoseconds() {
  timespec now{};
  call(SYS_clock_gettime, CLOCK_MONOTONIC, reinterpret_cast<long>(&now));
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}
[[noreturn]] inline void die(int code) {
  for (;;) call(SYS_exit_group, code);
}

inline long open(const char* path, int flags, int mode = 0) {
  return call(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path), flags, mode);
}
inline void close(int fd) { call(SYS_close, fd); }
inline long read(int fd, void* to, std::size_t n) {
  return call(SYS_read, fd, reinterpret_cast<long>(to), static_cast<long>(n));
}
inline long write(int fd, const void* from, std::size_t n) {
  return call(SYS_write, fd, reinterpret_cast<long>(from), static_cast<long>(n));
}

// After it returns, every thread of the process has passed a full memory barrier.
inline bool barrier_on_all_threads() { return !failed(call(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0)); }
inline bool register_barrier_on_all_threads() {
  return !failed(call(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0));
}

constexpr uint64_t bit_of(int signal) { return uint64_t{1} << (signal - 1); }

// While one lives, no handler of a signal runs on this thread: but those that its own instructions raise, and libc's two.
class [[nodiscard]] NoHandlers {
 public:
  static constexpr uint64_t kOwnAndLibcs = bit_of(SIGSEGV) | bit_of(SIGBUS) | bit_of(SIGILL) | bit_of(SIGFPE) |
                                           bit_of(SIGTRAP) | bit_of(SIGSYS) | bit_of(32) | bit_of(33);

  explicit NoHandlers(uint64_t but = kOwnAndLibcs) {
    const uint64_t blocked = ~but;
    call(SYS_rt_sigprocmask, SIG_BLOCK, reinterpret_cast<long>(&blocked), reinterpret_cast<long>(&before_), 8);
  }
  ~NoHandlers() { call(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&before_), 0, 8); }
  NoHandlers(const NoHandlers&) = delete;
  NoHandlers& operator=(const NoHandlers&) = delete;

 private:
  uint64_t before_ = 0;
};

}  // namespace pf::rt::sys
