#include "runtime/options.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "core/duration.h"
#include "filter/burst.h"
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

uint64_t number(const Pair& p) {
  uint64_t n = 0;
  for (std::size_t i = 0; i < p.value_size && p.value[i] >= '0' && p.value[i] <= '9'; ++i)
    n = n * 10 + static_cast<uint64_t>(p.value[i] - '0');
  return n;
}
uint64_t rate(const Pair& p, uint64_t fallback) { return parse_rate({p.value, p.value_size}).value_or(fallback); }
uint64_t duration(const Pair& p, uint64_t fallback) {
  return parse_duration({p.value, p.value_size}).value_or(fallback);
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
      {"near", &g_options.near},
  };
  for (const auto& f : flags) {
    if (is(p.key, p.key_size, f.name)) *f.flag = truth(p);
  }
  if (is(p.key, p.key_size, "forget")) g_options.forget = static_cast<Forget>(std::min<uint64_t>(number(p), 2));
  if (is(p.key, p.key_size, "exitcode")) g_options.exitcode = static_cast<int>(number(p));
}

// `photofinish run` has checked them, too.
void set_of_libraries(const Pair& p) {
  if (is(p.key, p.key_size, "libs") && is(p.value, p.value_size, "barrier")) g_options.libraries = Libraries::ByState;
  if (is(p.key, p.key_size, "libs") && is(p.value, p.value_size, "arguments"))
    g_options.libraries = Libraries::ByArguments;
  if (is(p.key, p.key_size, "known")) g_options.known_libraries = {p.value, p.value_size};
  if (is(p.key, p.key_size, "stateless")) g_options.stateless_libraries = {p.value, p.value_size};
  if (is(p.key, p.key_size, "cache")) g_options.reach_cache = truth(p);
  g_options.show_suspects |= is(p.key, p.key_size, "show");
}

// `photofinish run` has checked them. An option without a value has one of no length.
void set_of_detector(const Pair& p) {
  set_of_libraries(p);
  if (is(p.key, p.key_size, "q")) g_options.queue_length = static_cast<uint32_t>(number(p));
  if (is(p.key, p.key_size, "period")) g_options.period = number(p);
  if (is(p.key, p.key_size, "rate")) {
    g_options.rate = rate(p, g_options.rate);
    g_options.has_rate = true;
  }
  g_options.symmetric |= is(p.key, p.key_size, "symmetric");
  if (is(p.key, p.key_size, "overhead")) g_options.overhead = rate(p, g_options.overhead);
  if (is(p.key, p.key_size, "limit")) g_options.limit = duration(p, g_options.limit);
  if (is(p.key, p.key_size, "delay")) g_options.delay = duration(p, g_options.delay);
  if (!is(p.key, p.key_size, "seed")) return;
  g_options.seed = number(p);
  g_options.has_seed = true;
}
void set_of_tree(const Pair& p) {
  g_options.tree = true;
  g_options.tree_exact |= is(p.key, p.key_size, "exact");
  if (is(p.key, p.key_size, "threads")) g_options.tree_two_threads = number(p) == 2;
  if (is(p.key, p.key_size, "memory")) g_options.tree_memory = number(p) << 20;
}
void set_filter_seed(const Pair& p) {
  if (!is(p.key, p.key_size, "seed")) return;
  g_options.filter_seed = number(p);
  g_options.has_filter_seed = true;
}
void set_of_literace(const Pair& p) {
  set_filter_seed(p);
  if (g_options.burst == 0) g_options.burst = BurstLaw{}.burst;
  if (is(p.key, p.key_size, "burst") && number(p) != 0) g_options.burst = number(p);
}
void set_of_carisma(const Pair& p) {
  set_filter_seed(p);
  g_options.carisma = true;
  CarismaLaw& law = g_options.law;
  if (is(p.key, p.key_size, "rate")) law.rate = rate(p, law.rate);
  if (is(p.key, p.key_size, "min")) law.min = rate(p, law.min);
  if (is(p.key, p.key_size, "depth")) g_options.depth = number(p);
  if (!is(p.key, p.key_size, "strategy")) return;
  if (is(p.value, p.value_size, "cls")) law.strategy = CarismaStrategy::Cls;
  if (is(p.value, p.value_size, "fls")) law.strategy = CarismaStrategy::Fls;
}

void set_of_record(const Pair& p) {
  set_of_libraries(p);
  if (is(p.key, p.key_size, "limit")) g_options.record_limit = number(p);
  if (is(p.key, p.key_size, "ring")) g_options.record_ring = number(p);
  if (is(p.key, p.key_size, "values")) g_options.record_values = truth(p);
}

// Up to one of these, or the end.
std::size_t word_length(const char* text, const char* stop) {
  const auto stops = [stop](char c) {
    const char* s = stop;
    while (*s != '\0' && *s != c) ++s;
    return *s == c;  // the end of the text is the end of the list
  };
  std::size_t n = 0;
  while (!stops(text[n])) ++n;
  return n;
}

using SetOne = void (*)(const Pair&);
SetOne setter_of(const char* stage, std::size_t name) {
  if (is(stage, name, "tree")) return &set_of_tree;
  if (is(stage, name, "literace")) return &set_of_literace;
  if (is(stage, name, "carisma")) return &set_of_carisma;
  if (is(stage, name, "record")) return &set_of_record;
  return &set_of_detector;
}

// A stage as the chain has it, `tree,exact` or `simplelock,q=0`: its name first, as an option without a value.
void set_of_stage(const char* stage, std::size_t size) {
  const SetOne set_one = setter_of(stage, word_length(stage, ",:"));
  for (const char* p = stage; p < stage + size;) {
    const std::size_t whole = word_length(p, ",:"), key = word_length(p, "=,:");
    set_one({p, key, p + key + 1, whole == key ? 0 : whole - key - 1});
    p += whole + 1;
  }
}

void set_chain(const char* chain) {
  for (;;) {
    const std::size_t size = word_length(chain, ":");
    set_of_stage(chain, size);
    if (chain[size] == '\0') return;
    chain += size + 1;
  }
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
      g_options.trial = number({v, 0, v, std::strlen(v)});
    if (const char* v = value_of(*e, "PHOTOFINISH_CHAIN"); v != nullptr) set_chain(v);
    if (const char* v = value_of(*e, "PHOTOFINISH_STEER"); v != nullptr) g_options.steer = v;
  }
  if (ours != nullptr || theirs != nullptr) parse_options(ours != nullptr ? ours : theirs);
}

uint64_t fresh_seed() {
  timespec now{};
  sys::call(SYS_clock_gettime, CLOCK_REALTIME, reinterpret_cast<long>(&now));
  return static_cast<uint64_t>(now.tv_nsec) << 32 ^ static_cast<uint64_t>(now.tv_sec) ^
         static_cast<uint64_t>(sys::process_id()) << 20;
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
