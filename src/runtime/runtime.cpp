// The runtime's life in the process: it starts with the library, before the program's own constructors, and ends with
// a summary on every way out that a process can see coming.
#include "runtime/runtime.h"

#include <unistd.h>

#include "runtime/abi/abi.h"
#include "runtime/chunks.h"
#include "runtime/found.h"
#include "runtime/libc.h"
#include "runtime/options.h"
#include "runtime/output.h"
#include "runtime/registry.h"

namespace pf::rt {
namespace {

constinit bool g_ready = false;
[[gnu::tls_model("initial-exec")]] constinit thread_local bool g_starting = false;
[[gnu::tls_model("initial-exec")]] constinit thread_local bool g_gone = false;  // this thread is past its end

[[gnu::noinline, gnu::cold]] Thread* meet() {
  if (!__atomic_load_n(&g_ready, __ATOMIC_ACQUIRE) || g_gone || g_starting) return nullptr;
  g_starting = true;
  Thread* t = registry::adopt();
  end_at_thread_exit();
  g_starting = false;
  return t;
}

[[gnu::constructor(101)]] void start() { initialize(); }
[[gnu::destructor(101)]] void finish() { write_summary(); }

}  // namespace

void initialize() {
  if (__atomic_load_n(&g_ready, __ATOMIC_ACQUIRE) || g_starting) return;
  g_starting = true;
  sys::register_barrier_on_all_threads();
  initialize_chunks();
  read_options(environ);
  output::initialize(environ);
  registry::adopt_main();
  __atomic_store_n(&g_ready, true, __ATOMIC_RELEASE);
  g_starting = false;
}

Thread* current() {
  Thread* t = self;
  return t != nullptr ? t : meet();
}

void leave_thread() { g_gone = true; }

}  // namespace pf::rt

PF_EXPORT void __tsan_init() { pf::rt::initialize(); }
