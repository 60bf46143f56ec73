// See check.h. Every function that applies an event first looks for its fault and changes state only without one.
#include "trace/check.h"

#include <algorithm>
#include <limits>

namespace pf {
namespace {

std::string hexadecimal(uint64_t number) {
  std::string digits;
  do digits.insert(digits.begin(), "0123456789abcdef"[number % 16]);
  while ((number /= 16) != 0);
  return "0x" + digits;
}

std::string plain_variable(uint64_t address) {
  const uint64_t number = (address & ~kAbstract) / kVariableSize, offset = address % kVariableSize;
  return "V" + std::to_string(number) + (offset == 0 ? "" : "+" + std::to_string(offset));
}

std::string plain_object(ObjectKind kind, uint64_t id) {
  const bool is_abstract = (id & kNamed) == kAbstract;
  if (kind == ObjectKind::Variable) return is_abstract ? plain_variable(id) : hexadecimal(id);
  const std::string letter(1, kObjectLetters[static_cast<unsigned>(kind)]);
  return letter + (is_abstract ? std::to_string(id & ~kAbstract) : hexadecimal(id));
}

ThreadId other_thread(const Event& event) { return static_cast<ThreadId>(event.target); }

bool wraps(uint64_t address, uint64_t size) { return size > std::numeric_limits<uint64_t>::max() - address; }

// Sampling periods are of the whole program: their events stand in some thread's name but are no act of it.
bool is_global(Op op) { return op == Op::SamplingOn || op == Op::SamplingOff; }

template <class Readers>
auto find_reader(Readers& readers, ThreadId thread) {
  return std::find_if(readers.begin(), readers.end(), [&](const auto& reader) { return reader.thread == thread; });
}

}  // namespace

Namer plain_namer() {
  return {[](ThreadId thread) { return "T" + std::to_string(index(thread)); }, plain_object};
}

bool Checker::IdSet::contains(ThreadId id) const {
  const auto after = last_by_first_.upper_bound(index(id));
  return after != last_by_first_.begin() && index(id) <= std::prev(after)->second;
}

void Checker::IdSet::insert(ThreadId id) {
  if (contains(id)) return;
  const uint64_t number = index(id);
  uint32_t first = index(id), last = index(id);
  const auto after = last_by_first_.upper_bound(index(id));
  if (after != last_by_first_.begin() && std::prev(after)->second + uint64_t{1} == number)
    first = std::prev(after)->first;
  if (after != last_by_first_.end() && after->first == number + 1) {
    last = after->second;
    last_by_first_.erase(after);
  }
  last_by_first_[first] = last;
}

std::optional<std::string> Checker::next(const Event& event) {
  if (is_global(event.op)) return toggle_sampling(event);
  if (Fault fault = check_alive(event)) return fault;
  Thread& thread = threads_[index(event.thread)];
  if (Fault fault = check_not_blocked(thread, event)) return fault;
  if (Fault fault = apply(thread, event)) return fault;
  if (event.op == Op::End) {
    threads_.erase(index(event.thread));
    return {};
  }
  thread.acted = true;
  thread.may_reach = event.op == Op::MissingBegin || event.op == Op::Reach;
  return {};
}

Checker::Fault Checker::check_alive(const Event& event) const {
  if (joined_.contains(event.thread)) return who(event) + " acts after it was joined";
  if (ended_.contains(event.thread)) return who(event) + " acts after its end";
  return {};
}

// A thread that waits or is inside a barrier does nothing before it comes out again.
Checker::Fault Checker::check_not_blocked(const Thread& thread, const Event& event) const {
  if (thread.waits_on && event.op != Op::Wake && event.op != Op::Wait)
    return who(event) + " acts while it waits on " + namer_.object(ObjectKind::Condition, *thread.waits_on);
  if (thread.inside_barrier && event.op != Op::BarrierLeave && event.op != Op::BarrierEnter)
    return who(event) + " acts while it is inside " + namer_.object(ObjectKind::Barrier, *thread.inside_barrier);
  return {};
}

Checker::Fault Checker::apply(Thread& thread, const Event& event) {
  switch (event.op) {
    case Op::Read:
    case Op::Write:
    case Op::AtomicLoad:
    case Op::AtomicStore:
    case Op::AtomicRmw: return access(event);
    case Op::Alloc: return alloc(event);
    case Op::Free: return free_block(event);
    case Op::Acquire: return acquire(event);
    case Op::Release: return release(event);
    case Op::ReadAcquire: return read_acquire(event);
    case Op::ReadRelease: return read_release(event);
    case Op::Fork: return fork(event);
    case Op::Join: return join(event);
    case Op::Begin: return begin(thread, event);
    case Op::End: ended_.insert(event.thread); return {};
    case Op::Wait: return wait(thread, event);
    case Op::Wake: return wake(thread, event);
    case Op::BarrierEnter: return enter(thread, event);
    case Op::BarrierLeave: return leave(thread, event);
    case Op::MissingBegin: ++thread.missing_depth; return {};
    case Op::MissingEnd: return missing_end(thread, event);
    case Op::Reach: return reach(thread, event);
    case Op::Notify:
    case Op::SemPost:
    case Op::SemWait:
    case Op::Fence:
    case Op::Call:
    case Op::Return:
    case Op::SamplingOn:
    case Op::SamplingOff: return {};
  }
  return who(event) + " does something unknown";
}

Checker::Fault Checker::access(const Event& event) const {
  if (event.size == 0) return who(event) + " accesses no bytes at " + what(event);
  if (wraps(event.target, event.size)) return who(event) + " accesses " + what(event) + " beyond the end of memory";
  return {};
}

// A reach tells what the uninstrumented call that just began may touch.
Checker::Fault Checker::reach(const Thread& thread, const Event& event) const {
  if (!thread.may_reach) return who(event) + " names memory in reach, but no uninstrumented call begins just before";
  if (wraps(event.target, event.value)) return who(event) + " reaches " + what(event) + " beyond the end of memory";
  return {};
}

const std::pair<const uint64_t, uint64_t>* Checker::overlapping_block(uint64_t address, uint64_t size) const {
  if (size == 0) return nullptr;
  const auto after = blocks_.lower_bound(address + size);
  if (after == blocks_.begin()) return nullptr;
  const auto& candidate = *std::prev(after);
  return candidate.first + candidate.second > address ? &candidate : nullptr;
}

Checker::Fault Checker::alloc(const Event& event) {
  if (wraps(event.target, event.value)) return who(event) + " allocates " + what(event) + " beyond the end of memory";
  end_covered_blocks(event.target, event.value);
  if (const auto* block = overlapping_block(event.target, event.value))
    return who(event) + " allocates " + what(event) + ", which overlaps the live block at " +
           namer_.object(ObjectKind::Variable, block->first);
  if (event.value != 0) blocks_.emplace(event.target, event.value);
  return {};
}

// Of stacks and mappings the end is not told: one that comes again whole was gone.
void Checker::end_covered_blocks(uint64_t address, uint64_t size) {
  for (auto it = blocks_.lower_bound(address); it != blocks_.end() && it->first + it->second <= address + size;)
    it = blocks_.erase(it);
}

// A block that was allocated before the trace began is not known; one that is known is freed whole.
Checker::Fault Checker::free_block(const Event& event) {
  if (wraps(event.target, event.value)) return who(event) + " frees " + what(event) + " beyond the end of memory";
  const auto* block = overlapping_block(event.target, event.value);
  if (!block) return {};
  if (block->first != event.target || block->second != event.value)
    return who(event) + " frees " + std::to_string(event.value) + " bytes at " + what(event) +
           ", where the live block is " + std::to_string(block->second) + " bytes at " +
           namer_.object(ObjectKind::Variable, block->first);
  blocks_.erase(event.target);
  return {};
}

// The write side needs that no other thread holds the lock in any way; its holder may take it again.
Checker::Fault Checker::acquire(const Event& event) {
  if (const auto found = locks_.find(event.target); found != locks_.end()) {
    const Lock& lock = found->second;
    if (lock.write_depth != 0 && lock.writer != event.thread)
      return who(event) + " acquires " + what(event) + ", which " + namer_.thread(lock.writer) + " holds";
    for (const Reader& reader : lock.readers)
      if (reader.thread != event.thread)
        return who(event) + " acquires " + what(event) + ", which " + namer_.thread(reader.thread) +
               " holds for reading";
  }
  Lock& lock = locks_[event.target];
  lock.writer = event.thread;
  ++lock.write_depth;
  return {};
}

Checker::Fault Checker::release(const Event& event) {
  const auto found = locks_.find(event.target);
  if (found == locks_.end()) return who(event) + " releases " + what(event) + ", which no thread holds";
  Lock& lock = found->second;
  if (lock.write_depth == 0) return who(event) + " releases " + what(event) + ", which is held only for reading";
  if (lock.writer != event.thread)
    return who(event) + " releases " + what(event) + ", which " + namer_.thread(lock.writer) + " holds";
  --lock.write_depth;
  forget_if_free(event.target);
  return {};
}

// The read side needs that no other thread holds the lock for writing.
Checker::Fault Checker::read_acquire(const Event& event) {
  if (const auto found = locks_.find(event.target); found != locks_.end()) {
    const Lock& lock = found->second;
    if (lock.write_depth != 0 && lock.writer != event.thread)
      return who(event) + " acquires " + what(event) + " for reading, while " + namer_.thread(lock.writer) +
             " holds it for writing";
  }
  auto& readers = locks_[event.target].readers;
  if (const auto own = find_reader(readers, event.thread); own != readers.end())
    ++own->depth;
  else
    readers.push_back({event.thread, 1});
  return {};
}

Checker::Fault Checker::read_release(const Event& event) {
  const auto found = locks_.find(event.target);
  if (found == locks_.end()) return who(event) + " releases " + what(event) + ", which no thread holds";
  auto& readers = found->second.readers;
  const auto own = find_reader(readers, event.thread);
  if (own == readers.end()) return who(event) + " releases " + what(event) + ", which it does not hold for reading";
  if (--own->depth == 0) readers.erase(own);
  forget_if_free(event.target);
  return {};
}

void Checker::forget_if_free(uint64_t lock) {
  const auto found = locks_.find(lock);
  if (found->second.write_depth == 0 && found->second.readers.empty()) locks_.erase(found);
}

Checker::Fault Checker::check_other_thread(const Event& event) const {
  if (event.target > std::numeric_limits<uint32_t>::max()) return who(event) + " forks or joins what is no thread";
  if (other_thread(event) == event.thread)
    return who(event) + (event.op == Op::Fork ? " forks itself" : " joins itself");
  return {};
}

// A thread that is never forked lives from the start, so that it acted too early shows at its fork.
Checker::Fault Checker::fork(const Event& event) {
  if (Fault fault = check_other_thread(event)) return fault;
  const ThreadId child = other_thread(event);
  if (joined_.contains(child)) return namer_.thread(child) + " is forked here but was joined before";
  const auto found = threads_.find(index(child));
  if (found != threads_.end() && found->second.forked) return namer_.thread(child) + " is forked a second time";
  if (ended_.contains(child) || (found != threads_.end() && found->second.acted))
    return namer_.thread(child) + " is forked here but acted before";
  threads_[index(child)].forked = true;
  return {};
}

// A thread may be joined without an end of its own, and while it holds locks; it does nothing afterwards.
Checker::Fault Checker::join(const Event& event) {
  if (Fault fault = check_other_thread(event)) return fault;
  const ThreadId child = other_thread(event);
  if (joined_.contains(child)) return who(event) + " joins " + namer_.thread(child) + ", which was joined before";
  joined_.insert(child);
  threads_.erase(index(child));
  return {};
}

Checker::Fault Checker::begin(const Thread& thread, const Event& event) const {
  if (thread.acted) return who(event) + " begins here but acted before";
  return {};
}

Checker::Fault Checker::wait(Thread& thread, const Event& event) {
  if (thread.waits_on)
    return who(event) + " waits on " + what(event) + " while it waits on " +
           namer_.object(ObjectKind::Condition, *thread.waits_on);
  thread.waits_on = event.target;
  return {};
}

Checker::Fault Checker::wake(Thread& thread, const Event& event) {
  if (thread.waits_on != event.target) return who(event) + " wakes on " + what(event) + " but does not wait on it";
  thread.waits_on.reset();
  return {};
}

Checker::Fault Checker::enter(Thread& thread, const Event& event) {
  if (thread.inside_barrier)
    return who(event) + " enters " + what(event) + " while it is inside " +
           namer_.object(ObjectKind::Barrier, *thread.inside_barrier);
  thread.inside_barrier = event.target;
  return {};
}

Checker::Fault Checker::leave(Thread& thread, const Event& event) {
  if (thread.inside_barrier != event.target) return who(event) + " leaves " + what(event) + " but is not inside it";
  thread.inside_barrier.reset();
  return {};
}

Checker::Fault Checker::missing_end(Thread& thread, const Event& event) {
  if (thread.missing_depth == 0) return who(event) + " comes back from an uninstrumented call that did not begin";
  --thread.missing_depth;
  return {};
}

Checker::Fault Checker::toggle_sampling(const Event& event) {
  const bool on = event.op == Op::SamplingOn;
  if (sampling_ == on) return std::string("sampling is switched ") + (on ? "on twice" : "off twice");
  sampling_ = on;
  return {};
}

std::optional<std::string> Checker::finish() const {
  if (!locks_.empty()) {
    const auto& [id, lock] = *locks_.begin();
    const ThreadId holder = lock.write_depth != 0 ? lock.writer : lock.readers.front().thread;
    return namer_.thread(holder) + " still holds " + namer_.object(ObjectKind::Lock, id) + " at the end";
  }
  for (const auto& [id, thread] : threads_) {
    const std::string name = namer_.thread(static_cast<ThreadId>(id));
    if (thread.waits_on)
      return name + " still waits on " + namer_.object(ObjectKind::Condition, *thread.waits_on) + " at the end";
    if (thread.inside_barrier)
      return name + " is still inside " + namer_.object(ObjectKind::Barrier, *thread.inside_barrier) + " at the end";
    if (thread.missing_depth != 0) return name + " is still in an uninstrumented call at the end";
  }
  return {};
}

}  // namespace pf
