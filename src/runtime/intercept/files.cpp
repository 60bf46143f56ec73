// Calls that tell the program about files and the system: what they leave in its memory.
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/intercept/intercept.h"

using namespace pf::rt;

namespace {

using std::size_t;

PF_REAL(gethostname);
PF_REAL(getcwd);
PF_REAL(realpath);
PF_REAL(readlink);
PF_REAL(readlinkat);
PF_REAL(stat);
PF_REAL(stat64);
PF_REAL(lstat);
PF_REAL(lstat64);
PF_REAL(fstat);
PF_REAL(fstat64);
PF_REAL(fstatat);
PF_REAL(fstatat64);
constinit Real<char* (*)(int, char*, size_t)> real_strerror_r{"strerror_r"};
constinit Real<int (*)(int, char*, size_t)> real___xpg_strerror_r{"__xpg_strerror_r"};

void noted_write(const void* p, size_t n, uintptr_t pc) {
  if (Thread* t = caller_thread(); t != nullptr) note_write(*t, p, n, pc);
}
void noted_string(const char* s, uintptr_t pc) {
  Thread* t = caller_thread();
  if (t == nullptr) return;
  size_t n = 0;
  {
    const Scope scope(*t);  // strlen is intercepted too
    n = strlen(s) + 1;
  }
  note_write(*t, s, n, pc);
}
ssize_t noted_link(ssize_t n, const char* to, uintptr_t pc) {
  if (n > 0) noted_write(to, static_cast<size_t>(n), pc);
  return n;
}
template <class Stat>
int noted_stat(int result, const Stat* to, uintptr_t pc) {
  if (result == 0) noted_write(to, sizeof *to, pc);
  return result;
}

}  // namespace

PF_EXPORT int gethostname(char* to, size_t room) noexcept {
  const int result = real_gethostname(to, room);
  if (result == 0) noted_string(to, PF_CALLER_PC);
  return result;
}
// Both of these allocate when they get no buffer.
PF_EXPORT char* getcwd(char* to, size_t room) noexcept {
  const CalledAt here(PF_CALLER_PC);
  char* result = real_getcwd(to, room);
  if (result != nullptr) noted_string(result, PF_CALLER_PC);
  return result;
}
PF_EXPORT char* realpath(const char* path, char* to) noexcept {
  const CalledAt here(PF_CALLER_PC);
  char* result = real_realpath(path, to);
  if (result != nullptr) noted_string(result, PF_CALLER_PC);
  return result;
}
PF_EXPORT ssize_t readlink(const char* path, char* to, size_t room) noexcept {
  return noted_link(real_readlink(path, to, room), to, PF_CALLER_PC);
}
PF_EXPORT ssize_t readlinkat(int at, const char* path, char* to, size_t room) noexcept {
  return noted_link(real_readlinkat(at, path, to, room), to, PF_CALLER_PC);
}

// GNU's may answer with a text of its own; POSIX's has another symbol.
PF_INTERCEPT(char*, strerror_r, (int error, char* to, size_t room)) {
  char* result = real_strerror_r(error, to, room);
  if (result == to && room != 0) noted_string(to, PF_CALLER_PC);
  return result;
}
PF_INTERCEPT(int, __xpg_strerror_r, (int error, char* to, size_t room)) {
  const int result = real___xpg_strerror_r(error, to, room);
  if (room != 0) noted_string(to, PF_CALLER_PC);
  return result;
}

PF_EXPORT int stat(const char* path, struct stat* to) noexcept {
  return noted_stat(real_stat(path, to), to, PF_CALLER_PC);
}
PF_EXPORT int stat64(const char* path, struct stat64* to) noexcept {
  return noted_stat(real_stat64(path, to), to, PF_CALLER_PC);
}
PF_EXPORT int lstat(const char* path, struct stat* to) noexcept {
  return noted_stat(real_lstat(path, to), to, PF_CALLER_PC);
}
PF_EXPORT int lstat64(const char* path, struct stat64* to) noexcept {
  return noted_stat(real_lstat64(path, to), to, PF_CALLER_PC);
}
PF_EXPORT int fstat(int fd, struct stat* to) noexcept { return noted_stat(real_fstat(fd, to), to, PF_CALLER_PC); }
PF_EXPORT int fstat64(int fd, struct stat64* to) noexcept { return noted_stat(real_fstat64(fd, to), to, PF_CALLER_PC); }
PF_EXPORT int fstatat(int at, const char* path, struct stat* to, int flags) noexcept {
  return noted_stat(real_fstatat(at, path, to, flags), to, PF_CALLER_PC);
}
PF_EXPORT int fstatat64(int at, const char* path, struct stat64* to, int flags) noexcept {
  return noted_stat(real_fstatat64(at, path, to, flags), to, PF_CALLER_PC);
}
