#include "runtime/library_calls.h"

#include "runtime/abi/abi.h"
#include "runtime/boundary.h"
#include "runtime/host.h"
#include "runtime/instrumented.h"
#include "runtime/options.h"
#include "runtime/sampler.h"

namespace pf::rt::library {

struct Calls {
  Calls* next;  // while no thread has it
  reach::Explorer* explorer;
  uint32_t capacity;
  Call* stack;  // as many as the thread's library_depth
  static constexpr uint32_t kMaxUses = 64;
  uint32_t use_count;
  reach::Piece uses[kMaxUses];
};

namespace {

constinit SpinLock g_lock;
constinit Calls* g_spare = nullptr;
constinit Counts g_counts = {};

Calls& calls_of(Thread& t) {
  if (t.library == nullptr) {
    const Guard guard(g_lock);
    t.library = g_spare;
    if (g_spare != nullptr) g_spare = g_spare->next;
  }
  if (t.library == nullptr) {
    t.library = static_cast<Calls*>(map_or_die(sizeof(Calls), "calls of libraries"));
    t.library->explorer = reach::new_explorer();
  }
  return *t.library;
}

uint32_t depth_of(const Thread& t) { return static_cast<uint32_t>(t.top - t.bottom); }
Call* innermost(const Thread& t) { return t.library_depth == 0 ? nullptr : &t.library->stack[t.library_depth - 1]; }

// As the thread stands to its innermost call.
void watch(Thread& t) {
  const Call* call = innermost(t);
  t.is_outside = call != nullptr && !call->in_callback;
  sampler::become(&t);
}

// --- begin and end ---

Call& push(Thread& t, uintptr_t function, uintptr_t caller) {
  Calls& c = calls_of(t);
  if (t.library_depth == c.capacity) {
    const uint32_t capacity = c.capacity == 0 ? 16 : c.capacity * 2;
    auto* bigger = static_cast<Call*>(map_or_die(capacity * sizeof(Call), "calls of libraries"));
    for (uint32_t i = 0; i < t.library_depth; ++i) bigger[i] = c.stack[i];
    if (c.stack != nullptr) sys::unmap(c.stack, c.capacity * sizeof(Call));
    c.stack = bigger;
    c.capacity = capacity;
  }
  Call& call = c.stack[t.library_depth++];
  call = {function, caller, depth_of(t), false, false, 0, nullptr, nullptr};
  return call;
}

void take_pieces(Thread& t, Call& call, bool is_whole) {
  const reach::Explorer& e = *t.library->explorer;
  __atomic_fetch_add(&g_counts.calls, 1, __ATOMIC_RELAXED);
  if (!is_whole) __atomic_fetch_add(&g_counts.cut, 1, __ATOMIC_RELAXED);
  call.piece_count = reach::count(e);
  if (call.piece_count == 0) return;
  call.pieces = static_cast<reach::Piece*>(t.arena->allocate(call.piece_count * sizeof(reach::Piece)));
  for (uint32_t i = 0; i < call.piece_count; ++i) call.pieces[i] = reach::pieces(e)[i];
}

// What may be arguments: those in registers, and what the caller has put on the stack.
struct Words {
  uintptr_t words[14];
  unsigned in_registers, pushed, on_stack;
  uintptr_t stack_pointer;
};

void begin(Thread& t, Call& call, const boundary::Module* owner, const Words& w) {
  Calls& c = *t.library;
  reach::Explorer& e = *c.explorer;
  reach::begin(e, w.stack_pointer);
  if (g_options.libraries == Libraries::ByState) {
    for (uint32_t i = 0; i < owner->reached_count; ++i)
      reach::add_memory(e, {owner->reached[i]->data_begin, owner->reached[i]->data_end});
  }
  for (uint32_t i = 0; i < c.use_count; ++i) reach::add_memory(e, c.uses[i]);
  c.use_count = 0;
  const unsigned certain = w.in_registers + w.pushed;
  for (unsigned i = 0; i < certain; ++i) reach::add_pointer(e, t, w.words[i]);
  for (unsigned i = certain; i < w.in_registers + w.on_stack; ++i) reach::add_heap_pointer(e, t, w.words[i]);
  take_pieces(t, call, reach::follow(e, t));
  host::begin_library(t, call);
}

void end_innermost(Thread& t) {
  Call& call = *innermost(t);
  const bool loads_modules = call.loads_modules;
  if (!loads_modules) {
    if (call.in_callback) host::end_callback(t, call);
    host::end_library(t, call);
  }
  if (call.pieces != nullptr) t.arena->deallocate(call.pieces, call.piece_count * sizeof(reach::Piece));
  --t.library_depth;
  if (loads_modules) modules_changed();
}

// Of instrumented code at this depth, all calls that began there or deeper are over.
void end_all_down_to(Thread& t, uint32_t depth) {
  while (innermost(t) != nullptr && innermost(t)->depth >= depth) end_innermost(t);
}

// The stack below the frame of a callback may have been left all at once.
void look_at_callback(Thread& t) {
  Call* call = innermost(t);
  if (call == nullptr || !call->in_callback || depth_of(t) > call->depth) return;
  call->in_callback = false;
  if (!call->loads_modules) host::end_callback(t, *call);
}

}  // namespace

bool is_used() { return g_options.libraries != Libraries::Unseen; }
Counts counts() {
  return {__atomic_load_n(&g_counts.calls, __ATOMIC_RELAXED), __atomic_load_n(&g_counts.cut, __ATOMIC_RELAXED)};
}

void start() { modules_changed(); }
void modules_changed() {
  if (!is_used() || self == nullptr) return;
  const Scope scope(*self);  // what libc does for us is not the program's doing
  boundary::install();
}

void returned(Thread& t) {
  const Scope scope(t);
  end_all_down_to(t, depth_of(t));
  watch(t);
}

void enter(Thread& t, uintptr_t caller) {
  const Scope scope(t);
  if (t.is_outside && is_instrumented(caller)) end_all_down_to(t, depth_of(t));
  if (Call* call = innermost(t); call != nullptr && !call->in_callback) {
    call->in_callback = true;
    if (!call->loads_modules) host::begin_callback(t, *call);
  }
  watch(t);
}

void left(Thread& t) {
  const Scope scope(t);
  look_at_callback(t);
  watch(t);
}

void frames_changed(Thread& t) {
  if (innermost(t) == nullptr) return;
  const Scope scope(t);
  while (innermost(t) != nullptr && innermost(t)->depth > depth_of(t)) end_innermost(t);
  look_at_callback(t);
  watch(t);
}

void begin_thread(Thread& t, uintptr_t function, uintptr_t argument) {
  if (!is_used()) return;
  const boundary::Module* owner = boundary::module_at(function);
  if (owner == nullptr || owner->kind != boundary::Kind::Stateful) return;
  const Scope scope(t);
  begin(t, push(t, function, function), owner, {{argument}, 1, 0, 0, 0});
  watch(t);
}

void end_thread(Thread& t) {
  if (t.library == nullptr) return;
  while (innermost(t) != nullptr) end_innermost(t);
  t.is_outside = false;
  const Guard guard(g_lock);
  t.library->next = g_spare;
  g_spare = t.library;
  t.library = nullptr;
}

void uses(Thread& t, uintptr_t address, uintptr_t size) {
  if (!is_used() || size == 0) return;
  Calls& c = calls_of(t);
  if (c.use_count < Calls::kMaxUses) c.uses[c.use_count++] = {address, address + size};
}

}  // namespace pf::rt::library

namespace {

// As pf_library_call has pushed them, and what its caller left on the stack.
struct Registers {
  uintptr_t r11, r10, r9, r8, rcx, rdx, rsi, rdi, rax;
  uintptr_t return_address;
  uintptr_t on_stack[8];
};

using namespace pf::rt;

// Words that a function has pushed since it announced itself are arguments. Others may be, in a place that it keeps for them: of
// the first few of those only pointers into the heap are taken, for most are its variables.
library::Words words_of(const Thread& t, const Registers& r) {
  constexpr unsigned kMaybe = 4;
  library::Words w = {{r.rdi, r.rsi, r.rdx, r.rcx, r.r8, r.r9}, 6, 0, kMaybe, address_of(r.on_stack)};
  for (unsigned i = 0; i < 8; ++i) w.words[6 + i] = r.on_stack[i];
  if (t.top == t.bottom) return w;
  const uint32_t bytes = (t.top[-1].stack_pointer & ~Frame::kNotSampled) - static_cast<uint32_t>(w.stack_pointer);
  if (bytes <= sizeof r.on_stack) w.pushed = bytes / sizeof(uintptr_t);
  if (w.pushed > w.on_stack) w.on_stack = w.pushed;
  return w;
}

}  // namespace

extern "C" [[gnu::visibility("hidden"), gnu::used]] void pf_enter_library(const boundary::Function* f,
                                                                          const Registers* r) {
  Thread* t = current();
  if (t == nullptr || (t->busy | t->inside) != 0 || !is_instrumented(r->return_address)) return;
  const Scope scope(*t);
  library::look_around(*t);
  library::Call& call = library::push(*t, f->target, r->return_address - 1);
  call.loads_modules = f->loads_modules;
  if (!f->loads_modules) library::begin(*t, call, f->owner, words_of(*t, *r));
  library::watch(*t);
}
