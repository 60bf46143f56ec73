// The runtime's life in the process: it starts with the library, before the program's own constructors, and ends with
// a summary on every way out that a process can see coming.
#include "runtime/runtime.h"

#include <link.h>
#include <stdio.h>

#include "runtime/abi/abi.h"
#include "runtime/chunks.h"
#include "runtime/found.h"
#include "runtime/hooks.h"
#include "runtime/host.h"
#include "runtime/instrumented.h"
#include "runtime/libc.h"
#include "runtime/options.h"
#include "runtime/output.h"
#include "runtime/planted.h"
#include "runtime/registry.h"

namespace pf::rt {
namespace {

constinit bool g_ready = false;
constinit bool g_dormant = false;
constinit int g_process = 0;
[[gnu::tls_model("initial-exec")]] constinit thread_local bool g_starting = false;
[[gnu::tls_model("initial-exec")]] constinit thread_local bool g_gone = false;  // this thread is past its end

[[gnu::constructor(101)]] void start() { initialize(); }
[[gnu::destructor(101)]] void finish();

int find_program(dl_phdr_info* info, std::size_t, void*) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& h = info->dlpi_phdr[i];
    if (h.p_type != PT_LOAD || (h.p_flags & PF_X) == 0) continue;
    set_program_text(info->dlpi_addr + h.p_vaddr, info->dlpi_addr + h.p_vaddr + h.p_memsz);
  }
  return 1;  // the first one is the program
}

struct Environment {
  char* entries[4096];
  Text text;
};

// As the kernel has it, or a file that is like that.
char** read_environment(const char* file) {
  auto* environment = new (map_or_die(sizeof(Environment), "the environment")) Environment;
  auto& [entries, text] = *environment;
  const long fd = sys::open(file, O_RDONLY | O_CLOEXEC);
  char buffer[4096];
  for (long n = 0; !sys::failed(fd) && (n = sys::read(static_cast<int>(fd), buffer, sizeof buffer)) > 0;) {
    text.put(buffer, static_cast<std::size_t>(n));
  }
  if (!sys::failed(fd)) sys::close(static_cast<int>(fd));
  auto* p = const_cast<char*>(text.c_str());
  const char* end = p + text.size();
  for (std::size_t i = 0; p < end && i + 1 < sizeof entries / sizeof *entries; p += std::strlen(p) + 1)
    entries[i++] = p;
  return entries;
}

// From the kernel: GCC starts us before libc has set `environ`.
char** initial_environment() {
  static constinit char** known = nullptr;
  if (known == nullptr) known = read_environment("/proc/self/environ");
  return known;
}

// `photofinish run` preloads us where the user preloads, and then the program's children get us, too, whatever they are.
bool is_bystander(char** environment) {
  bool preloaded = false;
  for (char** e = environment; *e != nullptr; ++e) preloaded |= value_of(*e, "PHOTOFINISH_PRELOADED") != nullptr;
  return preloaded && !is_any_instrumented();
}

// `photofinish sample` preloads us into one process, and its children get us, too. `photofinish attach` has us loaded, then calls us.
bool is_sampled(char** environment) {
  for (char** e = environment; *e != nullptr; ++e) {
    if (const char* board = value_of(*e, "PHOTOFINISH_BOARD"); board != nullptr) return planted::start(board);
  }
  return !kIsForSampling;
}

// Without a supervisor the exit code is ours to set. libc would write out its streams only after us.
void finish_alone() {
  if (tell_end(reported() != 0) == 0 || output::supervised()) return;
  fflush(nullptr);
  sys::die(g_options.exitcode);
}

}  // namespace

namespace {

void start_with(char** environment) {
  sys::register_barrier_on_all_threads();
  output::initialize(environment);  // first: the reader is to know of us even if there is no memory
  parse_options(default_options());
  read_options(environment);
  if (planted::is_on()) g_options.report_thread_leaks = g_options.report_mutex_bugs = false;  // races were asked for
  dl_iterate_phdr(&find_program, nullptr);
  host::start();
}

void be_ready() {
  watch_forks();
  become_own_process();
  __atomic_store_n(&g_ready, true, __ATOMIC_RELEASE);
}

}  // namespace

void initialize() {
  if (__atomic_load_n(&g_ready, __ATOMIC_ACQUIRE) || g_starting) return;
  g_starting = true;  // and stays so in a process that is not ours to watch
  if (is_bystander(initial_environment()) || !is_sampled(initial_environment())) return;
  start_with(initial_environment());
  registry::adopt_main();
  be_ready();
  library::start();
  g_starting = false;
  tell_start();
}

bool start_late(const char* environment_file) {
  char** environment = read_environment(environment_file);
  be_silent();
  g_starting = true;  // on the thread that was borrowed for this
  const bool wanted = is_sampled(environment);
  if (wanted) {
    output::start_over();
    start_reports_over();
    g_options = Options{};
    start_with(environment);
    g_options.halt_on_error = false;  // the program is not ours to end
    if (!g_ready) registry::expect_main();
    if (!g_ready) be_ready();
    g_dormant = false;
    tell_start();
  }
  g_starting = false;
  return wanted;
}

void go_dormant() {
  g_dormant = true;
  write_summary();
  output::stop();
}
bool is_dormant() { return __atomic_load_n(&g_dormant, __ATOMIC_RELAXED); }

Thread* meet() {
  if (!__atomic_load_n(&g_ready, __ATOMIC_ACQUIRE) || g_gone || g_starting) return nullptr;
  g_starting = true;
  Thread* t = registry::adopt();
  end_at_thread_exit();
  g_starting = false;
  return t;
}

Thread* running_thread() {
  Thread* t = self;
  if (t != nullptr || !__atomic_load_n(&g_ready, __ATOMIC_ACQUIRE) || g_gone || g_starting) return t;
  return registry::adopt_running();
}

namespace {

void finish() {
  if (!__atomic_load_n(&g_ready, __ATOMIC_ACQUIRE) || is_dormant()) return;
  if (Thread* t = self; t != nullptr) {
    const Scope scope(*t);
    report_thread_leaks();
  }
  write_summary();
  finish_alone();
}

}  // namespace

void become_own_process() { __atomic_store_n(&g_process, sys::process_id(), __ATOMIC_RELAXED); }
bool is_own_process() { return g_process == sys::process_id(); }
int exit_code() { return g_options.exitcode; }
void leave_thread() { g_gone = true; }

}  // namespace pf::rt

PF_EXPORT void __tsan_init() { pf::rt::initialize(); }
