// What `photofinish attach` calls in a program that runs, on a thread of it that was borrowed for that (binary/borrowed.h): to come in, to stop,
// and to leave the process as it was. The library itself stays, and does nothing.
#include <dirent.h>
#include <sys/resource.h>

#include <cstring>

#include "runtime/abi/abi.h"
#include "runtime/planted.h"
#include "runtime/runtime.h"
#include "runtime/sampled/rebind.h"
#include "runtime/say.h"
#include "watch/slots.h"

using namespace pf::rt;

namespace {

namespace breakpoints = pf::watch::breakpoints;

// f(id) for each thread that there is.
template <class F>
void for_each_thread(F f) {
  const long fd = sys::open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (sys::failed(fd)) return;
  alignas(uint64_t) char buffer[4096];
  for (long n = 0; (n = sys::call(SYS_getdents64, fd, reinterpret_cast<long>(buffer), sizeof buffer)) > 0;) {
    for (long at = 0; at < n;) {
      const auto& entry = *reinterpret_cast<const dirent64*>(buffer + at);
      int id = 0;
      for (const char* p = entry.d_name; *p >= '0' && *p <= '9'; ++p) id = id * 10 + (*p - '0');
      if (id != 0) f(id);
      at += entry.d_reclen;
    }
  }
  sys::close(static_cast<int>(fd));
}

unsigned count_threads() {
  unsigned count = 0;
  for_each_thread([&](int) { ++count; });
  return count;
}

// Each thread takes as many descriptors as it has breakpoints. Half of what the program may have is left to it.
unsigned affordable_descriptors() {
  rlimit limit{};
  sys::call(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, reinterpret_cast<long>(&limit));
  constexpr rlim_t kMost = 1U << 20;
  return static_cast<unsigned>((limit.rlim_cur < kMost ? limit.rlim_cur : kMost) / 2);
}

unsigned affordable_breakpoints() {
  const unsigned each = affordable_descriptors() / (count_threads() + 1);
  return each == 0 ? 1 : each;  // limit() knows how many there are at most
}

// Of a thread whose maker had been adopted before, the kernel has seen to it, and refuses more than there are. So twice is enough for
// all but those that are made by threads that are made meanwhile.
void adopt_threads() {
  const unsigned each = breakpoints::count();
  unsigned adopted = 1, refused = 0;
  for (int round = 0; each != 0 && round < 2; ++round) {
    for_each_thread([&](int id) {
      const bool affordable = (adopted + 1) * each <= affordable_descriptors();
      if (!affordable) ++refused;
      if (id != sys::thread_id() && affordable && breakpoints::adopt(id)) ++adopted;
    });
  }
  planted::tell_watching(each, refused == 0 ? 0 : count_threads() - adopted);
}

enum Answer : int { kDone = 0, kAlready = 1, kNotForUs = 2 };

}  // namespace

// The file of what would be in the environment, had the program been started by us.
PF_EXPORT int photofinish_attach(const char* environment) {
  if (planted::is_sampled()) return kAlready;
  breakpoints::close();  // of a photofinish that was killed
  rebind::back();
  breakpoints::limit(affordable_breakpoints());
  rebind::find();
  if (!start_late(environment)) return kNotForUs;
  adopt_threads();
  take_over_handlers();
  rebind::to_us();
  return kDone;
}

// The program has loaded more.
PF_EXPORT void photofinish_follow() { rebind::to_us(); }

// No more samples, no more interception. Traps that are on their way still find us.
PF_EXPORT void photofinish_detach() {
  planted::stop();
  pf::watch::slots::stop();
  rebind::back();
  give_handlers_back();
  go_dormant();
}

// There are none any more.
PF_EXPORT void photofinish_leave() {
  pf::watch::slots::give_back();
  unwatch_traps();
  planted::leave();
}
