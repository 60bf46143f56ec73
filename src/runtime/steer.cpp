#include "runtime/steer.h"

#include <cstring>

#include "runtime/instrumented.h"

namespace pf::rt::steer {
namespace {

struct Range {
  uint64_t place, first, last;
  const char* module;  // its file name; empty: the program
};

// A place waits so often in a run: a loop must not take forever.
constexpr uint64_t kMostWaits = 8;
constexpr unsigned kRanges = 256;
constinit Range g_ranges[kRanges] = {};
constinit unsigned g_count = 0;
constinit char g_text[16384] = {};
constinit uint64_t g_waiting_places = 0, g_skip = 0;
constinit uint64_t g_visits[3] = {};

// Each ends at what was read of the text: a number and the space behind it, or a line and its end.
uint64_t take_number(char*& text) {
  uint64_t n = 0;
  for (; *text >= '0' && *text <= '9'; ++text) n = n * 10 + static_cast<uint64_t>(*text - '0');
  if (*text == ' ') ++text;
  return n;
}
const char* take_line(char*& text) {
  const char* line = text;
  while (*text != '\n' && *text != '\0') ++text;
  if (*text == '\n') *text++ = '\0';
  return line;
}

const char* file_name(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

const Range* range_of(uintptr_t pc) {
  Module module{};
  if (!find_module(pc - 1, module)) return nullptr;
  const uintptr_t offset = pc - 1 - module.bias;
  for (unsigned i = 0; i < g_count; ++i) {
    const Range& r = g_ranges[i];
    if (offset >= r.first && offset <= r.last && std::strcmp(r.module, file_name(module.path)) == 0) return &r;
  }
  return nullptr;
}

}  // namespace

void start(const char* text) {
  if (text == nullptr) return;
  for (std::size_t i = 0; i + 1 < sizeof g_text && text[i] != '\0'; ++i) g_text[i] = text[i];
  char* at = g_text;
  g_waiting_places = take_number(at);
  g_skip = take_number(at);
  take_line(at);
  while (*at != '\0' && g_count < kRanges) {
    Range& r = g_ranges[g_count++];
    r.place = take_number(at);
    r.first = take_number(at);
    r.last = take_number(at);
    r.module = take_line(at);
    if (std::strcmp(r.module, "-") == 0) r.module = "";
  }
}

bool is_on() { return g_count != 0; }

bool is_place(uintptr_t pc) { return range_of(pc) != nullptr; }

bool is_to_wait(uintptr_t pc) {
  const Range* r = range_of(pc);
  if (r == nullptr || (r->place & g_waiting_places) == 0) return false;
  const uint64_t visit = __atomic_fetch_add(&g_visits[r->place % 3], 1, __ATOMIC_RELAXED);
  return visit >= g_skip && visit < g_skip + kMostWaits;
}

void for_each_byte(void (*take)(uintptr_t offset)) {
  for (unsigned i = 0; i < g_count; ++i)
    for (uintptr_t at = g_ranges[i].first; at <= g_ranges[i].last; ++at) take(at);
}

}  // namespace pf::rt::steer
