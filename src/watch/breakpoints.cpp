#include "watch/breakpoints.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#include <cstring>

#include "core/syscall.h"

namespace pf::watch::breakpoints {
namespace {

constexpr int kHighDescriptor = 900;  // out of the way of programs that count their descriptors

// The events of one thread and of those it has created since.
struct Family {
  int fds[kBreakpoints];
  Family* next;
};

constinit Family g_first = {{-1, -1, -1, -1}, nullptr};
constinit Family* g_adopted = nullptr;  // only grows until close(), so that arm() needs no lock
constinit unsigned g_count = 0, g_most = kBreakpoints;

perf_event_attr attributes(uintptr_t address, unsigned length, On on, uint64_t tag, bool disabled) {
  perf_event_attr a{};
  a.type = PERF_TYPE_BREAKPOINT;
  a.size = sizeof a;
  a.bp_addr = address;
  a.bp_len = length;
  a.bp_type = on == On::Write ? HW_BREAKPOINT_W : HW_BREAKPOINT_RW;
  a.sample_period = 1;
  a.disabled = disabled ? 1 : 0;
  a.exclude_kernel = a.exclude_hv = 1;
  a.inherit = a.inherit_thread = 1;
  a.sigtrap = a.remove_on_exec = 1;
  a.sig_data = tag;
  return a;
}

int high(long fd) {
  const long other = kernel::call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, kHighDescriptor);
  if (kernel::failed(other)) return static_cast<int>(fd);
  kernel::call(SYS_close, fd);
  return static_cast<int>(other);
}

// Of something that is never written, and disabled: an address is needed.
long open_event(int thread_id) {
  static constexpr uint64_t kNowhere = 0;
  perf_event_attr a = attributes(reinterpret_cast<uintptr_t>(&kNowhere), sizeof kNowhere, On::Write, 0, true);
  const long fd = kernel::call_on(SYS_perf_event_open, &a, thread_id, -1, -1, PERF_FLAG_FD_CLOEXEC);
  return kernel::failed(fd) ? fd : high(fd);
}

void close_family(Family& f) {
  for (int& fd : f.fds) {
    if (fd >= 0) kernel::call(SYS_close, fd);
    fd = -1;
  }
}

Opened open_family(Family& f, int thread_id, unsigned wanted) {
  for (unsigned i = 0; i < wanted; ++i) {
    const long fd = open_event(thread_id);
    if (kernel::failed(fd)) return {i, static_cast<int>(-fd)};
    f.fds[i] = static_cast<int>(fd);
  }
  return {wanted, 0};
}

// Before Linux 5.18 a thread that has SIGTRAP blocked is killed by a trap.
bool is_kernel_new_enough() {
  utsname u{};
  if (kernel::failed(kernel::call_on(SYS_uname, &u))) return false;
  unsigned numbers[2] = {};
  const char* p = u.release;
  for (unsigned& n : numbers) {
    while (*p >= '0' && *p <= '9') n = n * 10 + static_cast<unsigned>(*p++ - '0');
    if (*p == '.') ++p;
  }
  return numbers[0] > 5 || (numbers[0] == 5 && numbers[1] >= 18);
}

// f(descriptor) for the event of that index in each family.
template <class F>
bool for_each_event(unsigned index, F f) {
  bool done = f(g_first.fds[index]);
  for (const Family* a = __atomic_load_n(&g_adopted, __ATOMIC_ACQUIRE); a != nullptr; a = a->next) f(a->fds[index]);
  return done;
}

}  // namespace

void limit(unsigned most) { g_most = most < kBreakpoints ? most : kBreakpoints; }

Opened open() {
  if (g_count != 0) return {g_count, 0};
  if (!is_kernel_new_enough()) return {0, ENOSYS};
  const Opened opened = open_family(g_first, 0, g_most);
  __atomic_store_n(&g_count, opened.count, __ATOMIC_RELEASE);
  return opened;
}

bool adopt(int thread_id) {
  const long page =
      kernel::call(SYS_mmap, 0, sizeof(Family), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (kernel::failed(page)) return false;
  auto* f = reinterpret_cast<Family*>(page);
  *f = {{-1, -1, -1, -1}, nullptr};
  if (open_family(*f, thread_id, g_count).count != g_count) {
    close_family(*f);
    kernel::call(SYS_munmap, page, sizeof(Family));
    return false;
  }
  f->next = __atomic_load_n(&g_adopted, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(&g_adopted, &f->next, f, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
  }
  return true;
}

void close() {
  __atomic_store_n(&g_count, 0, __ATOMIC_RELEASE);
  close_family(g_first);
  while (g_adopted != nullptr) {
    Family* f = g_adopted;
    g_adopted = f->next;
    close_family(*f);
    kernel::call_on(SYS_munmap, f, sizeof(Family));
  }
}

Opened open_in_child() {
  close();
  return open();
}

unsigned count() { return __atomic_load_n(&g_count, __ATOMIC_ACQUIRE); }

bool arm(unsigned index, uintptr_t address, unsigned length, On on, uint64_t tag) {
  perf_event_attr a = attributes(address, length, on, tag, false);
  return for_each_event(index, [&](int fd) {
    return kernel::call(SYS_ioctl, fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, reinterpret_cast<long>(&a)) == 0;
  });
}

bool disarm(unsigned index) {
  return for_each_event(index, [](int fd) { return kernel::call(SYS_ioctl, fd, PERF_EVENT_IOC_DISABLE, 0) == 0; });
}

Signal decode(const siginfo_t& info, Trap& trap) {
  constexpr int kPerf = 6;               // TRAP_PERF; libc's headers are older than it
  constexpr uint32_t kAsynchronous = 1;  // TRAP_PERF_FLAG_ASYNC
  struct Perf {                          // of the kernel's siginfo, after si_addr
    uint64_t data;
    uint32_t type, flags;
  };
  if (info.si_signo != SIGTRAP || info.si_code != kPerf) return Signal::NotOurs;
  Perf perf;
  std::memcpy(&perf, reinterpret_cast<const char*>(&info.si_addr) + sizeof info.si_addr, sizeof perf);
  if (perf.type != PERF_TYPE_BREAKPOINT) return Signal::NotOurs;
  trap = {perf.data, reinterpret_cast<uintptr_t>(info.si_addr)};
  return (perf.flags & kAsynchronous) != 0 ? Signal::Late : Signal::Now;
}

}  // namespace pf::watch::breakpoints
