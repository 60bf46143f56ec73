// Streams of stdio: what a call reads from or writes to the program's memory, and the order that data brings along.
//
// Writing to a stream posts at its descriptor's object before the real call, reading takes after it (descriptors.cpp),
// whether the bytes move now or wait in the buffer; a stream without a descriptor is its own object. A stream's internal
// lock orders nothing more: two threads that print are not ordered by it, as in C++ ([iostreams.threadsafety]), or a
// line of output would hide most races. A program's own flockfile and funlockfile are a lock. Single characters are
// told only when the buffer is at its end.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "runtime/descriptors.h"
#include "runtime/intercept/intercept.h"

using namespace pf;
using namespace pf::rt;

namespace {

using std::size_t;
namespace fds = pf::rt::descriptors;

PF_REAL(fopen);
PF_REAL(fopen64);
PF_REAL(freopen);
PF_REAL(freopen64);
PF_REAL(tmpfile);
PF_REAL(popen);
PF_REAL(pclose);
PF_REAL(fclose);
PF_REAL(fflush);
PF_REAL(fread);
PF_REAL(fread_unlocked);
PF_REAL(fwrite);
PF_REAL(fwrite_unlocked);
PF_REAL(fgets);
PF_REAL(fputs);
PF_REAL(fputs_unlocked);
PF_REAL(puts);
PF_REAL(fputc);
PF_REAL(fgetc);
PF_REAL(flockfile);
PF_REAL(ftrylockfile);
PF_REAL(funlockfile);
PF_REAL(vfprintf);
PF_REAL(vdprintf);
PF_REAL(vsprintf);
PF_REAL(vsnprintf);
constinit Real<ssize_t (*)(char**, size_t*, int, FILE*)> real_getdelim{"getdelim"};
constinit Real<int (*)(FILE*, const char*, va_list)> real_vfscanf{"__isoc99_vfscanf"};
constinit Real<size_t (*)(void*, size_t, size_t, size_t, FILE*)> real___fread_chk{"__fread_chk"};
constinit Real<char* (*)(char*, size_t, int, FILE*)> real___fgets_chk{"__fgets_chk"};
constinit Real<int (*)(FILE*, int, const char*, va_list)> real___vfprintf_chk{"__vfprintf_chk"};
constinit Real<int (*)(char*, int, size_t, const char*, va_list)> real___vsprintf_chk{"__vsprintf_chk"};
constinit Real<int (*)(char*, size_t, int, size_t, const char*, va_list)> real___vsnprintf_chk{"__vsnprintf_chk"};

// Without a call of fileno, which sets errno for a stream that has none.
int descriptor(const FILE* f) { return f->_fileno; }

void posting(const FILE* f) {
  Thread* t = calling_thread();
  if (t == nullptr || f == nullptr) return;
  descriptor(f) >= 0 ? fds::post(*t, descriptor(f)) : host::post(*t, address_of(f));
}
void take(const FILE* f) {
  Thread* t = calling_thread();
  if (t == nullptr) return;
  descriptor(f) >= 0 ? fds::take(*t, descriptor(f)) : host::take(*t, address_of(f));
}

void noted_read(const void* p, size_t n, uintptr_t pc) {
  if (Thread* t = calling_thread(); t != nullptr) note_read(*t, p, n, pc);
}
void noted_write(const void* p, size_t n, uintptr_t pc) {
  if (Thread* t = calling_thread(); t != nullptr) note_write(*t, p, n, pc);
}
// Of a string with its end; 0 when nobody wants to know.
size_t size_of_string(const char* s) {
  Thread* t = calling_thread();
  if (t == nullptr) return 0;
  const Scope scope(*t);  // strlen is intercepted too
  return strlen(s) + 1;
}

FILE* made(FILE* f) {
  if (f != nullptr) fds::opened(descriptor(f));
  return f;
}

void writing(const FILE* f, const void* from, size_t n, uintptr_t pc) {
  noted_read(from, n, pc);
  posting(f);
}
void have_read(const FILE* f, const void* to, size_t n, uintptr_t pc) {
  take(f);
  noted_write(to, n, pc);
}
char* have_read_line(const FILE* f, char* line, uintptr_t pc) {
  take(f);
  if (line != nullptr) noted_write(line, size_of_string(line), pc);
  return line;
}

// What a formatted text of n characters, or as many as there is room for, leaves in the buffer.
int printed(int n, const char* to, size_t room, uintptr_t pc) {
  if (n < 0 || room == 0) return n;
  const auto whole = static_cast<size_t>(n) + 1;
  noted_write(to, whole < room ? whole : room, pc);
  return n;
}

}  // namespace

// --- making and closing ---

PF_EXPORT FILE* fopen(const char* path, const char* mode) { return made(real_fopen(path, mode)); }
PF_EXPORT FILE* __interceptor_fopen(const char* path, const char* mode) { return made(real_fopen(path, mode)); }
PF_EXPORT FILE* fopen64(const char* path, const char* mode) { return made(real_fopen64(path, mode)); }
PF_EXPORT FILE* freopen(const char* path, const char* mode, FILE* f) {
  if (descriptor(f) >= 0) fds::closing(calling_thread(), descriptor(f));
  return made(real_freopen(path, mode, f));
}
PF_EXPORT FILE* freopen64(const char* path, const char* mode, FILE* f) {
  if (descriptor(f) >= 0) fds::closing(calling_thread(), descriptor(f));
  return made(real_freopen64(path, mode, f));
}
PF_EXPORT FILE* tmpfile() { return made(real_tmpfile()); }
PF_EXPORT FILE* popen(const char* command, const char* mode) { return made(real_popen(command, mode)); }
PF_EXPORT int pclose(FILE* f) {
  fds::closing(calling_thread(), descriptor(f));
  return real_pclose(f);
}
PF_EXPORT int fclose(FILE* f) {
  posting(f);
  if (descriptor(f) >= 0) fds::opened(descriptor(f));
  return real_fclose(f);
}

PF_EXPORT void flockfile(FILE* f) noexcept {
  real_flockfile(f);
  if (Thread* t = calling_thread(); t != nullptr) lock_taken(*t, address_of(f), LockMode::Write, PF_CALLER_PC);
}
PF_EXPORT int ftrylockfile(FILE* f) noexcept {
  const int result = real_ftrylockfile(f);
  if (Thread* t = result == 0 ? calling_thread() : nullptr; t != nullptr)
    lock_taken(*t, address_of(f), LockMode::Write, PF_CALLER_PC);
  return result;
}
PF_EXPORT void funlockfile(FILE* f) noexcept {
  if (Thread* t = calling_thread(); t != nullptr) lock_given_up(*t, address_of(f), PF_CALLER_PC);
  real_funlockfile(f);
}

// --- writing ---

PF_EXPORT int fflush(FILE* f) {
  posting(f);
  return real_fflush(f);
}
PF_EXPORT size_t fwrite(const void* from, size_t size, size_t count, FILE* f) {
  writing(f, from, size * count, PF_CALLER_PC);
  return real_fwrite(from, size, count, f);
}
PF_INTERCEPT(size_t, fwrite_unlocked, (const void* from, size_t size, size_t count, FILE* f)) {
  writing(f, from, size * count, PF_CALLER_PC);
  return real_fwrite_unlocked(from, size, count, f);
}
PF_EXPORT int fputs(const char* s, FILE* f) {
  writing(f, s, size_of_string(s), PF_CALLER_PC);
  return real_fputs(s, f);
}
PF_EXPORT int fputs_unlocked(const char* s, FILE* f) {
  writing(f, s, size_of_string(s), PF_CALLER_PC);
  return real_fputs_unlocked(s, f);
}
PF_EXPORT int puts(const char* s) {
  writing(stdout, s, size_of_string(s), PF_CALLER_PC);
  return real_puts(s);
}
static int put_character(int c, FILE* f) {
  if (f->_IO_write_ptr >= f->_IO_write_end) posting(f);
  return real_fputc(c, f);
}
PF_INTERCEPT(int, fputc, (int c, FILE* f)) { return put_character(c, f); }
PF_INTERCEPT(int, putc, (int c, FILE* f)) { return put_character(c, f); }
PF_INTERCEPT(int, putchar, (int c)) { return put_character(c, stdout); }

// --- reading ---

PF_EXPORT size_t fread(void* to, size_t size, size_t count, FILE* f) {
  const size_t n = real_fread(to, size, count, f);
  have_read(f, to, n * size, PF_CALLER_PC);
  return n;
}
PF_INTERCEPT(size_t, fread_unlocked, (void* to, size_t size, size_t count, FILE* f)) {
  const size_t n = real_fread_unlocked(to, size, count, f);
  have_read(f, to, n * size, PF_CALLER_PC);
  return n;
}
PF_EXPORT size_t __fread_chk(void* to, size_t room, size_t size, size_t count, FILE* f) {
  const size_t n = real___fread_chk(to, room, size, count, f);
  have_read(f, to, n * size, PF_CALLER_PC);
  return n;
}
PF_EXPORT char* fgets(char* to, int room, FILE* f) { return have_read_line(f, real_fgets(to, room, f), PF_CALLER_PC); }
PF_EXPORT char* __fgets_chk(char* to, size_t room, int n, FILE* f) {
  return have_read_line(f, real___fgets_chk(to, room, n, f), PF_CALLER_PC);
}
static int get_character(FILE* f) {
  const bool empty = f->_IO_read_ptr >= f->_IO_read_end;
  const int c = real_fgetc(f);
  if (empty) take(f);
  return c;
}
PF_INTERCEPT(int, fgetc, (FILE * f)) { return get_character(f); }
PF_INTERCEPT(int, getc, (FILE * f)) { return get_character(f); }
PF_INTERCEPT(int, getchar, ()) { return get_character(stdin); }

static ssize_t get_line(char** line, size_t* room, int end, FILE* f, uintptr_t pc) {
  ssize_t n = 0;
  {
    const CalledAt here(pc);  // it may make the line longer
    n = real_getdelim(line, room, end, f);
  }
  take(f);
  if (n < 0) return n;
  noted_write(static_cast<void*>(line), sizeof *line, pc);
  noted_write(room, sizeof *room, pc);
  noted_write(*line, static_cast<size_t>(n) + 1, pc);
  return n;
}
PF_INTERCEPT(ssize_t, getline, (char** line, size_t* room, FILE* f)) {
  return get_line(line, room, '\n', f, PF_CALLER_PC);
}
PF_INTERCEPT(ssize_t, getdelim, (char** line, size_t* room, int end, FILE* f)) {
  return get_line(line, room, end, f, PF_CALLER_PC);
}
PF_INTERCEPT(ssize_t, __getdelim, (char** line, size_t* room, int end, FILE* f)) {
  return get_line(line, room, end, f, PF_CALLER_PC);
}

// --- formatted: arguments are not looked at, only what comes out, and to where ---

// Defines NAME(PARAMETERS, ...) by an expression that uses `arguments`.
#define PF_FORMATTED(NAME, LAST, PARAMETERS, ...)                                                                      \
  PF_INTERCEPT(int, NAME, PARAMETERS) {                                                                                \
    va_list arguments;                                                                                                 \
    va_start(arguments, LAST);                                                                                         \
    const int result = __VA_ARGS__;                                                                                    \
    va_end(arguments);                                                                                                 \
    return result;                                                                                                     \
  }

static int print(FILE* f, const char* format, va_list arguments) {
  posting(f);
  return real_vfprintf(f, format, arguments);
}
static int print_checked(FILE* f, int flag, const char* format, va_list arguments) {
  posting(f);
  return real___vfprintf_chk(f, flag, format, arguments);
}
static int print_to(int fd, const char* format, va_list arguments) {
  if (Thread* t = calling_thread(); t != nullptr) fds::post(*t, fd);
  return real_vdprintf(fd, format, arguments);
}
static int scan(FILE* f, const char* format, va_list arguments) {
  const int n = real_vfscanf(f, format, arguments);
  take(f);
  return n;
}

PF_FORMATTED(printf, format, (const char* format, ...), print(stdout, format, arguments))
PF_FORMATTED(fprintf, format, (FILE * f, const char* format, ...), print(f, format, arguments))
PF_FORMATTED(dprintf, format, (int fd, const char* format, ...), print_to(fd, format, arguments))
PF_FORMATTED(__printf_chk, format, (int flag, const char* format, ...), print_checked(stdout, flag, format, arguments))
PF_FORMATTED(__fprintf_chk, format, (FILE * f, int flag, const char* format, ...),
             print_checked(f, flag, format, arguments))
PF_FORMATTED(__isoc99_scanf, format, (const char* format, ...), scan(stdin, format, arguments))
PF_FORMATTED(__isoc99_fscanf, format, (FILE * f, const char* format, ...), scan(f, format, arguments))
PF_INTERCEPT(int, vprintf, (const char* format, va_list arguments)) { return print(stdout, format, arguments); }
PF_INTERCEPT(int, vfprintf, (FILE * f, const char* format, va_list arguments)) { return print(f, format, arguments); }
PF_INTERCEPT(int, vdprintf, (int fd, const char* format, va_list arguments)) { return print_to(fd, format, arguments); }

PF_FORMATTED(sprintf, format, (char* to, const char* format, ...),
             printed(real_vsprintf(to, format, arguments), to, SIZE_MAX, PF_CALLER_PC))
PF_FORMATTED(snprintf, format, (char* to, size_t room, const char* format, ...),
             printed(real_vsnprintf(to, room, format, arguments), to, room, PF_CALLER_PC))
PF_FORMATTED(__sprintf_chk, format, (char* to, int flag, size_t size, const char* format, ...),
             printed(real___vsprintf_chk(to, flag, size, format, arguments), to, SIZE_MAX, PF_CALLER_PC))
PF_FORMATTED(__snprintf_chk, format, (char* to, size_t room, int flag, size_t size, const char* format, ...),
             printed(real___vsnprintf_chk(to, room, flag, size, format, arguments), to, room, PF_CALLER_PC))
PF_INTERCEPT(int, vsprintf, (char* to, const char* format, va_list arguments)) {
  return printed(real_vsprintf(to, format, arguments), to, SIZE_MAX, PF_CALLER_PC);
}
PF_INTERCEPT(int, vsnprintf, (char* to, size_t room, const char* format, va_list arguments)) {
  return printed(real_vsnprintf(to, room, format, arguments), to, room, PF_CALLER_PC);
}
PF_INTERCEPT(int, __vfprintf_chk, (FILE * f, int flag, const char* format, va_list arguments)) {
  return print_checked(f, flag, format, arguments);
}
PF_INTERCEPT(int, __vsprintf_chk, (char* to, int flag, size_t size, const char* format, va_list arguments)) {
  return printed(real___vsprintf_chk(to, flag, size, format, arguments), to, SIZE_MAX, PF_CALLER_PC);
}
PF_INTERCEPT(int, __vsnprintf_chk,
             (char* to, size_t room, int flag, size_t size, const char* format, va_list arguments)) {
  return printed(real___vsnprintf_chk(to, room, flag, size, format, arguments), to, room, PF_CALLER_PC);
}
