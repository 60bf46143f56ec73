// Functions on memory and strings: what each reads and writes, byte-exact, as far as the data made it look.
//
// The runtime and the code that compilers make for it call some of these too, and so do libraries before anything is ready:
// such calls go straight to the real function, and until that is known to a loop. This file is compiled with
// -fno-builtin, and the loops are written so that no compiler sees memcpy in them.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <wchar.h>

#include "runtime/intercept/intercept.h"

using namespace pf::rt;

namespace {

using std::size_t;
using FindByte = void* (*)(const void*, int, size_t);
using FindChar = char* (*)(const char*, int);
using FindString = char* (*)(const char*, const char*);

PF_REAL(memcpy);
PF_REAL(memmove);
PF_REAL(memset);
PF_REAL(memcmp);
PF_REAL(memmem);
PF_REAL(memccpy);
PF_REAL(strlen);
PF_REAL(strnlen);
PF_REAL(strcpy);
PF_REAL(stpcpy);
PF_REAL(strncpy);
PF_REAL(stpncpy);
PF_REAL(strcat);
PF_REAL(strncat);
PF_REAL(strcasecmp);
PF_REAL(strncasecmp);
PF_REAL(strspn);
PF_REAL(strcspn);
PF_REAL(wcslen);
PF_REAL(wcsnlen);
constinit Real<FindByte> real_memchr{"memchr"};
constinit Real<FindByte> real_memrchr{"memrchr"};
constinit Real<FindChar> real_strchr{"strchr"};
constinit Real<FindChar> real_strrchr{"strrchr"};
constinit Real<FindString> real_strstr{"strstr"};
constinit Real<FindString> real_strcasestr{"strcasestr"};
constinit Real<FindString> real_strpbrk{"strpbrk"};

// Before anybody can be in a hurry, and while looking for a symbol cannot be in the way of anything.
[[gnu::constructor(101)]] void find_all() {
  real_memcpy.get(), real_memmove.get(), real_memset.get(), real_memcmp.get(), real_memmem.get(), real_memccpy.get();
  real_strlen.get(), real_strnlen.get(), real_strcpy.get(), real_stpcpy.get(), real_strncpy.get(), real_stpncpy.get();
  real_strcat.get(), real_strncat.get(), real_strcasecmp.get(), real_strncasecmp.get();
  real_strspn.get(), real_strcspn.get(), real_wcslen.get(), real_wcsnlen.get();
  real_memchr.get(), real_memrchr.get(), real_strchr.get(), real_strrchr.get();
  real_strstr.get(), real_strcasestr.get(), real_strpbrk.get();
}

// --- the functions that are needed before they are found ---

void* copy(void* to, const void* from, size_t n) {
  if (const auto real = real_memcpy.known(); real != nullptr) [[likely]]
    return real(to, from, n);
  void* at = to;
  __asm__ volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(n)::"memory");
  return to;
}

void* move(void* to, const void* from, size_t n) {
  if (const auto real = real_memmove.known(); real != nullptr) [[likely]]
    return real(to, from, n);
  if (address_of(to) - address_of(from) >= n) return copy(to, from, n);  // not into what is still to be read
  void* last = static_cast<char*>(to) + n - 1;
  const void* last_from = static_cast<const char*>(from) + n - 1;
  __asm__ volatile("std; rep movsb; cld" : "+D"(last), "+S"(last_from), "+c"(n)::"memory");
  return to;
}

void* fill(void* to, int byte, size_t n) {
  if (const auto real = real_memset.known(); real != nullptr) [[likely]]
    return real(to, byte, n);
  void* at = to;
  __asm__ volatile("rep stosb" : "+D"(at), "+c"(n) : "a"(byte) : "memory");
  return to;
}

size_t length(const char* s) {
  if (const auto real = real_strlen.known(); real != nullptr) [[likely]]
    return real(s);
  size_t n = 0;
  while (s[n] != '\0') {
    ++n;
    __asm__ volatile("");  // not to become a call of strlen
  }
  return n;
}

size_t with_end(const char* s) { return length(s) + 1; }
// How much of a string of at most n characters is looked at.
size_t with_end(const char* s, size_t n) {
  const size_t characters = real_strnlen(s, n);
  return characters < n ? characters + 1 : n;
}

// --- what is read, and the answer, where the two are found together ---

struct Comparison {
  int result;
  size_t read;
};

struct [[gnu::packed, gnu::may_alias]] EightBytes {
  uint64_t value;
};

Comparison compare_bytes(const void* p, const void* q, size_t n) {
  const auto* a = static_cast<const unsigned char*>(p);
  const auto* b = static_cast<const unsigned char*>(q);
  size_t i = 0;
  for (; n - i >= 8; i += 8) {
    const uint64_t differ =
        reinterpret_cast<const EightBytes*>(a + i)->value ^ reinterpret_cast<const EightBytes*>(b + i)->value;
    if (differ == 0) continue;
    i += static_cast<size_t>(__builtin_ctzll(differ)) / 8;
    return {a[i] - b[i], i + 1};
  }
  for (; i < n; ++i) {
    if (a[i] != b[i]) return {a[i] - b[i], i + 1};
    __asm__ volatile("");
  }
  return {0, n};
}

Comparison compare_strings(const char* p, const char* q, size_t n) {
  const auto* a = reinterpret_cast<const unsigned char*>(p);
  const auto* b = reinterpret_cast<const unsigned char*>(q);
  for (size_t i = 0; i < n; ++i) {
    if (a[i] != b[i] || a[i] == 0) return {a[i] - b[i], i + 1};
  }
  return {0, n};
}

// As in the C locale: how far a comparison in another one looks may differ by letters that are no ASCII.
unsigned lower(unsigned c) { return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c; }

size_t read_by_case_compare(const char* p, const char* q, size_t n) {
  const auto* a = reinterpret_cast<const unsigned char*>(p);
  const auto* b = reinterpret_cast<const unsigned char*>(q);
  for (size_t i = 0; i < n; ++i) {
    if (lower(a[i]) != lower(b[i]) || a[i] == 0) return i + 1;
  }
  return n;
}

constexpr size_t kNoLimit = SIZE_MAX;

// --- telling ---

void tell_copy(const void* to, const void* from, size_t n, uintptr_t pc) {
  Thread* t = caller_thread();
  if (t == nullptr) return;
  note_read(*t, from, n, pc);
  note_write(*t, to, n, pc);
}
void tell_fill(const void* to, size_t n, uintptr_t pc) {
  if (Thread* t = caller_thread(); t != nullptr) note_write(*t, to, n, pc);
}
void tell_read(const void* from, size_t n, uintptr_t pc) {
  if (Thread* t = caller_thread(); t != nullptr) note_read(*t, from, n, pc);
}

int tell_compare(const void* p, const void* q, Comparison c, uintptr_t pc) {
  Thread* t = caller_thread();
  if (t == nullptr) return c.result;
  note_read(*t, p, c.read, pc);
  note_read(*t, q, c.read, pc);
  return c.result;
}

int memory_compare(const void* p, const void* q, size_t n, uintptr_t pc) {
  if (const auto real = real_memcmp.known(); real != nullptr && caller_thread() == nullptr) return real(p, q, n);
  return tell_compare(p, q, compare_bytes(p, q, n), pc);
}

void tell_string_copy(const char* to, const char* from, uintptr_t pc) {
  if (caller_thread() != nullptr) tell_copy(to, from, with_end(from), pc);
}
// Fills up with zeros.
void tell_padded_copy(const char* to, const char* from, size_t n, uintptr_t pc) {
  Thread* t = caller_thread();
  if (t == nullptr) return;
  note_read(*t, from, with_end(from, n), pc);
  note_write(*t, to, n, pc);
}
void tell_append(const char* to, const char* from, size_t n, uintptr_t pc) {
  Thread* t = caller_thread();
  if (t == nullptr) return;
  const size_t before = length(to);
  const size_t added = n == kNoLimit ? length(from) : real_strnlen(from, n);
  note_read(*t, to, before + 1, pc);
  note_read(*t, from, added < n ? added + 1 : n, pc);
  note_write(*t, to + before, added + 1, pc);
}

// A search forward ends after what was found, or at the end of the string.
template <class T>
T* tell_search(const char* s, T* hit, size_t hit_size, uintptr_t pc) {
  if (caller_thread() == nullptr) return hit;
  tell_read(s, hit != nullptr ? static_cast<size_t>(hit - s) + hit_size : with_end(s), pc);
  return hit;
}
char* tell_string_search(const char* s, const char* what, char* hit, uintptr_t pc) {
  if (caller_thread() == nullptr) return hit;
  tell_read(what, with_end(what), pc);
  return tell_search(s, hit, length(what), pc);
}
size_t tell_span(const char* s, const char* set, size_t n, uintptr_t pc) {
  if (caller_thread() == nullptr) return n;
  tell_read(s, n + 1, pc);
  tell_read(set, with_end(set), pc);
  return n;
}

char* duplicate(const char* s, size_t characters, size_t read, uintptr_t pc) {
  const CalledAt here(pc);
  auto* fresh = static_cast<char*>(malloc(characters + 1));
  if (fresh == nullptr) return nullptr;
  tell_read(s, read, pc);
  tell_fill(fresh, characters + 1, pc);
  copy(fresh, s, characters);
  fresh[characters] = '\0';
  return fresh;
}

}  // namespace

// --- blocks of memory ---

PF_EXPORT void* memcpy(void* to, const void* from, size_t n) noexcept {
  tell_copy(to, from, n, PF_CALLER_PC);
  return copy(to, from, n);
}
PF_EXPORT void* memmove(void* to, const void* from, size_t n) noexcept {
  tell_copy(to, from, n, PF_CALLER_PC);
  return move(to, from, n);
}
PF_EXPORT void* memset(void* to, int byte, size_t n) noexcept {
  tell_fill(to, n, PF_CALLER_PC);
  return fill(to, byte, n);
}
PF_EXPORT void* mempcpy(void* to, const void* from, size_t n) noexcept {
  tell_copy(to, from, n, PF_CALLER_PC);
  return static_cast<char*>(copy(to, from, n)) + n;
}
PF_EXPORT void* memccpy(void* to, const void* from, int last, size_t n) noexcept {
  if (caller_thread() != nullptr) {
    const void* hit = real_memchr(from, last, n);
    tell_copy(to, from, hit != nullptr ? address_of(hit) - address_of(from) + 1 : n, PF_CALLER_PC);
  }
  return real_memccpy(to, from, last, n);
}
PF_EXPORT void bcopy(const void* from, void* to, size_t n) noexcept {
  tell_copy(to, from, n, PF_CALLER_PC);
  move(to, from, n);
}
PF_EXPORT void bzero(void* to, size_t n) noexcept {
  tell_fill(to, n, PF_CALLER_PC);
  fill(to, 0, n);
}
PF_EXPORT void explicit_bzero(void* to, size_t n) noexcept {
  tell_fill(to, n, PF_CALLER_PC);
  fill(to, 0, n);
}

PF_EXPORT int memcmp(const void* p, const void* q, size_t n) noexcept { return memory_compare(p, q, n, PF_CALLER_PC); }
PF_EXPORT int bcmp(const void* p, const void* q, size_t n) noexcept { return memory_compare(p, q, n, PF_CALLER_PC); }

PF_INTERCEPT(void*, memchr, (const void* p, int byte, size_t n)) {
  void* hit = real_memchr(p, byte, n);
  tell_read(p, hit != nullptr ? address_of(hit) - address_of(p) + 1 : n, PF_CALLER_PC);
  return hit;
}
PF_INTERCEPT(void*, memrchr, (const void* p, int byte, size_t n)) {
  void* hit = real_memrchr(p, byte, n);
  tell_read(hit != nullptr ? hit : p, hit != nullptr ? address_of(p) + n - address_of(hit) : n, PF_CALLER_PC);
  return hit;
}
PF_EXPORT void* memmem(const void* p, size_t n, const void* what, size_t what_size) noexcept {
  void* hit = real_memmem(p, n, what, what_size);
  if (what_size <= n) {
    tell_read(p, hit != nullptr ? address_of(hit) - address_of(p) + what_size : n, PF_CALLER_PC);
    tell_read(what, what_size, PF_CALLER_PC);
  }
  return hit;
}

// What compilers call for the copies and fills of the language itself.
PF_EXPORT void* __tsan_memcpy(void* to, const void* from, size_t n) {
  tell_copy(to, from, n, PF_CALLER_PC);
  return copy(to, from, n);
}
PF_EXPORT void* __tsan_memmove(void* to, const void* from, size_t n) {
  tell_copy(to, from, n, PF_CALLER_PC);
  return move(to, from, n);
}
PF_EXPORT void* __tsan_memset(void* to, int byte, size_t n) {
  tell_fill(to, n, PF_CALLER_PC);
  return fill(to, byte, n);
}

// --- strings ---

PF_EXPORT size_t strlen(const char* s) noexcept {
  const size_t n = length(s);
  tell_read(s, n + 1, PF_CALLER_PC);
  return n;
}
PF_EXPORT size_t strnlen(const char* s, size_t limit) noexcept {
  const size_t n = real_strnlen(s, limit);
  tell_read(s, n < limit ? n + 1 : limit, PF_CALLER_PC);
  return n;
}

PF_EXPORT char* strcpy(char* to, const char* from) noexcept {
  tell_string_copy(to, from, PF_CALLER_PC);
  return real_strcpy(to, from);
}
PF_EXPORT char* stpcpy(char* to, const char* from) noexcept {
  tell_string_copy(to, from, PF_CALLER_PC);
  return real_stpcpy(to, from);
}
PF_EXPORT char* strncpy(char* to, const char* from, size_t n) noexcept {
  tell_padded_copy(to, from, n, PF_CALLER_PC);
  return real_strncpy(to, from, n);
}
PF_EXPORT char* stpncpy(char* to, const char* from, size_t n) noexcept {
  tell_padded_copy(to, from, n, PF_CALLER_PC);
  return real_stpncpy(to, from, n);
}
PF_EXPORT char* strcat(char* to, const char* from) noexcept {
  tell_append(to, from, kNoLimit, PF_CALLER_PC);
  return real_strcat(to, from);
}
PF_EXPORT char* strncat(char* to, const char* from, size_t n) noexcept {
  tell_append(to, from, n, PF_CALLER_PC);
  return real_strncat(to, from, n);
}

PF_EXPORT int strcmp(const char* a, const char* b) noexcept {
  return tell_compare(a, b, compare_strings(a, b, kNoLimit), PF_CALLER_PC);
}
PF_EXPORT int strncmp(const char* a, const char* b, size_t n) noexcept {
  return tell_compare(a, b, compare_strings(a, b, n), PF_CALLER_PC);
}
PF_EXPORT int strcasecmp(const char* a, const char* b) noexcept {
  const int result = real_strcasecmp(a, b);
  if (caller_thread() == nullptr) return result;
  return tell_compare(a, b, {result, read_by_case_compare(a, b, kNoLimit)}, PF_CALLER_PC);
}
PF_EXPORT int strncasecmp(const char* a, const char* b, size_t n) noexcept {
  const int result = real_strncasecmp(a, b, n);
  if (caller_thread() == nullptr) return result;
  return tell_compare(a, b, {result, read_by_case_compare(a, b, n)}, PF_CALLER_PC);
}

PF_INTERCEPT(char*, strchr, (const char* s, int c)) { return tell_search(s, real_strchr(s, c), 1, PF_CALLER_PC); }
PF_INTERCEPT(char*, index, (const char* s, int c)) { return tell_search(s, real_strchr(s, c), 1, PF_CALLER_PC); }
PF_INTERCEPT(char*, strchrnul, (const char* s, int c)) {
  char* hit = real_strchr(s, c);
  if (hit == nullptr) hit = const_cast<char*>(s) + length(s);
  return tell_search(s, hit, 1, PF_CALLER_PC);
}
// The last one is known only at the end.
PF_INTERCEPT(char*, strrchr, (const char* s, int c)) {
  tell_search<const char>(s, nullptr, 0, PF_CALLER_PC);
  return real_strrchr(s, c);
}
PF_INTERCEPT(char*, rindex, (const char* s, int c)) {
  tell_search<const char>(s, nullptr, 0, PF_CALLER_PC);
  return real_strrchr(s, c);
}
PF_INTERCEPT(char*, strstr, (const char* s, const char* what)) {
  return tell_string_search(s, what, real_strstr(s, what), PF_CALLER_PC);
}
PF_INTERCEPT(char*, strcasestr, (const char* s, const char* what)) {
  return tell_string_search(s, what, real_strcasestr(s, what), PF_CALLER_PC);
}
PF_INTERCEPT(char*, strpbrk, (const char* s, const char* set)) {
  char* hit = real_strpbrk(s, set);
  if (caller_thread() != nullptr) tell_read(set, with_end(set), PF_CALLER_PC);
  return tell_search(s, hit, 1, PF_CALLER_PC);
}
PF_EXPORT size_t strspn(const char* s, const char* set) noexcept {
  return tell_span(s, set, real_strspn(s, set), PF_CALLER_PC);
}
PF_EXPORT size_t strcspn(const char* s, const char* set) noexcept {
  return tell_span(s, set, real_strcspn(s, set), PF_CALLER_PC);
}

PF_EXPORT char* strdup(const char* s) noexcept {
  const size_t n = length(s);
  return duplicate(s, n, n + 1, PF_CALLER_PC);
}
PF_EXPORT char* strndup(const char* s, size_t limit) noexcept {
  const size_t n = real_strnlen(s, limit);
  return duplicate(s, n, n < limit ? n + 1 : limit, PF_CALLER_PC);
}

// --- wide strings ---

PF_EXPORT wchar_t* wmemcpy(wchar_t* to, const wchar_t* from, size_t n) noexcept {
  tell_copy(to, from, n * sizeof *to, PF_CALLER_PC);
  return static_cast<wchar_t*>(copy(to, from, n * sizeof *to));
}
PF_EXPORT wchar_t* wmemmove(wchar_t* to, const wchar_t* from, size_t n) noexcept {
  tell_copy(to, from, n * sizeof *to, PF_CALLER_PC);
  return static_cast<wchar_t*>(move(to, from, n * sizeof *to));
}
PF_EXPORT wchar_t* wmempcpy(wchar_t* to, const wchar_t* from, size_t n) noexcept {
  tell_copy(to, from, n * sizeof *to, PF_CALLER_PC);
  return static_cast<wchar_t*>(copy(to, from, n * sizeof *to)) + n;
}
PF_EXPORT wchar_t* wmemset(wchar_t* to, wchar_t c, size_t n) noexcept {
  tell_fill(to, n * sizeof *to, PF_CALLER_PC);
  for (size_t i = 0; i < n; ++i) to[i] = c;
  return to;
}
PF_EXPORT size_t wcslen(const wchar_t* s) noexcept {
  const size_t n = real_wcslen(s);
  tell_read(s, (n + 1) * sizeof *s, PF_CALLER_PC);
  return n;
}
PF_EXPORT size_t wcsnlen(const wchar_t* s, size_t limit) noexcept {
  const size_t n = real_wcsnlen(s, limit);
  tell_read(s, (n < limit ? n + 1 : limit) * sizeof *s, PF_CALLER_PC);
  return n;
}
PF_EXPORT wchar_t* wcscpy(wchar_t* to, const wchar_t* from) noexcept {
  const size_t bytes = (real_wcslen(from) + 1) * sizeof *from;
  tell_copy(to, from, bytes, PF_CALLER_PC);
  return static_cast<wchar_t*>(copy(to, from, bytes));
}

// --- as _FORTIFY_SOURCE calls them: with the room there is; the real one ends the program when that is too little ---

#define PF_CHECKED(RESULT, NAME, TELL, PARAMETERS, ...)                                                                \
  static constinit Real<RESULT(*) PARAMETERS> real___##NAME##_chk{"__" #NAME "_chk"};                                  \
  PF_EXPORT RESULT __##NAME##_chk PARAMETERS {                                                                         \
    TELL;                                                                                                              \
    return real___##NAME##_chk(__VA_ARGS__);                                                                           \
  }
#define PF_TELL(WHAT)                                                                                                  \
  if (n <= room) WHAT

PF_CHECKED(void*, memcpy, PF_TELL(tell_copy(to, from, n, PF_CALLER_PC)),
           (void* to, const void* from, size_t n, size_t room), to, from, n, room)
PF_CHECKED(void*, memmove, PF_TELL(tell_copy(to, from, n, PF_CALLER_PC)),
           (void* to, const void* from, size_t n, size_t room), to, from, n, room)
PF_CHECKED(void*, mempcpy, PF_TELL(tell_copy(to, from, n, PF_CALLER_PC)),
           (void* to, const void* from, size_t n, size_t room), to, from, n, room)
PF_CHECKED(void*, memset, PF_TELL(tell_fill(to, n, PF_CALLER_PC)), (void* to, int byte, size_t n, size_t room), to,
           byte, n, room)
PF_CHECKED(void, explicit_bzero, PF_TELL(tell_fill(to, n, PF_CALLER_PC)), (void* to, size_t n, size_t room), to, n,
           room)
PF_CHECKED(char*, strcpy, tell_string_copy(to, from, PF_CALLER_PC), (char* to, const char* from, size_t room), to, from,
           room)
PF_CHECKED(char*, stpcpy, tell_string_copy(to, from, PF_CALLER_PC), (char* to, const char* from, size_t room), to, from,
           room)
PF_CHECKED(char*, strncpy, PF_TELL(tell_padded_copy(to, from, n, PF_CALLER_PC)),
           (char* to, const char* from, size_t n, size_t room), to, from, n, room)
PF_CHECKED(char*, stpncpy, PF_TELL(tell_padded_copy(to, from, n, PF_CALLER_PC)),
           (char* to, const char* from, size_t n, size_t room), to, from, n, room)
PF_CHECKED(char*, strcat, tell_append(to, from, kNoLimit, PF_CALLER_PC), (char* to, const char* from, size_t room), to,
           from, room)
PF_CHECKED(char*, strncat, tell_append(to, from, n, PF_CALLER_PC), (char* to, const char* from, size_t n, size_t room),
           to, from, n, room)
