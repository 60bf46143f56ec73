#include "runtime/found.h"

#include "runtime/carisma.h"
#include "runtime/heap.h"
#include "runtime/hooks.h"
#include "runtime/host.h"
#include "runtime/lessons.h"
#include "runtime/objects.h"
#include "runtime/options.h"
#include "runtime/output.h"
#include "runtime/planted.h"
#include "runtime/registry.h"
#include "runtime/sampler.h"
#include "runtime/sampling.h"
#include "runtime/tree.h"

namespace pf::rt {
namespace {

// One entry per pair of places, found again by its hash: a repeat is a look-up and an addition.
struct Pair {
  uint64_t hash;
  uint32_t count;
  uint32_t key;
};
constexpr uint32_t kPairs = 1U << 16;
constinit Pair g_pairs[kPairs] = {};
constinit uint32_t g_keys = 0;
constinit uint64_t g_reported = 0;
constinit uint64_t g_dynamic = 0;
constinit uint64_t g_by_library = 0;  // pairs that only calls into libraries may have ordered
constinit SpinLock g_lock;            // one report at a time

struct Described {
  depot::Id stack;
  uint32_t packed;
  depot::Id locks;

  Op op() const { return static_cast<Op>((packed >> 24) - 1); }
  uint32_t size() const { return packed & 0xFFFFFF; }
};

Described described(depot::Id access) {
  const depot::Node& node = depot::at(access);
  return {node.below, static_cast<uint32_t>(node.key >> 32), static_cast<depot::Id>(node.key)};
}

// Mixed to the last bit: the places of a loop's accesses are evenly spaced, so many pairs of them have the same sum.
uint64_t hash_of(const Described& a) {
  uint64_t h = (depot::at(a.stack).key * 0x9E3779B97F4A7C15U) ^ (uint64_t{a.packed} * 0xC2B2AE3D27D4EB4FU);
  h = (h ^ h >> 32) * 0xD6E8FEB86659FD93U;
  h = (h ^ h >> 32) * 0xD6E8FEB86659FD93U;
  return h ^ h >> 32;
}

// The pair's entry, and whether it is new. Null when the table is full.
Pair* enter(uint64_t hash, bool& fresh) {
  for (uint32_t i = 0; i < 64; ++i) {
    Pair& p = g_pairs[(hash + i) & (kPairs - 1)];
    uint64_t seen = __atomic_load_n(&p.hash, __ATOMIC_ACQUIRE);
    if (seen == 0 && __atomic_compare_exchange_n(&p.hash, &seen, hash, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
      fresh = true;
      p.key = __atomic_add_fetch(&g_keys, 1, __ATOMIC_RELAXED);
      return &p;
    }
    if (seen == hash) return &p;
  }
  return nullptr;
}

void put_stack(depot::Id stack, Text& out) {
  out.put('[');
  for (unsigned n = 0; stack != 0 && n < 512; ++n) {
    const depot::Node& node = depot::at(stack);
    if (n != 0) out.put(',');
    out.number(node.key);
    stack = node.below;
  }
  out.put(']');
}

void put_locks(depot::Id locks, Text& out) {
  out.put('[');
  for (bool first = true; locks != 0; first = false) {
    const depot::Node& node = depot::at(locks);
    out.put(first ? "{\"address\":" : ",{\"address\":").number(node.key & ~(uint64_t{1} << 63));
    out.put(node.key >> 63 != 0 ? ",\"mode\":\"read\"}" : ",\"mode\":\"write\"}");
    locks = node.below;
  }
  out.put(']');
}

void put_access(uint32_t thread, const Described& a, Text& out) {
  const std::string_view op = access_name(a.op());
  out.put("{\"thread\":").number(thread).put(",\"op\":\"").put(op.data(), op.size());
  out.put("\",\"size\":").number(a.size()).put(",\"atomic\":").put(is_atomic(a.op()) ? "true" : "false");
  if (!planted::is_on()) {  // there, nobody knows which are held
    out.put(",\"locks\":");
    put_locks(a.locks, out);
  }
  out.put(",\"stack\":");
  put_stack(a.stack, out);
  out.put('}');
}

void put_block(const Block& b, Text& out) {
  out.put("{\"kind\":").put(b.freed ? "\"freed\"" : "\"heap\"").put(",\"start\":").number(b.address);
  out.put(",\"size\":").number(b.size).put(",\"thread\":").number(b.freed ? b.freed_by : b.allocated_by);
  out.put(",\"stack\":");
  put_stack(b.freed ? b.freed_at : b.allocated_at, out);
  if (b.freed) {
    out.put(",\"allocated\":");
    put_stack(b.allocated_at, out);
  }
  out.put('}');
}

struct Owner {
  uintptr_t address;
  const ThreadInfo* of_stack;
  const ThreadInfo* of_tls;
};

void find_owner(Thread& t, void* argument) {
  auto& owner = *static_cast<Owner*>(argument);
  const ThreadInfo& i = *t.info;
  if (owner.address >= i.tls_begin && owner.address < i.tls_end) owner.of_tls = &i;
  if (owner.address >= i.stack_begin && owner.address < i.stack_end) owner.of_stack = &i;
}

void put_location(uintptr_t address, Text& out) {
  Block block{};
  if (heap::find(address, block)) return put_block(block, out);
  Owner owner{address, nullptr, nullptr};
  registry::for_each(&find_owner, &owner);
  if (owner.of_tls != nullptr) {
    out.put("{\"kind\":\"tls\",\"thread\":").number(owner.of_tls->id).put('}');
  } else if (owner.of_stack != nullptr) {
    out.put("{\"kind\":\"stack\",\"thread\":").number(owner.of_stack->id).put('}');
  } else {
    out.put("{\"kind\":\"").put(output::kind_of(address)).put("\"}");
  }
}

}  // namespace

Memory memory_at(uintptr_t address) {
  Block block{};
  if (heap::find(address, block)) return {"heap", block.address, block.size, block.allocated_by, block.allocated_at};
  Owner owner{address, nullptr, nullptr};
  registry::for_each(&find_owner, &owner);
  if (owner.of_tls != nullptr) return {"tls", 0, 0, owner.of_tls->id, 0};
  if (owner.of_stack != nullptr) return {"stack", 0, 0, owner.of_stack->id, 0};
  return {"global", 0, 0, 0, 0};
}

namespace {

// The thread and those that made it, each once.
void write_thread(uint32_t id) {
  ThreadInfo& info = registry::info(id);
  if (info.written) return;
  info.written = true;
  if (id != 0) write_thread(info.parent);
  Text out;
  out.put("{\"raw\":\"thread\",\"id\":").number(id).put(",\"os\":").number(static_cast<uint64_t>(info.os_id));
  out.put(",\"name\":").quoted(info.name).put(",\"parent\":").number(info.parent).put(",\"stack\":");
  put_stack(info.created_at, out);
  out.put('}');
  output::line(out);
}

void halt_if_asked() {
  if (!g_options.halt_on_error) return;
  write_summary();
  sys::die(g_options.exitcode);
}

// How likely a run samples such a race, where there is a rate to tell by.
void put_chance(uintptr_t address, Text& out) {
  constexpr uint64_t kAlways = Periods::kAlways;
  if (!sampling::is_used() && !carisma::is_used()) return;
  const uint64_t of_time = sampling::is_used() ? sampling::counts().rate : kAlways;
  const uint64_t of_memory = carisma::is_used() ? carisma::chance_at(address) : kAlways;
  out.put(",\"chance\":").number(of_time == kAlways ? of_memory : of_time * of_memory / kAlways);
}

void put_step(const char* what, const AtLock& s, Text& out) {
  out.put(what).put("{\"thread\":").number(s.thread);
  out.put(s.mode == LockMode::Read ? ",\"mode\":\"read\",\"stack\":" : ",\"mode\":\"write\",\"stack\":");
  put_stack(s.stack(), out);
  out.put('}');
}
void put_hidden_by(const Lesson& l, Text& out) {
  out.put(",\"hidden_by\":{\"lock\":").number(l.lock);
  put_step(",\"release\":", l.release, out);
  put_step(",\"acquire\":", l.acquire, out);
  out.put('}');
}
bool is_ordered_by_library(const Finding& f) { return library::is_used() && f.verdict == Verdict::Suspect; }

[[gnu::cold]] void write_race(const Thread& t, const Finding& f, const Described& prior, const Described& now,
                              uint32_t key) {
  Text out;
  const std::string_view verdict = name(f.verdict);
  out.put("{\"raw\":\"race\",\"key\":").number(key).put(",\"verdict\":\"").put(verdict.data(), verdict.size());
  out.put('"');
  if (f.by_locks) out.put(",\"by_locks\":true");
  if (is_ordered_by_library(f)) out.put(",\"by_library\":true");
  out.put(",\"address\":").number(f.address).put(",\"location\":");
  put_location(f.address, out);
  out.put(",\"accesses\":[");
  put_access(index(f.prior_thread), prior, out);
  out.put(',');
  put_access(t.info->id, now, out);
  out.put(']');
  if (f.hidden_by != nullptr) put_hidden_by(*f.hidden_by, out);
  put_chance(f.address, out);
  out.put('}');
  const Guard guard(g_lock);
  output::modules();
  if (index(f.prior_thread) != kNobody) write_thread(index(f.prior_thread));
  if (f.hidden_by != nullptr) write_thread(f.hidden_by->release.thread);
  write_thread(t.info->id);
  output::line(out);
}

}  // namespace

void found(Thread& t, const Finding& f) {
  if (is_benign(f.address)) return;
  const Described prior = described(f.prior), now = described(f.now);
  // In either order. A pair that was potential is news when it is real.
  const uint64_t hash = ((hash_of(prior) + hash_of(now)) ^ static_cast<uint64_t>(f.verdict) << 32) | 1;
  bool fresh = false;
  Pair* pair = enter(hash, fresh);
  if (is_ordered_by_library(f)) {
    __atomic_fetch_add(&g_by_library, fresh ? 1 : 0, __ATOMIC_RELAXED);
    if (!g_options.show_suspects) return;
  } else {
    __atomic_fetch_add(&g_dynamic, 1, __ATOMIC_RELAXED);
  }
  if (pair == nullptr) return;
  __atomic_fetch_add(&pair->count, 1, __ATOMIC_RELAXED);
  if (!fresh || !g_options.report_bugs) return;
  __atomic_fetch_add(&g_reported, 1, __ATOMIC_RELAXED);
  write_race(t, f, prior, now, pair->key);
  tell_program(t, {f.address, now.stack, prior.stack, index(f.prior_thread), now.size(), prior.size(), writes(now.op()),
                   writes(prior.op()), is_atomic(now.op()), is_atomic(prior.op())});
  if (f.verdict != Verdict::Suspect) halt_if_asked();
}

namespace {

// Whether it is new.
bool report_misuse(const char* what, uintptr_t address, uint32_t thread, depot::Id where) {
  if (!g_options.report_bugs) return false;
  bool fresh = false;
  if (enter(((uint64_t{where} * 0x9E3779B97F4A7C15U) ^ reinterpret_cast<uintptr_t>(what)) | 1, fresh) == nullptr ||
      !fresh)
    return false;
  __atomic_fetch_add(&g_reported, 1, __ATOMIC_RELAXED);
  Text out;
  out.put("{\"raw\":\"misuse\",\"what\":").quoted(what).put(",\"address\":").number(address);
  out.put(",\"thread\":").number(thread).put(",\"stack\":");
  put_stack(where, out);
  out.put('}');
  const Guard guard(g_lock);
  output::modules();
  write_thread(thread);
  output::line(out);
  return true;
}

}  // namespace

void misuse(Thread& t, const char* what, uintptr_t address, uintptr_t pc) {
  const Scope scope(t);
  if (report_misuse(what, address, t.info->id, stack(t, pc))) halt_if_asked();
}

void report_thread_leaks() {
  if (!g_options.report_thread_leaks) return;
  for (uint32_t id = 1; id < registry::count(); ++id) {
    const ThreadInfo& info = registry::info(id);
    const bool leaked = __atomic_load_n(&info.ended, __ATOMIC_ACQUIRE) && !info.detached && !info.joined;
    if (leaked) report_misuse("thread leak: it ended and was never joined", 0, id, info.created_at);
  }
}

uint64_t reported() { return __atomic_load_n(&g_reported, __ATOMIC_RELAXED); }

namespace {

uint64_t sampled_by(const Thread& t) {
  return t.sampled + (sampling::is_on(t.period) ? t.accesses - t.sampled_since : 0);
}
void put_counts(Text& out, const sampling::Counts& c, uint64_t sampled) {
  out.put("\"work\":").number(c.work).put(",\"sampled_work\":").number(c.sampled_work);
  out.put(",\"sampled\":").number(sampled).put(",\"live\":").number(live_bytes()).put('}');
}
void put_sampling(Text& out, uint64_t sampled) {
  const sampling::Counts c = sampling::counts();
  out.put(",\"sampling\":{\"rate\":").number(c.rate).put(',');
  put_counts(out, c, sampled);
}
// Of a filter, whose work is the plain accesses.
void put_sampling_of_filter(Text& out, uint64_t accesses, uint64_t dropped) {
  out.put(",\"sampling\":{");
  if (g_options.carisma) out.put("\"rate\":").number(g_options.law.rate).put(',');
  put_counts(out, {0, accesses, accesses - dropped}, accesses - dropped);
}

struct Totals {
  uint64_t accesses, atomics, events, sampled, dropped;
  ClockOperations clocks;
  uint64_t tree[tree_rules::kCount];
};
constinit Totals g_ended = {};  // of threads that are gone

void add(ClockOperations& sum, const ClockOperations& more) {
  for (unsigned i = 0; i < 4; ++i)
    __atomic_fetch_add(&sum.counts[i / 2][i % 2], more.counts[i / 2][i % 2], __ATOMIC_RELAXED);
}
void put_rules(Text& out, const ClockOperations& clocks) {
  out.put(",\"rules\":{");
  for (unsigned i = 0; i < 4 && sampling::is_used(); ++i) {
    const std::string_view name = ClockOperations::kNames[i / 2][i % 2];
    out.put(i == 0 ? "\"" : ",\"").put(name.data(), name.size()).put("\":").number(clocks.counts[i / 2][i % 2]);
  }
  out.put('}');
}

void put_filter(Text& out, uint64_t bytes, const uint64_t (&rules)[tree_rules::kCount]) {
  out.put(",\"filter\":{\"bytes\":").number(bytes).put(",\"rules\":{");
  for (unsigned i = 0; i < tree_rules::kCount; ++i) {
    out.put(i == 0 ? "\"" : ",\"").put(kTreeRules[i].data(), kTreeRules[i].size()).put("\":").number(rules[i]);
  }
  out.put("}}");
}

void add_thread(Thread& t, void* argument) {
  auto& sum = *static_cast<Totals*>(argument);
  add(sum.clocks, host::clock_operations(t));
  sum.accesses += t.accesses;
  sum.atomics += t.atomics;
  sum.events += t.events;
  sum.sampled += sampled_by(t);
  sum.dropped += t.dropped;
  if (t.tree == nullptr) return;
  sum.dropped += t.tree->dropped();
  for (unsigned i = 0; i < tree_rules::kCount; ++i) sum.tree[i] += t.tree->rules[i];
}

}  // namespace

void count_ended(Thread& t) {
  add(g_ended.clocks, host::clock_operations(t));
  __atomic_fetch_add(&g_ended.accesses, t.accesses, __ATOMIC_RELAXED);
  __atomic_fetch_add(&g_ended.atomics, t.atomics, __ATOMIC_RELAXED);
  __atomic_fetch_add(&g_ended.events, t.events, __ATOMIC_RELAXED);
  __atomic_fetch_add(&g_ended.sampled, sampled_by(t), __ATOMIC_RELAXED);
  __atomic_fetch_add(&g_ended.dropped, t.dropped, __ATOMIC_RELAXED);
  if (t.tree == nullptr) return;
  __atomic_fetch_add(&g_ended.dropped, t.tree->dropped(), __ATOMIC_RELAXED);
  for (unsigned i = 0; i < tree_rules::kCount; ++i)
    __atomic_fetch_add(&g_ended.tree[i], t.tree->rules[i], __ATOMIC_RELAXED);
}

namespace {

constinit bool g_summary_written = false;

}  // namespace

void summary_again() { g_summary_written = false; }

void start_reports_over() {
  for (Pair& p : g_pairs) p = {};
  g_keys = 0;
  g_reported = g_dynamic = g_by_library = 0;
  for (uint32_t i = 0; i < registry::count(); ++i) registry::info(i).written = false;
  summary_again();
}

void write_summary() {
  if (__atomic_exchange_n(&g_summary_written, true, __ATOMIC_RELAXED)) return;
  if (!output::supervised() && reported() == 0) return;
  for (const Pair& p : g_pairs) {
    if (p.hash == 0 || p.count < 2) continue;
    Text out;
    out.put("{\"raw\":\"repeat\",\"key\":").number(p.key).put(",\"count\":").number(p.count).put('}');
    output::line(out);
  }
  Totals sum = g_ended;
  registry::for_each(&add_thread, &sum);
  Text out;
  out.put("{\"raw\":\"summary\",\"events\":")
      .number(sum.events + sum.accesses)
      .put(",\"accesses\":")
      .number(sum.accesses);
  out.put(",\"dynamic_races\":").number(g_dynamic).put(",\"threads\":").number(registry::count());
  out.put(",\"bytes\":").number(mapped_bytes()).put(",\"dropped\":").number(sum.dropped);
  put_rules(out, sum.clocks);
  if (g_options.tree) put_filter(out, tree::table_bytes(), sum.tree);
  if (sampling::is_used()) {
    put_sampling(out, sum.sampled);
  } else if (sampler::is_used()) {
    put_sampling_of_filter(out, sum.accesses - sum.atomics, sum.dropped);
  }
  if (library::is_used()) {
    const library::Counts libraries = library::counts();
    out.put(",\"libraries\":{\"calls\":").number(libraries.calls).put(",\"pairs\":").number(g_by_library);
    out.put(",\"cut\":").number(libraries.cut).put('}');
  }
  host::put_statistics(out);
  out.put('}');
  output::line(out);
}

}  // namespace pf::rt
