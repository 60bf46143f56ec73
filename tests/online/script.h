// What the test tells the player to do: traces turned into calls. Shared by both; plain data, read as it lies in the file.
//
// A file is a count of batches; a batch a count of traces, and each trace a Cast with its steps. The traces of a batch
// run one after the other in one process: whoever runs the later one was created after all of the earlier ones were
// joined, so nothing of them may be seen again, and no two accesses of a batch share a site.
#pragma once
#include <cstdint>

namespace pf::online {

inline constexpr unsigned kSites = 512;   // per batch: a site is a place in the program's code that runs once
inline constexpr unsigned kThreads = 64;  // per trace
inline constexpr unsigned kLocks = 80;    // of each kind
inline constexpr unsigned kFirstPrivateLock = 16;
inline constexpr unsigned kObjects = 16;  // conditions, barriers, semaphores
inline constexpr unsigned kArenaBytes = 1U << 14;

enum class LockKind : uint8_t { Mutex, Recursive, ErrorCheck, ReadWrite, Spin };
inline constexpr unsigned kLockKinds = 5;

enum class Act : uint8_t {
  Nothing,  // part of another step, or nothing to be done
  Access,   // at a site: `variant` is the Arm
  Allocate,
  Lock,
  Unlock,
  ReadLock,
  Create,
  End,
  Join,
  Wait,
  Notify,
  Barrier,
  Post,
  Take,
  Fence,
  Sample  // from here on everything, or nothing: `variant`
};

// The ways to make an access. Those with an order come in as many as there are memory orders.
enum class Arm : uint8_t {
  Read1,
  Read2,
  Read4,
  Read8,
  Read16,
  ReadUnaligned2,
  ReadUnaligned4,
  ReadUnaligned8,
  ReadUnaligned16,
  ReadByCall,  // of any size
  Write1,
  Write2,
  Write4,
  Write8,
  Write16,
  WriteUnaligned2,
  WriteUnaligned4,
  WriteUnaligned8,
  WriteUnaligned16,
  WriteByCall,
  Free,
  Delete,
  Shrink,  // realloc to nothing
  Move,    // realloc: the block goes to another place of the arena, `lock`
  Load,
  FailedExchange = Load + 6,
  Store = FailedExchange + 6,
  Swap = Store + 6,
  Add = Swap + 6,
  CompareExchange = Add + 6,
  OtherSizes = CompareExchange + 6,  // from here on the same, of 1, 2, 4 or 16 bytes
  End = OtherSizes + 6 * 6
};

// One event of the trace; its turn is its index.
struct Step {
  uint32_t thread;
  uint32_t object;  // the offset in the arena, the number of the lock, the other thread, ...
  uint32_t lock;    // of a wait: the mutex; of a realloc: the new offset
  uint32_t size;
  uint32_t site;
  // A call may span several turns: those of other threads lie between `entered` and `leave`, and it ends with `last`.
  uint32_t entered, leave, last;
  Act act;
  uint8_t variant;  // which of the functions that do the same
  uint8_t order;    // of a fence
  uint8_t unused;
};

struct Cast {
  uint32_t threads, steps;
  uint64_t from_start;  // the threads that nobody creates
  uint64_t left_over;   // the threads that nobody joins
  uint64_t detached;    // those of them that are detached: by the Detach of their number
  uint64_t exits;       // the threads that end by pthread_exit,
  uint64_t cancelled;   // and those that whoever joins them has to cancel
};

enum class Detach : uint8_t { Created, ByCreator, ByItself };
inline constexpr unsigned kDetaches = 3;

constexpr uint32_t lock_number(LockKind kind, unsigned index) { return static_cast<unsigned>(kind) * kLocks + index; }

// What the player tells the test: where things are.
struct Places {
  uint64_t arena;
  uint64_t sites[kSites + 1];  // where each begins, and the last one ends
  uint64_t locks[kLockKinds * kLocks];
};

// For each batch, in order.
struct Ending {
  int32_t pid, status;
};

}  // namespace pf::online
