// What a process loads while it is attached to calls the runtime, too, and libc again afterwards.
// RUN: %plainxx -g -shared -fPIC -DMODULE %s -o %t.so && %plainxx -g %s -o %t
// RUN: %attached %t %t.so -- 'photofinish attach $pid --for 6s & sleep 1; kill -USR2 $pid; wait $!' | %FileCheck %s
// CHECK: photofinish: exit code 0
// CHECK: ready
// CHECK-NEXT: module calls libc.so.6
// CHECK-NEXT: module calls libphotofinish.so
// CHECK-NEXT: module calls libc.so.6
// CHECK-NEXT: program: exit code 0
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <string>

#ifdef MODULE
extern "C" void* unlock() { return reinterpret_cast<void*>(&pthread_mutex_unlock); }
#else
volatile sig_atomic_t load, end;

static std::string file_of(const void* function) {
  Dl_info info;
  if (dladdr(function, &info) == 0) return "?";
  return strrchr(info.dli_fname, '/') + 1;
}

int main(int, char** arguments) {
  signal(SIGUSR1, [](int) { end = 1; });
  signal(SIGUSR2, [](int) { load = 1; });
  puts("ready");
  fflush(stdout);
  void* (*unlock)() = nullptr;
  for (std::string last; !end; usleep(10000)) {
    if (load && unlock == nullptr) {
      void* module = dlopen(arguments[1], RTLD_NOW);
      unlock = reinterpret_cast<void* (*)()>(dlsym(module, "unlock"));
    }
    if (unlock == nullptr || file_of(unlock()) == last) continue;
    last = file_of(unlock());
    printf("module calls %s\n", last.c_str());
    fflush(stdout);
  }
}
#endif
