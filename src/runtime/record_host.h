// The host that records (photofinish record): every event goes to a window of its thread, with a stamp that tells its place among those
// of other threads. No counter is shared: stamps are Lamport's, carried by the memory itself.
//
// A cell is the stamp of the latest access to its granule, by whom, and whether it was a read. A thread's stamp grows only when it meets
// what another thread left, so most accesses find in the cell what they would write and leave it alone:
//
//   write                 after everything there: beyond the cell's stamp if that is of others, else its own is late enough
//   read after a write    beyond the cell's stamp if that is another's
//   read after reads      not before the cell's stamp, which is beyond the write before; readers may share a stamp
//   synchronization       beyond the cell's stamp in any case
//
// Guarantees: of two conflicting accesses, or of two operations on one object, the one whose announcement came later has the greater
// stamp; cells are never cleared, so this holds across frees, too. Atomics are made under their Line, so their order is that of memory.
#pragma once
#include "core/recording.h"
#include "runtime/host.h"
#include "runtime/objects.h"

namespace pf::rt {

class RecordHost {
 public:
  struct HostThread : Thread {
    uint64_t stamp, told;  // now, and as of the last record
    uint64_t owner;        // as cells have it; kNobody where numbers have run out
    uint64_t* at;          // in the window, where the next record goes
    uint64_t* full;        // beyond it no record may begin
    char* window;
    uint64_t window_bytes;
    uint32_t sequence, oldest;
    // Conditions: to wait on once the mutex is released; waiting on; and to wait on again after the next event, which a handler of a
    // signal makes, or a cancellation.
    uintptr_t will_wait, waits, resumes;
    // The last write, announced before it was made: its value is known at the next event.
    uint64_t* unsettled;
    uintptr_t written;
    unsigned written_size;
  };
  static HostThread& of(Thread& t) { return static_cast<HostThread&>(t); }

  template <Op kOp, unsigned kSize>
  [[gnu::always_inline]] static void access(uintptr_t address, uintptr_t pc) {
    Thread* t = watched;
    if (t == nullptr) [[unlikely]] {
      t = current();
      if (t == nullptr) return;
      library::look_around(*t);
    }
    ++t->accesses;
    if ((writes(kOp) ? t->ignore_writes : t->ignore_reads) != 0 || !__atomic_load_n(&g_recording, __ATOMIC_RELAXED))
        [[unlikely]]
      return;
    const uint64_t value =
        !writes(kOp) && kSize <= 8 ? value_at(address, kSize) : 0;  // may fault, as the program would
    const Scope scope(*t);
    settle(of(*t));
    if ((address & 7) + kSize <= 8) [[likely]] {
      writes(kOp) ? stamp_write(of(*t), address) : stamp_read(of(*t), address);
    } else {
      stamp_range(of(*t), address, kSize, writes(kOp));
    }
    put_access(of(*t), kOp, address, kSize, value, pc);
  }
  template <Op kOp>
  static bool is_wanted(const Thread&, uintptr_t, uintptr_t) {
    return true;  // there is no filter
  }
  template <Op kOp>
  static void access_slow(Thread& t, uintptr_t address, uintptr_t size, uintptr_t pc) {
    host::access(t, address, size, writes(kOp), pc);
  }

  template <class Real>
  static auto atomic(HostThread& t, uintptr_t address, unsigned size, Op op, MemoryOrder order, uintptr_t pc,
                     Real real) {
    const Scope scope(t);
    const Line line(address);
    const auto before = real();
    note_atomic(t, address, size, op, order, pc);
    return before;
  }
  template <class Real>
  static bool compare_exchange(HostThread& t, uintptr_t address, unsigned size, MemoryOrder success,
                               MemoryOrder failure, uintptr_t pc, Real real) {
    const Scope scope(t);
    const Line line(address);
    const bool done = real();
    note_atomic(t, address, size, done ? Op::AtomicRmw : Op::AtomicLoad, done ? success : failure, pc);
    return done;
  }

  // The program enters a function, or leaves one.
  static void called(Thread& t, uintptr_t pc) { put_call(of(t), Op::Call, pc); }
  static void returned(Thread& t, uintptr_t pc) { put_call(of(t), Op::Return, pc); }

  // --- stamps ---

  using Cell = uint64_t;
  static constexpr unsigned kOwnerShift = 48;
  static constexpr uint64_t kNobody = 0, kShared = uint64_t{0xFFFF} << kOwnerShift;
  static constexpr uint64_t kIsRead = uint64_t{1} << 47, kStampMask = kIsRead - 1;

  static Cell& cell_of(uintptr_t address) {
    return reinterpret_cast<Cell*>(chunk(address) + kLinesBytes)[granule_index(address)];
  }
  static uint64_t stamp_in(Cell cell) { return cell & kStampMask; }
  static bool is_of(const HostThread& t, Cell cell) {
    return t.owner != kNobody && (cell & ~(kIsRead | kStampMask)) == t.owner;
  }
  static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

  // After all that was done there; `next` makes the new cell of the old one, and moves the thread's stamp.
  template <class Next>
  [[gnu::always_inline]] static void exchange(Cell& cell, Next next) {
    Cell seen = __atomic_load_n(&cell, __ATOMIC_ACQUIRE);
    for (;;) {
      const Cell wanted = next(seen);
      if (wanted == seen) [[likely]]
        return;
      if (__atomic_compare_exchange_n(&cell, &seen, wanted, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return;
    }
  }
  [[gnu::always_inline]] static void stamp_write(HostThread& t, uintptr_t address) {
    exchange(cell_of(address), [&](Cell seen) __attribute__((always_inline)) {
      if (!is_of(t, seen)) t.stamp = later(t.stamp, stamp_in(seen) + 1);
      return t.owner | t.stamp;
    });
  }
  [[gnu::always_inline]] static void stamp_read(HostThread& t, uintptr_t address) {
    exchange(cell_of(address), [&](Cell seen) __attribute__((always_inline)) {
      if (is_of(t, seen)) return t.owner | (seen & kIsRead) | t.stamp;
      const bool after_read = (seen & kIsRead) != 0;
      t.stamp = later(t.stamp, stamp_in(seen) + (after_read ? 0 : 1));
      return (after_read ? kShared : t.owner) | kIsRead | t.stamp;
    });
  }
  static void stamp_sync(HostThread& t, uintptr_t address) {
    exchange(cell_of(address), [&](Cell seen) {
      t.stamp = later(t.stamp, stamp_in(seen)) + 1;
      return t.owner | t.stamp;
    });
  }
  // Several granules: first beyond all of them, then all of them are raised. An access in between is at the very moment.
  [[gnu::noinline]] static void stamp_range(HostThread& t, uintptr_t address, uintptr_t size, bool write);

  // --- records ---

  static uint64_t value_at(uintptr_t address, unsigned size) {
    uint64_t value = 0;
    __builtin_memcpy(&value, reinterpret_cast<const void*>(address), size);
    return value;
  }
  [[gnu::always_inline]] static void settle(HostThread& t) {
    if (t.unsettled != nullptr) settle_write(t);
    if (t.waits != 0) [[unlikely]]
      interrupt_wait(t);
  }
  static void settle_write(HostThread& t) {
    uint64_t* record = t.unsettled;
    t.unsettled = nullptr;
    record[2] = value_at(t.written, t.written_size);
    __atomic_store_n(record, *record | recording::kHasValue, __ATOMIC_RELEASE);
  }

  // Room for a record, or null if there is to be none. The stamp is told from then on.
  [[gnu::always_inline]] static uint64_t* room(HostThread& t, uint64_t& step) {
    step = t.stamp - t.told;
    if (t.at >= t.full || step > recording::kMaxStep) [[unlikely]] {
      if (!make_room(t)) return nullptr;
      step = t.stamp - t.told;
    }
    t.told = t.stamp;
    return t.at;
  }
  [[gnu::always_inline]] static void put(HostThread& t, uint64_t first, uintptr_t pc, uint64_t extent = 0,
                                         uint64_t value = 0) {
    uint64_t step = 0;
    uint64_t* record = room(t, step);
    if (record == nullptr) [[unlikely]]
      return;
    t.at = record + recording::words(first);
    uint64_t* more = record + 2;
    if ((first & recording::kHasExtent) != 0) *more++ = extent;
    if ((first & recording::kHasRoom) != 0) *more = value;
    record[1] = (pc & recording::kTargetMask) | step << recording::kStepShift;
    __atomic_store_n(record, first, __ATOMIC_RELEASE);
    if (t.resumes != 0) [[unlikely]]
      resume_wait(t);
  }

 private:
  [[gnu::noinline, gnu::cold]] static void interrupt_wait(HostThread& t);
  [[gnu::noinline, gnu::cold]] static void resume_wait(HostThread& t);
  static constexpr uint64_t size_bits(unsigned size) {
    const uint64_t code = recording::size_code(size);
    return code != 0 ? code << recording::kSizeShift : recording::kHasExtent;
  }
  [[gnu::always_inline]] static void put_access(HostThread& t, Op op, uintptr_t address, unsigned size, uint64_t value,
                                                uintptr_t pc) {
    const uint64_t first = recording::first_word(op, address) | size_bits(size);
    if (size > 8 || !g_values) return put(t, first, pc);
    if (!writes(op)) return put(t, first | recording::kHasRoom | recording::kHasValue, pc, 0, value);
    uint64_t* const record = t.at;
    put(t, first | recording::kHasRoom, pc);
    if (record == nullptr || t.at != record + 3) [[unlikely]]
      return;  // it went to another window: this one value is not worth the search
    t.unsettled = record;
    t.written = address;
    t.written_size = size;
  }
  static void note_atomic(HostThread& t, uintptr_t address, unsigned size, Op op, MemoryOrder order, uintptr_t pc);
  static void put_call(HostThread& t, Op op, uintptr_t pc);
  [[gnu::noinline, gnu::cold]] static bool make_room(HostThread& t);

 public:
  static constinit inline bool g_values = true;
  // Asked at every event, so that none is recorded after one that was not.
  static constinit inline bool g_recording = false;
};

}  // namespace pf::rt
