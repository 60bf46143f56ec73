// See generator.h. Each step draws what the chosen thread does next; a step that the state does not allow returns false
// without an event, and the scheduler draws another thread.
#include "trace/generator.h"

#include <algorithm>

#include "core/object.h"

namespace pf {
namespace {

constexpr uint64_t kAlways = uint64_t{1} << 32;
constexpr uint64_t kHalf = kAlways / 2, kQuarter = kAlways / 4, kSeldom = kAlways / 16;

// Where raw memory lies when variables are no abstract ones: objects of up to kObjectBytes each.
constexpr uint64_t kRawVariables = 0x10000, kRawHeap = uint64_t{1} << 40;
constexpr uint32_t kObjectBytes = 32;

uint64_t odds(double probability) {
  return static_cast<uint64_t>(std::clamp(probability, 0.0, 1.0) * static_cast<double>(kAlways));
}

GeneratorOptions made_possible(GeneratorOptions options) {
  for (unsigned* at_least_one : {&options.threads, &options.local_variables, &options.sites,
                                 &options.accesses_per_section, &options.run_length, &options.nesting})
    *at_least_one = std::max(*at_least_one, 1U);
  return options;
}

// Objects 0 to count - 1 are dealt to the guards in turn: how many fall to this one?
uint32_t share_of(uint32_t guard, uint32_t guards, uint32_t count) {
  return guard < count ? (count - guard - 1) / guards + 1 : 0;
}

}  // namespace

GeneratorOptions random_options(uint64_t seed, uint64_t events) {
  RandomBits random(seed ^ 0x70686f746f66696e);  // not the numbers that the trace itself is drawn from
  GeneratorOptions o;
  o.seed = seed;
  o.events = events;
  o.threads = 2 + random.below(4);
  o.variables = 1 + random.below(4);
  o.local_variables = 1;
  o.locks = random.below(4);
  const auto sometimes = [&](unsigned most) { return random.below(3) == 0 ? 1 + random.below(most) : 0; };
  o.rwlocks = sometimes(2);
  o.atomics = sometimes(2);
  o.conditions = sometimes(2);
  o.barriers = sometimes(2);
  o.semaphores = sometimes(2);
  o.heap_blocks = sometimes(2);
  o.accesses_per_section = 1 + random.below(3);
  o.run_length = 1 + random.below(5);
  o.nesting = 1 + random.below(3);
  o.discipline = random.below(2) == 0 ? 1 : 0.7;
  o.race = o.locks + o.rwlocks == 0 ? 0.75 : 0.25 * random.below(4);
  o.local_share = 0.1 * random.below(3);
  o.write_share = 0.3 + 0.2 * random.below(3);
  o.locality = 0.25 * random.below(4);
  o.sync_share = 0.2 + 0.2 * random.below(3);
  o.fork_join = random.below(2) == 0;
  o.fences = sometimes(1) != 0;
  o.bytes = sometimes(1) != 0;
  o.values = sometimes(1) != 0;
  o.unique_sites = true;
  return o;
}

Generator::Generator(const GeneratorOptions& options)
    : options_(made_possible(options)), random_(options.seed), guards_(options.locks + options.rwlocks),
      first_local_(options_.variables), first_atomic_(first_local_ + options_.threads * options_.local_variables),
      first_block_(first_atomic_ + options_.atomics), discipline_odds_(odds(options.discipline)),
      race_odds_(odds(options.race)), local_odds_(odds(options.local_share)), write_odds_(odds(options.write_share)),
      locality_odds_(odds(options.locality)), sync_odds_(odds(options.sync_share)), threads_(options_.threads),
      guard_states_(guards_), barriers_(options.barriers), semaphores_(options.semaphores),
      blocks_(options.heap_blocks) {
  if (options_.values) values_.resize(size_t{kObjectBytes} * (first_block_ + options_.heap_blocks));

  const auto enable = [&](bool on, Activity activity) {
    if (on) activities_.push_back(activity);
  };
  enable(options_.atomics > 0, Activity::Atomic);
  enable(options_.fences, Activity::Fence);
  enable(options_.conditions > 0, Activity::Notify);
  enable(options_.barriers > 0, Activity::Barrier);
  enable(options_.semaphores > 0, Activity::Semaphore);
  enable(options_.fork_join && options_.threads > 1, Activity::Churn);

  const uint32_t alive_from_start = options_.fork_join ? 1 : options_.threads;
  unborn_ = options_.threads - alive_from_start;
  for (uint32_t slot = 0; slot < options_.threads; ++slot) {
    if (slot < alive_from_start)
      threads_[slot].id = ThreadId{next_id_++};
    else
      threads_[slot].life = Life::Unborn;
  }
  const uint64_t ends_and_joins = 2 * uint64_t{unborn_};
  drain_at_ = options_.events - std::min(ends_and_joins, options_.events / 2);
}

bool Generator::next(Event& event) {
  if (emitted_ >= drain_at_) return drain(event);
  for (;;) {
    if (run_left_ == 0) {
      current_ = random_.below(options_.threads);
      run_left_ = around(options_.run_length);
    }
    --run_left_;
    if (advance(current_, event)) return true;
    run_left_ = 0;
  }
}

bool Generator::advance(uint32_t slot, Event& event) {
  Thread& thread = threads_[slot];
  if (thread.accesses_left > 0) {
    --thread.accesses_left;
    access(slot, event);
    return true;
  }
  if (thread.life == Life::Forked) {
    thread.life = Life::Running;
    emit(slot, Op::Begin, 0, event);
    return true;
  }
  if (thread.life != Life::Running) return false;
  if (thread.duty != Duty::None) return do_duty(slot, event);
  return thread.held.empty() ? start_activity(slot, event) : end_section(slot, event);
}

bool Generator::do_duty(uint32_t slot, Event& event) {
  Thread& thread = threads_[slot];
  switch (thread.duty) {
    case Duty::None: return false;
    case Duty::Wait:
      thread.duty = Duty::Wake;
      thread.notified = false;
      emit(slot, Op::Wait, abstract_object(thread.subject), event);
      return true;
    case Duty::Wake: return wake(slot, event);
    case Duty::Relock: return relock(slot, event);
    case Duty::Leave: return leave_barrier(slot, event);
    case Duty::Fork:
      thread.duty = Duty::None;
      fork(slot, thread.subject, event);
      return true;
  }
  return false;
}

bool Generator::start_activity(uint32_t slot, Event& event) {
  if (slot == 0 && unborn_ > 0 && random_.hit(kHalf)) {
    fork(slot, options_.threads - unborn_--, event);
    return true;
  }
  // Others gather at a barrier soon after the first one, or rounds would stay small.
  if (!barriers_.empty() && random_.hit(kQuarter)) {
    const uint32_t barrier = random_.below(options_.barriers);
    if (barriers_[barrier].entered > 0) return enter_barrier(slot, barrier, event);
  }
  if (!activities_.empty() && random_.hit(sync_odds_))
    return start_sync(slot, activities_[random_.below(static_cast<uint32_t>(activities_.size()))], event);
  if (guards_ > 0 && !random_.hit(local_odds_)) return start_section(slot, event);
  threads_[slot].burst = Burst::Local;
  threads_[slot].accesses_left = around(options_.accesses_per_section) - 1;
  access(slot, event);
  return true;
}

bool Generator::start_sync(uint32_t slot, Activity activity, Event& event) {
  constexpr MemoryOrder kFenceOrders[] = {MemoryOrder::Acquire, MemoryOrder::Release, MemoryOrder::AcqRel,
                                          MemoryOrder::SeqCst};
  switch (activity) {
    case Activity::Atomic:
      access_atomically(slot, atomic_variable(random_.below(options_.atomics)), event);
      return true;
    case Activity::Fence:
      emit(slot, Op::Fence, 0, event);
      event.order = kFenceOrders[random_.below(4)];
      return true;
    case Activity::Notify: notify(slot, event); return true;
    case Activity::Barrier: return enter_barrier(slot, random_.below(options_.barriers), event);
    case Activity::Semaphore: use_semaphore(slot, event); return true;
    case Activity::Churn: return churn(slot, event);
  }
  return false;
}

// The end of the trace: every thread undoes what it is in the middle of, and T0 joins those that were forked.
bool Generator::drain(Event& event) {
  for (uint32_t slot = options_.threads; slot-- > 0;)
    if (drain_thread(slot, event)) return true;
  return false;
}

bool Generator::drain_thread(uint32_t slot, Event& event) {
  Thread& thread = threads_[slot];
  thread.accesses_left = 0;
  if (thread.life == Life::Forked) return advance(slot, event);
  if (thread.life != Life::Running) return false;
  if (thread.duty == Duty::Wake || thread.duty == Duty::Leave) return do_duty(slot, event);
  thread.duty = Duty::None;
  if (!thread.held.empty())
    unlock(slot, event);
  else if (slot != 0 && options_.fork_join)
    end_thread(slot, event);
  else if (slot == 0 && !ended_slots_.empty())
    join_ended(slot, event);
  else
    return false;
  return true;
}

void Generator::access(uint32_t slot, Event& event) {
  if (race_odds_ != 0 && random_.hit(race_odds_))
    access_anything(slot, event);
  else if (threads_[slot].burst == Burst::Local)
    access_local(slot, event);
  else
    access_guarded(slot, event);
}

void Generator::access_local(uint32_t slot, Event& event) {
  const uint32_t own_blocks = guards_ == 0 ? share_of(slot, options_.threads, options_.heap_blocks) : 0;
  if (own_blocks > 0 && random_.hit(kQuarter))
    access_block(slot, slot + options_.threads * random_.below(own_blocks), false, event);
  else
    access_object(slot, local_variable(slot, random_.below(options_.local_variables)), false, event);
}

void Generator::access_guarded(uint32_t slot, Event& event) {
  const Thread& thread = threads_[slot];
  const bool only_reads = thread.burst == Burst::GuardedReads;
  if (thread.burst_blocks > 0 && (thread.burst_variables == 0 || random_.hit(kQuarter)))
    access_block(slot, thread.burst_guard + guards_ * random_.below(thread.burst_blocks), only_reads, event);
  else
    access_object(slot, shared_variable(thread.burst_guard + guards_ * random_.below(thread.burst_variables)),
                  only_reads, event);
}

// An access that no lock stands for, to any memory that is shared.
void Generator::access_anything(uint32_t slot, Event& event) {
  const uint32_t atomics = options_.variables, blocks = atomics + options_.atomics;
  const uint32_t all = blocks + options_.heap_blocks;
  const uint32_t pick = all == 0 ? 0 : random_.below(all);
  if (pick < atomics)
    access_object(slot, shared_variable(pick), false, event);
  else if (pick < blocks)
    access_object(slot, atomic_variable(pick - atomics), false, event);
  else if (pick < all)
    access_block_wildly(slot, pick - blocks, event);
  else
    access_local(slot, event);
}

// Like any block, but perhaps also after its free.
void Generator::access_block_wildly(uint32_t slot, uint32_t block, Event& event) {
  const bool was_freed = !blocks_[block].live && blocks_[block].size > 0;
  if (was_freed && random_.hit(kQuarter))
    access_object(slot, heap_block(block), false, event);
  else
    access_block(slot, block, false, event);
}

void Generator::access_block(uint32_t slot, uint32_t block, bool only_reads, Event& event) {
  if (!blocks_[block].live && only_reads)
    access_local(slot, event);
  else if (!blocks_[block].live)
    allocate(slot, block, event);
  else if (!only_reads && options_.atomics > 0 && random_.hit(kQuarter))
    access_atomically(slot, heap_block(block), event);
  else if (only_reads || !random_.hit(kQuarter))
    access_object(slot, heap_block(block), only_reads, event);
  else
    deallocate(slot, block, event);
}

void Generator::deallocate(uint32_t slot, uint32_t block, Event& event) {
  blocks_[block].live = false;
  emit(slot, Op::Free, heap_block(block).address, event);
  event.value = blocks_[block].size;
}

// Blocks of one place differ in where they begin and end, so that lives at the same addresses overlap in part.
void Generator::allocate(uint32_t slot, uint32_t block, Event& event) {
  const uint32_t offset = kVariableSize * random_.below(2);
  blocks_[block] = {.offset = offset, .size = kVariableSize * (1 + random_.below(3)), .live = true};
  emit(slot, Op::Alloc, heap_block(block).address, event);
  event.value = blocks_[block].size;
}

void Generator::access_object(uint32_t slot, const Object& object, bool only_reads, Event& event) {
  uint32_t size = kVariableSize, offset = 0;
  if (options_.bytes) {
    size = 1U << random_.below(4);
    offset = random_.below(object.size - size + 1);
  } else if (object.size > kVariableSize) {
    offset = kVariableSize * random_.below(object.size / kVariableSize);
  }
  const bool is_write = !only_reads && random_.hit(write_odds_);
  emit(slot, is_write ? Op::Write : Op::Read, object.address + offset, event);
  event.size = size;
  if (options_.values) fill_value(object, event);
}

// The first bytes of the object, the same for every thread.
void Generator::access_atomically(uint32_t slot, const Object& object, Event& event) {
  constexpr MemoryOrder kLoadOrders[] = {MemoryOrder::Relaxed, MemoryOrder::Consume, MemoryOrder::Acquire,
                                         MemoryOrder::SeqCst};
  constexpr MemoryOrder kStoreOrders[] = {MemoryOrder::Relaxed, MemoryOrder::Release, MemoryOrder::SeqCst};
  constexpr Op kOperations[] = {Op::AtomicLoad, Op::AtomicStore, Op::AtomicRmw};
  emit(slot, kOperations[random_.below(3)], object.address, event);
  event.size = kVariableSize;
  if (event.op == Op::AtomicLoad)
    event.order = kLoadOrders[random_.below(4)];
  else if (event.op == Op::AtomicStore)
    event.order = kStoreOrders[random_.below(3)];
  else
    event.order = static_cast<MemoryOrder>(random_.below(kMemoryOrders));
  if (options_.values) fill_value(object, event);
}

// A write draws a small value, a read gets what its bytes hold, an rmw has the value that it writes.
void Generator::fill_value(const Object& object, Event& event) {
  const size_t cell = size_t{kObjectBytes} * object.number + (event.target - object.address);
  event.has_value = true;
  if (writes(event.op)) event.value = random_.below(16);
  for (uint32_t i = 0; i < event.size; ++i) {
    if (writes(event.op))
      values_[cell + i] = static_cast<uint8_t>(event.value >> 8 * i);
    else
      event.value |= uint64_t{values_[cell + i]} << 8 * i;
  }
}

bool Generator::start_section(uint32_t slot, Event& event) {
  const uint32_t guard = pick_guard(slot);
  const bool disciplined = random_.hit(discipline_odds_);
  const uint32_t taken = disciplined ? guard : random_.below(guards_);
  const bool reads = pick_reads(taken);
  if (!lock(slot, taken, reads, event)) return false;
  start_burst(threads_[slot], guard, reads && disciplined);
  return true;
}

bool Generator::start_nested_section(uint32_t slot, Event& event) {
  const uint32_t lowest = threads_[slot].held.back().guard + 1;
  if (lowest == guards_) return false;
  const uint32_t taken = lowest + random_.below(guards_ - lowest);
  const bool reads = pick_reads(taken);
  if (!lock(slot, taken, reads, event)) return false;
  const bool disciplined = random_.hit(discipline_odds_);
  start_burst(threads_[slot], disciplined ? taken : random_.below(guards_), reads && disciplined);
  return true;
}

void Generator::start_burst(Thread& thread, uint32_t guard, bool only_reads) {
  thread.burst = only_reads ? Burst::GuardedReads : Burst::Guarded;
  thread.burst_guard = guard;
  thread.burst_variables = share_of(guard, guards_, options_.variables);
  thread.burst_blocks = share_of(guard, guards_, options_.heap_blocks);
  const bool has_data = thread.burst_variables + thread.burst_blocks > 0;
  thread.accesses_left = has_data ? around(options_.accesses_per_section) : 0;
}

// After the last access of a section: take a further lock, or let go of the innermost, perhaps to wait.
bool Generator::end_section(uint32_t slot, Event& event) {
  Thread& thread = threads_[slot];
  if (thread.held.size() < options_.nesting && random_.hit(kHalf) && start_nested_section(slot, event)) return true;
  const Held innermost = thread.held.back();
  unlock(slot, event);
  const bool may_wait = options_.conditions > 0 && thread.held.empty() && !innermost.reads;
  if (may_wait && random_.hit(kQuarter)) {
    thread.duty = Duty::Wait;
    thread.subject = random_.below(options_.conditions);
    thread.relock_guard = innermost.guard;
  }
  return true;
}

bool Generator::lock(uint32_t slot, uint32_t guard, bool reads, Event& event) {
  Guard& state = guard_states_[guard];
  if (state.written || (!reads && state.readers > 0)) return false;
  if (reads)
    ++state.readers;
  else
    state.written = true;
  threads_[slot].held.push_back({guard, reads});
  emit(slot, reads ? Op::ReadAcquire : Op::Acquire, abstract_object(guard), event);
  return true;
}

void Generator::unlock(uint32_t slot, Event& event) {
  const Held innermost = threads_[slot].held.back();
  threads_[slot].held.pop_back();
  if (innermost.reads)
    --guard_states_[innermost.guard].readers;
  else
    guard_states_[innermost.guard].written = false;
  emit(slot, innermost.reads ? Op::ReadRelease : Op::Release, abstract_object(innermost.guard), event);
}

uint32_t Generator::pick_guard(uint32_t slot) {
  if (!random_.hit(locality_odds_)) return random_.below(guards_);
  const uint32_t groups = std::min(options_.threads, guards_), group = slot % groups;
  return group + groups * random_.below(share_of(group, groups, guards_));
}

bool Generator::relock(uint32_t slot, Event& event) {
  Thread& thread = threads_[slot];
  if (!lock(slot, thread.relock_guard, false, event)) return false;
  thread.duty = Duty::None;
  start_burst(thread, random_.hit(discipline_odds_) ? thread.relock_guard : random_.below(guards_), false);
  return true;
}

// Mostly after a notify; now and then for nothing, as a spurious wake or a time-out, so that no thread waits for ever.
bool Generator::wake(uint32_t slot, Event& event) {
  Thread& thread = threads_[slot];
  const bool may_wake = thread.notified || emitted_ >= drain_at_ || random_.hit(kSeldom);
  if (!may_wake) return false;
  thread.duty = Duty::Relock;
  emit(slot, Op::Wake, abstract_object(thread.subject), event);
  return true;
}

void Generator::notify(uint32_t slot, Event& event) {
  const uint32_t condition = random_.below(options_.conditions);
  for (Thread& thread : threads_)
    if (thread.duty == Duty::Wake && thread.subject == condition) thread.notified = true;
  emit(slot, Op::Notify, abstract_object(condition), event);
}

bool Generator::enter_barrier(uint32_t slot, uint32_t barrier, Event& event) {
  Barrier& state = barriers_[barrier];
  if (state.closed) return false;
  if (state.entered == 0) state.parties = 1 + random_.below(options_.threads);
  state.closed = ++state.entered >= state.parties;
  threads_[slot].duty = Duty::Leave;
  threads_[slot].subject = barrier;
  threads_[slot].barrier_round = state.round;
  emit(slot, Op::BarrierEnter, abstract_object(barrier), event);
  return true;
}

// A round that does not fill is now and then closed early, so that no thread stays in it for ever.
bool Generator::leave_barrier(uint32_t slot, Event& event) {
  Thread& thread = threads_[slot];
  Barrier& state = barriers_[thread.subject];
  if (thread.barrier_round == state.round) {
    const bool may_leave = state.closed || emitted_ >= drain_at_ || random_.hit(kSeldom);
    if (!may_leave) return false;
    state = {.round = state.round + 1};
  }
  thread.duty = Duty::None;
  emit(slot, Op::BarrierLeave, abstract_object(thread.subject), event);
  return true;
}

void Generator::use_semaphore(uint32_t slot, Event& event) {
  const uint32_t semaphore = random_.below(options_.semaphores);
  const bool takes = semaphores_[semaphore] > 0 && random_.hit(kHalf);
  takes ? --semaphores_[semaphore] : ++semaphores_[semaphore];
  emit(slot, takes ? Op::SemWait : Op::SemPost, abstract_object(semaphore), event);
}

// A thread ends, or joins one that has ended and then forks another in its place: so the new one comes after the old
// one, and may take over its local variables.
bool Generator::churn(uint32_t slot, Event& event) {
  Thread& thread = threads_[slot];
  if (!ended_slots_.empty()) {
    thread.duty = Duty::Fork;
    thread.subject = ended_slots_.back();
    join_ended(slot, event);
    return true;
  }
  if (slot == 0) return false;
  end_thread(slot, event);
  return true;
}

void Generator::fork(uint32_t slot, uint32_t child_slot, Event& event) {
  Thread& child = threads_[child_slot];
  child = {};
  child.id = ThreadId{next_id_++};
  child.life = Life::Forked;
  emit(slot, Op::Fork, index(child.id), event);
}

void Generator::join_ended(uint32_t slot, Event& event) {
  Thread& ended = threads_[ended_slots_.back()];
  ended_slots_.pop_back();
  ended.life = Life::Gone;
  emit(slot, Op::Join, index(ended.id), event);
}

void Generator::end_thread(uint32_t slot, Event& event) {
  threads_[slot].life = Life::Ended;
  ended_slots_.push_back(slot);
  emit(slot, Op::End, 0, event);
}

void Generator::emit(uint32_t slot, Op op, uint64_t target, Event& event) {
  const uint64_t number = ++emitted_;
  event = {};
  event.target = target;
  event.thread = threads_[slot].id;
  event.op = op;
  event.site = SiteId{options_.unique_sites ? static_cast<uint32_t>(number) : 1 + random_.below(options_.sites)};
}

// Shared variables of the bytes mode are raw objects of several sizes; all else that is no heap is abstract.
Generator::Object Generator::shared_variable(uint32_t variable) const {
  if (!options_.bytes) return {abstract_variable(variable), kVariableSize, variable};
  return {kRawVariables + uint64_t{kObjectBytes} * variable, kVariableSize * (1 + variable % 4), variable};
}

Generator::Object Generator::local_variable(uint32_t slot, uint32_t variable) const {
  const uint32_t number = first_local_ + slot * options_.local_variables + variable;
  return {abstract_variable(number), kVariableSize, number};
}

Generator::Object Generator::atomic_variable(uint32_t variable) const {
  return {abstract_variable(first_atomic_ + variable), kVariableSize, first_atomic_ + variable};
}

Generator::Object Generator::heap_block(uint32_t block) const {
  const uint64_t address = kRawHeap + uint64_t{kObjectBytes} * block + blocks_[block].offset;
  return {address, blocks_[block].size, first_block_ + block};
}

}  // namespace pf
