// Recording, and the functions of host.h for it. Windows are files in the run directory, mapped and shared: what is in them stays
// whatever becomes of the process, and no descriptor is kept that the program could close. A thread has one window mapped at
// a time, so memory is bounded; the kernel writes the pages back.
//
// One process is recorded, the first that is instrumented: its forked children go on without.
#include "runtime/record_host.h"

#include <errno.h>

#include "runtime/options.h"
#include "runtime/output.h"
#include "runtime/registry.h"

namespace pf::rt {

const uintptr_t kCellBytes = sizeof(RecordHost::Cell);
const char kDetectorName[] = "record";
const bool kIsForSampling = false;

namespace {

using HostThread = RecordHost::HostThread;
using recording::first_word, recording::WindowHeader;

constexpr uintptr_t kMarkWhole = uintptr_t{64} << 10;  // of a larger block only what was ever accessed is stamped

constinit uint64_t g_bytes = 0;        // of windows
constinit uint64_t g_large_frees = 0;  // the latest stamp of any
constinit uint64_t g_fences = 0;

HostThread& of(Thread& t) { return RecordHost::of(t); }
bool is_on() { return __atomic_load_n(&RecordHost::g_recording, __ATOMIC_RELAXED); }

// Whoever sees it off and goes on, is seen by others after that: what is recorded has no gap.
void stop() { __atomic_store_n(&RecordHost::g_recording, false, __ATOMIC_SEQ_CST); }
void stop_for(const char* reason) {
  if (!__atomic_exchange_n(&RecordHost::g_recording, false, __ATOMIC_SEQ_CST)) return;
  Text out;
  out.put("{\"raw\":\"lost\",\"what\":").quoted(reason).put('}');
  output::line(out);
}

// --- windows ---

void put_path(Text& path, uint32_t thread, uint32_t sequence) {
  path.put(output::directory()).put("/window.").number(thread).put('.').number(sequence);
}

char* map_window(const char* path, uint64_t bytes) {
  const long fd = sys::open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (sys::failed(fd)) return nullptr;
  // Reserved, since a page that finds no room on the disk would end the program.
  long room = sys::call(SYS_fallocate, fd, 0, 0, static_cast<long>(bytes));
  if (room == -EOPNOTSUPP) room = sys::call(SYS_ftruncate, fd, static_cast<long>(bytes));
  const long p = sys::failed(room) ? room
                                   : sys::call(SYS_mmap, 0, static_cast<long>(bytes), PROT_READ | PROT_WRITE,
                                               MAP_SHARED | MAP_POPULATE, fd, 0);
  sys::close(static_cast<int>(fd));
  if (!sys::failed(p)) return reinterpret_cast<char*>(p);
  sys::call_on(SYS_unlink, path);
  return nullptr;
}

void close_window(HostThread& t) {
  if (t.window != nullptr) sys::unmap(t.window, t.window_bytes);
  t.window = nullptr;
  t.at = t.full = t.unsettled = nullptr;
}

void drop_oldest(HostThread& t) {
  Text path;
  put_path(path, t.info->id, t.oldest);
  sys::call_on(SYS_unlink, path.c_str());
  const uint64_t bytes = t.oldest == 0 ? recording::kFirstWindowBytes : recording::kWindowBytes;
  ++t.oldest;
  __atomic_fetch_sub(&g_bytes, bytes, __ATOMIC_RELAXED);
}

// Whether there may be one more. Of a ring every thread keeps the window before the one that it fills.
bool may_grow(HostThread& t, uint64_t bytes) {
  const uint64_t all = __atomic_add_fetch(&g_bytes, bytes, __ATOMIC_RELAXED);
  if (g_options.record_ring != 0 && all > g_options.record_ring && t.sequence - t.oldest > 1) drop_oldest(t);
  if (g_options.record_limit == 0 || all <= g_options.record_limit) return true;
  stop_for("the rest of the program, for the recording has reached its limit");
  return false;
}

bool open_window(HostThread& t) {
  const uint64_t bytes = t.sequence == 0 ? recording::kFirstWindowBytes : recording::kWindowBytes;
  if (!may_grow(t, bytes)) return false;
  Text path;
  put_path(path, t.info->id, t.sequence);
  t.window = map_window(path.c_str(), bytes);
  if (t.window == nullptr) {
    stop_for("the rest of the program, for the recording finds no more room on the disk");
    return false;
  }
  t.window_bytes = bytes;
  auto* header = reinterpret_cast<WindowHeader*>(t.window);
  header->thread = t.info->id;
  header->sequence = t.sequence++;
  header->stamp = t.stamp;
  header->previous = t.told;
  __atomic_store_n(&header->magic, recording::kMagic, __ATOMIC_RELEASE);
  t.told = t.stamp;
  t.at = reinterpret_cast<uint64_t*>(header + 1);
  // A stamp's record, an event's, and the zero that ends them.
  t.full = reinterpret_cast<uint64_t*>(t.window + bytes) - 2 * recording::kMaxRecordWords - 1;
  return true;
}

// --- blocks: their beginnings and ends are stamped where anybody could meet them ---

template <class F>
void for_each_cell(uintptr_t address, uintptr_t size, bool touched_only, F f) {
  const auto of_part = [&](uintptr_t from, uintptr_t to) {
    for (uintptr_t g = from & ~uintptr_t{7}; g < to; g += 8) f(RecordHost::cell_of(g));
  };
  if (!touched_only) return of_part(address, address + size);
  for_each_touched_part(address, address + size, kLinesBytes, kPage / sizeof(RecordHost::Cell) * 8, of_part);
}

// The thread's stamp goes beyond the cell's. Whether there was anything.
bool go_beyond(HostThread& t, const RecordHost::Cell& cell) {
  const RecordHost::Cell seen = __atomic_load_n(&cell, __ATOMIC_ACQUIRE);
  if (!RecordHost::is_of(t, seen)) t.stamp = RecordHost::later(t.stamp, RecordHost::stamp_in(seen) + 1);
  return seen != 0;
}
// The cell's goes up to the thread's.
void raise(const HostThread& t, RecordHost::Cell& cell, bool write, bool touched_only) {
  RecordHost::exchange(cell, [&](RecordHost::Cell seen) {
    const uint64_t stamp = RecordHost::stamp_in(seen);
    if (touched_only && seen == 0) return seen;
    if (RecordHost::is_of(t, seen)) return t.owner | (write ? 0 : seen & RecordHost::kIsRead) | t.stamp;
    if (stamp < t.stamp) return t.owner | (write ? 0 : RecordHost::kIsRead) | t.stamp;
    // Somebody else was there at the very moment. Whoever comes after both comes after a write, if there was one.
    return stamp == t.stamp && write ? RecordHost::kNobody | t.stamp : seen;
  });
}

// Whether there was anything.
bool stamp_cells(HostThread& t, uintptr_t address, uintptr_t size, bool write, bool touched_only) {
  bool any = false;
  for_each_cell(address, size, touched_only, [&](const RecordHost::Cell& cell) { any |= go_beyond(t, cell); });
  for_each_cell(address, size, touched_only, [&](RecordHost::Cell& cell) { raise(t, cell, write, touched_only); });
  return any;
}

void put_block(HostThread& t, Op op, uintptr_t address, uintptr_t size, uintptr_t pc, bool touched_only) {
  if (size == 0 || !is_on()) return;
  const Scope scope(t);
  RecordHost::settle(t);
  const uint64_t freed = __atomic_load_n(&g_large_frees, __ATOMIC_ACQUIRE);
  if (op == Op::Alloc) t.stamp = RecordHost::later(t.stamp, freed + 1);
  const bool any = stamp_cells(t, address, size, true, touched_only);
  if (op == Op::Alloc && touched_only && !any && freed == 0) return;  // nothing ever was there
  if (op == Op::Free && touched_only) {
    RecordHost::exchange(g_large_frees, [&](uint64_t seen) { return RecordHost::later(seen, t.stamp); });
  }
  RecordHost::put(t, first_word(op, address) | recording::kHasExtent, pc, size);
}

// Of memory that is gone: who maps it again comes after all large frees.
void forget_cells(Thread& t, uintptr_t address, uintptr_t size) {
  const Scope scope(t);
  for_each_cell(address, size, true, [](RecordHost::Cell& cell) {
    if (__atomic_load_n(&cell, __ATOMIC_RELAXED) != 0) __atomic_store_n(&cell, 0, __ATOMIC_RELEASE);
  });
  give_back(address, address + size, kLinesBytes, sizeof(RecordHost::Cell));
}

}  // namespace

void RecordHost::stamp_range(HostThread& t, uintptr_t address, uintptr_t size, bool write) {
  stamp_cells(t, address, size, write, false);
}

void RecordHost::note_atomic(HostThread& t, uintptr_t address, unsigned size, Op op, MemoryOrder order, uintptr_t pc) {
  ++t.accesses;
  ++t.atomics;
  if (!is_on() || (writes(op) ? t.ignore_writes : t.ignore_reads) != 0) return;
  settle(t);
  stamp_sync(t, address);
  const uint64_t first = first_word(op, address, order) | size_bits(size);
  if (size > 8 || !g_values) return put(t, first, pc);
  put(t, first | recording::kHasRoom | recording::kHasValue, pc, 0, value_at(address, size));
}

void RecordHost::put_call(HostThread& t, Op op, uintptr_t pc) {
  if (!is_on()) return;
  const Scope scope(t);
  settle(t);
  put(t, first_word(op, pc), pc);
}

// A thread that waits does nothing else: so it wakes, without anybody's doing, and waits again.
void RecordHost::interrupt_wait(HostThread& t) {
  const uintptr_t condition = t.waits;
  t.waits = 0;
  stamp_sync(t, condition);
  put(t, first_word(Op::Wake, condition), 0);
  t.resumes = condition;
}
void RecordHost::resume_wait(HostThread& t) {
  const uintptr_t condition = t.resumes;
  t.resumes = 0;
  stamp_sync(t, condition);
  put(t, first_word(Op::Wait, condition), 0);
  t.waits = condition;
}

bool RecordHost::make_room(HostThread& t) {
  if (!is_on()) {
    close_window(t);
    return false;
  }
  if (t.at >= t.full) {
    if (t.unsettled != nullptr) settle_write(t);
    close_window(t);
    if (!open_window(t)) return false;
    if (t.sequence % 16 == 1) output::modules();  // what was loaded meanwhile
    return true;
  }
  t.at[1] = t.told = t.stamp;
  __atomic_store_n(t.at, recording::kIsStamp, __ATOMIC_RELEASE);
  t.at += 2;
  return true;
}

namespace host {
namespace {

constinit SpinLock g_lock;
constinit HostThread* g_spare = nullptr;

HostThread* spare_thread() {
  const Guard guard(g_lock);
  HostThread* t = g_spare;
  if (t != nullptr) g_spare = static_cast<HostThread*>(t->next);
  return t;
}
HostThread* thread_to_use() {
  constexpr std::size_t kFrames = 8192;
  HostThread* t = spare_thread();
  Arena* arena = t != nullptr ? t->arena : nullptr;
  Frame *bottom = t != nullptr ? t->bottom : nullptr, *end = t != nullptr ? t->end : nullptr;
  if (t == nullptr) {
    t = static_cast<HostThread*>(map_or_die(sizeof(HostThread) + sizeof(Arena), "a thread"));
    arena = new (t + 1) Arena{};
    bottom = static_cast<Frame*>(map_or_die(kFrames * sizeof(Frame), "call stacks"));
    end = bottom + kFrames;
  }
  new (t) HostThread{};
  t->arena = arena;
  t->bottom = t->top = bottom;
  t->end = end;
  return t;
}

// Only the first process of a run is recorded, and not what it executes in its place.
bool claim() {
  if (output::directory() == nullptr) return false;
  Text path;
  path.put(output::directory()).put("/recorded");
  const long fd = sys::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (sys::failed(fd)) return false;
  Text pid;
  pid.number(static_cast<uint64_t>(sys::process_id()));
  const bool told = sys::write(static_cast<int>(fd), pid.data(), pid.size()) == static_cast<long>(pid.size());
  sys::close(static_cast<int>(fd));
  return told;
}

void sync(Thread& t, Op op, uintptr_t object) {
  if (t.ignore_sync != 0 || !is_on()) return;
  const Scope scope(t);
  ++t.events;
  RecordHost::settle(of(t));
  RecordHost::stamp_sync(of(t), object);
  RecordHost::put(of(t), first_word(op, object), t.caller);
}

// Of a thread that may not be running any more: what it left and what comes after it.
void put_thread_event(HostThread& t, Op op, uint64_t target) {
  if (!is_on()) return;
  RecordHost::settle(t);
  ++t.stamp;
  RecordHost::put(t, first_word(op, target), t.caller);
}

void guard(Thread& t, Op op, MemoryOrder order, uintptr_t address) {
  if (t.ignore_sync != 0 || !is_on()) return;
  const Scope scope(t);
  ++t.events;
  RecordHost::settle(of(t));
  RecordHost::stamp_sync(of(t), address);
  RecordHost::put(of(t), first_word(op, address, order) | recording::size_code(1) << recording::kSizeShift, t.caller);
}

}  // namespace

void start() {
  g_options.report_bugs = false;  // a recording judges nothing
  RecordHost::g_values = g_options.record_values;
  if (!output::supervised()) return say("a program is recorded by: photofinish record -o FILE -- PROGRAM");
  RecordHost::g_recording = claim();
  if (is_on()) output::modules();
}
void start_in_child() {
  stop();
  close_window(of(*self));  // the mapping was copied, the file is the parent's
}
void interrupted(Thread& t) { of(t).unsettled = nullptr; }
void resumed(Thread&) {}
bool trapped(const siginfo_t&, ucontext_t&) { return false; }
void put_statistics(Text&) {
  output::modules();  // what was loaded since the last window
  if (library::counts().cut == 0) return;
  Text out;
  out.put("{\"raw\":\"lost\",\"what\":\"part of what ").number(library::counts().cut);
  out.put(" calls into libraries reach: races may be told of that such a call orders\"}");
  output::line(out);
}
ClockOperations clock_operations(Thread&) { return {}; }

// --- threads ---

Thread* new_thread(Thread* parent, ThreadInfo* info) {
  HostThread* t = thread_to_use();
  t->info = info;
  t->owner = info->id < 0xFFFE ? uint64_t{info->id + 1} << RecordHost::kOwnerShift : RecordHost::kNobody;
  t->stamp = 1;
  if (parent == nullptr) return t;
  put_thread_event(of(*parent), Op::Fork, info->id);
  t->stamp = of(*parent).stamp + 1;
  return t;
}
void end(Thread& t) {
  put_thread_event(of(t), Op::End, 0);
  close_window(of(t));
}
void join(Thread& t, Thread& child) {
  of(t).stamp = RecordHost::later(of(t).stamp, of(child).stamp);
  put_thread_event(of(t), Op::Join, child.info->id);
}
void destroy(Thread& child) {
  close_window(of(child));
  const Guard guard(g_lock);
  child.next = g_spare;
  g_spare = &of(child);
}

// --- synchronization ---

namespace {

// A trace has a thread wait after it released the mutex. The real wait, and so whatever ends it, comes later still.
void begin_wait(Thread& t) {
  const uintptr_t condition = of(t).will_wait;
  of(t).will_wait = 0;
  if (condition == 0 || t.ignore_sync != 0) return;
  sync(t, Op::Wait, condition);
  of(t).waits = condition;
}

}  // namespace

void acquire(Thread& t, uintptr_t lock, LockMode mode) {
  sync(t, mode == LockMode::Write ? Op::Acquire : Op::ReadAcquire, lock);
}
void release(Thread& t, uintptr_t lock, LockMode mode) {
  sync(t, mode == LockMode::Write ? Op::Release : Op::ReadRelease, lock);
  begin_wait(t);
}
void wait(Thread& t, uintptr_t condition) { of(t).will_wait = condition; }
void wake(Thread& t, uintptr_t condition, bool) {
  begin_wait(t);
  of(t).waits = 0;
  sync(t, Op::Wake, condition);
}
void notify(Thread& t, uintptr_t condition, bool) { sync(t, Op::Notify, condition); }
void barrier_enter(Thread& t, uintptr_t barrier) { sync(t, Op::BarrierEnter, barrier); }
void barrier_leave(Thread& t, uintptr_t barrier) { sync(t, Op::BarrierLeave, barrier); }
void post(Thread& t, uintptr_t address) { sync(t, Op::SemPost, address); }
void take(Thread& t, uintptr_t address) { sync(t, Op::SemWait, address); }
void release_atomic(Thread& t, uintptr_t address) { guard(t, Op::AtomicRmw, MemoryOrder::Release, address); }
void acquire_atomic(Thread& t, uintptr_t address) { guard(t, Op::AtomicLoad, MemoryOrder::Acquire, address); }
void fence(Thread& t, int order) {
  if (t.ignore_sync != 0 || !is_on()) return;
  const Scope scope(t);
  ++t.events;
  RecordHost::settle(of(t));
  RecordHost::exchange(g_fences, [&](uint64_t seen) {
    of(t).stamp = RecordHost::later(of(t).stamp, seen) + 1;
    return of(t).stamp;
  });
  RecordHost::put(of(t), first_word(Op::Fence, 0, static_cast<MemoryOrder>(order)), t.caller);
}

// --- calls into code without instrumentation: a word of D could be what orders, so each is stamped as if it was written ---

namespace {

// f(cell, whether it counts only if it was ever touched): the first of a piece stands for all of it.
template <class F>
void for_each_reached_cell(const library::Call& call, F f) {
  for (uint32_t i = 0; i < call.piece_count; ++i) {
    const reach::Piece& p = call.pieces[i];
    f(RecordHost::cell_of(p.begin), false);
    for_each_cell(p.begin, p.end - p.begin, true, [&](RecordHost::Cell& cell) { f(cell, true); });
  }
}

// First beyond all of them, then all up to the one stamp that the record will have: who looks at any of them later is later.
void stamp_reach(Thread& t, const library::Call& call) {
  RecordHost::settle(of(t));
  ++of(t).stamp;
  for_each_reached_cell(call, [&](const RecordHost::Cell& cell, bool) { go_beyond(of(t), cell); });
  for_each_reached_cell(call, [&](RecordHost::Cell& cell, bool if_touched) { raise(of(t), cell, true, if_touched); });
}

}  // namespace

void begin_library(Thread& t, library::Call& call) {
  if (!is_on()) return;
  stamp_reach(t, call);
  RecordHost::put(of(t), first_word(Op::MissingBegin, call.function), call.caller);
  for (uint32_t i = 0; i < call.piece_count; ++i) {
    const reach::Piece& p = call.pieces[i];
    RecordHost::put(of(t), first_word(Op::Reach, p.begin) | recording::kHasExtent, call.caller, p.end - p.begin);
  }
}
void end_library(Thread& t, library::Call& call) {
  if (!is_on()) return;
  stamp_reach(t, call);
  RecordHost::put(of(t), first_word(Op::MissingEnd, 0), call.caller);
}
// The library does nothing meanwhile: its call is in two parts, before the callback and after it.
void begin_callback(Thread& t, library::Call& call) { end_library(t, call); }
void end_callback(Thread& t, library::Call& call) { begin_library(t, call); }

// --- memory ---

void access(Thread& t, uintptr_t address, uintptr_t size, bool write, uintptr_t pc) {
  ++t.accesses;
  if (size == 0 || !is_on() || (write ? t.ignore_writes : t.ignore_reads) != 0) return;
  const Scope scope(t);
  RecordHost::settle(of(t));
  RecordHost::stamp_range(of(t), address, size, write);
  RecordHost::put(of(t), first_word(write ? Op::Write : Op::Read, address) | recording::kHasExtent, pc, size);
}
void begin_block(Thread& t, uintptr_t address, uintptr_t size) {
  put_block(of(t), Op::Alloc, address, size, t.caller, size > kMarkWhole);
}
bool is_end_noticed(uintptr_t, uintptr_t) { return true; }
void end_block(Thread& t, uintptr_t address, uintptr_t size, uintptr_t pc) {
  if (t.ignore_writes == 0) put_block(of(t), Op::Free, address, size, pc, size > kMarkWhole);
}
void drop_block(Thread& t, uintptr_t address, uintptr_t size, uintptr_t pc) {
  if (t.ignore_writes == 0) put_block(of(t), Op::Free, address, size, pc, true);
  if (is_on()) forget_cells(t, address, size);
}
void forget_object(Thread&, uintptr_t) {}  // stamps stay

}  // namespace host
}  // namespace pf::rt
