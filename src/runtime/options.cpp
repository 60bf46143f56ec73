#include "runtime/options.h"

#include <cstring>
#include <string_view>

#include "core/duration.h"
#include "runtime/libc.h"
#include "runtime/say.h"

namespace pf::rt {

constinit Options g_options;

namespace {

bool is(const char* text, std::size_t n, const char* name) {
  return std::strlen(name) == n && std::memcmp(text, name, n) == 0;
}

struct Pair {
  const char* key;
  std::size_t key_size;
  const char* value;
  std::size_t value_size;
};

bool truth(const Pair& p) {
  return is(p.value, p.value_size, "1") || is(p.value, p.value_size, "true") || is(p.value, p.value_size, "yes");
}

int number(const Pair& p) {
  int n = 0;
  for (std::size_t i = 0; i < p.value_size && p.value[i] >= '0' && p.value[i] <= '9'; ++i)
    n = n * 10 + (p.value[i] - '0');
  return n;
}

void set(const Pair& p) {
  const struct {
    const char* name;
    bool* flag;
  } flags[] = {
      {"halt_on_error", &g_options.halt_on_error},
      {"report_bugs", &g_options.report_bugs},
      {"report_thread_leaks", &g_options.report_thread_leaks},
      {"report_mutex_bugs", &g_options.report_mutex_bugs},
      {"report_destroy_locked", &g_options.report_destroy_locked},
      {"breakpoints", &g_options.breakpoints},
  };
  for (const auto& f : flags) {
    if (is(p.key, p.key_size, f.name)) *f.flag = truth(p);
  }
  if (is(p.key, p.key_size, "exitcode")) g_options.exitcode = number(p);
}

// `photofinish run` has checked them.
void set_of_chain(const Pair& p) {
  if (is(p.key, p.key_size, "q")) g_options.queue_length = static_cast<uint32_t>(number(p));
  if (is(p.key, p.key_size, "memory")) g_options.tree_memory = static_cast<uint64_t>(number(p)) << 20;
  if (is(p.key, p.key_size, "period")) g_options.period = static_cast<uint64_t>(number(p));
  const std::string_view value(p.value, p.value_size);
  if (is(p.key, p.key_size, "rate")) {
    g_options.rate = parse_rate(value).value_or(g_options.rate);
    g_options.has_rate = true;
  }
  if (is(p.key, p.key_size, "overhead")) g_options.overhead = parse_rate(value).value_or(g_options.overhead);
  if (is(p.key, p.key_size, "limit")) g_options.limit = parse_duration(value).value_or(g_options.limit);
  if (is(p.key, p.key_size, "delay")) g_options.delay = parse_duration(value).value_or(g_options.delay);
  if (is(p.key, p.key_size, "seed")) {
    g_options.seed = static_cast<uint64_t>(number(p));
    g_options.has_seed = true;
  }
}

// The filter comes first: `tree,exact:simplelock`.
void set_filter(const char* chain) {
  constexpr char kTree[] = "tree", kExact[] = "exact";
  constexpr std::size_t kTreeSize = sizeof kTree - 1, kExactSize = sizeof kExact - 1;
  const auto ends_word = [](char c) { return c == ',' || c == ':' || c == '\0'; };
  if (std::strncmp(chain, kTree, kTreeSize) != 0 || !ends_word(chain[kTreeSize])) return;
  g_options.tree = true;
  for (const char* p = chain + kTreeSize; *p == ',';) {
    ++p;
    g_options.tree_exact |= std::strncmp(p, kExact, kExactSize) == 0 && ends_word(p[kExactSize]);
    while (!ends_word(*p)) ++p;
  }
}

// A switch of the detector, which has no value.
bool has_switch(const char* chain, const char* name) {
  const std::size_t n = std::strlen(name);
  for (const char* p = chain; *p != '\0'; ++p) {
    if (*p == ',' && std::strncmp(p + 1, name, n) == 0 && (p[1 + n] == ',' || p[1 + n] == '\0')) return true;
  }
  return false;
}

bool separates(char c) { return c == ':' || c == ' ' || c == ',' || c == '\n' || c == '\t'; }

template <class F>
void for_each_pair(const char* text, F f) {
  while (*text != '\0') {
    while (separates(*text)) ++text;
    Pair p{text, 0, nullptr, 0};
    while (*text != '\0' && *text != '=' && !separates(*text)) ++text;
    p.key_size = static_cast<std::size_t>(text - p.key);
    if (*text != '=') continue;
    const char quote = text[1] == '"' || text[1] == '\'' ? text[1] : '\0';
    p.value = text += quote != '\0' ? 2 : 1;
    while (*text != '\0' && (quote != '\0' ? *text != quote : !separates(*text))) ++text;
    p.value_size = static_cast<std::size_t>(text - p.value);
    if (quote != '\0' && *text == quote) ++text;
    f(p);
  }
}

}  // namespace

// Unknown keys are the parent's business, which warns of them once.
void parse_options(const char* text) { for_each_pair(text, &set); }

const char* value_of(const char* entry, const char* name) {
  const std::size_t n = std::strlen(name);
  return std::strncmp(entry, name, n) == 0 && entry[n] == '=' ? entry + n + 1 : nullptr;
}

void read_options(char** environment) {
  const char* ours = nullptr;
  const char* theirs = nullptr;
  for (char** e = environment; e != nullptr && *e != nullptr; ++e) {
    if (const char* v = value_of(*e, "PHOTOFINISH_OPTIONS"); v != nullptr) ours = v;
    if (const char* v = value_of(*e, "TSAN_OPTIONS"); v != nullptr) theirs = v;
    if (const char* v = value_of(*e, "PHOTOFINISH_TRIAL"); v != nullptr)
      g_options.trial = static_cast<uint64_t>(number({v, 0, v, std::strlen(v)}));
    if (const char* v = value_of(*e, "PHOTOFINISH_CHAIN"); v != nullptr) {
      set_filter(v);
      g_options.symmetric = has_switch(v, "symmetric");
      for_each_pair(v, &set_of_chain);
    }
  }
  if (ours != nullptr || theirs != nullptr) parse_options(ours != nullptr ? ours : theirs);
}

namespace {

constexpr char kCollector[] = "/../../bin/photofinish";

bool collector_path(Text& path) {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&read_options), &info) == 0 || info.dli_fname == nullptr) return false;
  const char* slash = std::strrchr(info.dli_fname, '/');
  if (slash == nullptr) return false;
  path.put(info.dli_fname, static_cast<std::size_t>(slash - info.dli_fname)).put(kCollector);
  return true;
}

}  // namespace

void start_collector(const char* directory) {
  Text path, pid;
  if (!collector_path(path)) return say("no reader for the reports in ", directory);
  pid.number(static_cast<uint64_t>(sys::process_id()));
  const char* arguments[] = {path.c_str(), "collect", directory, "--pid", pid.c_str(), nullptr};
  // A plain fork of the kernel: no handlers of the program run. Its child's child is nobody's to wait for.
  const long child = sys::call(SYS_fork);
  if (child == 0) {
    if (sys::call(SYS_fork) != 0) sys::die(0);
    sys::call(SYS_setsid);
    const char* no_environment[] = {nullptr};
    sys::call(SYS_execve, reinterpret_cast<long>(arguments[0]), reinterpret_cast<long>(arguments),
              reinterpret_cast<long>(no_environment));
    sys::die(127);
  }
  if (!sys::failed(child)) sys::call(SYS_wait4, child);
}

}  // namespace pf::rt
