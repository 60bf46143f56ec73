// Mappings. A new one begins a new life of its bytes. Unmapping is a write to all of them, as freeing is: whoever uses them
// unordered with it races. What nobody ever touched costs nothing, however large it is.
//
// The history ends before the real call gives the addresses away: after it they may be somebody else's at once.
#include <stdarg.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include "runtime/intercept/intercept.h"

using namespace pf::rt;

namespace {

using std::size_t;

PF_REAL(mmap);
PF_REAL(mmap64);
PF_REAL(munmap);
constinit Real<void* (*)(void*, size_t, size_t, int, void*)> real_mremap{"mremap"};
PF_REAL(shmat);
PF_REAL(sbrk);

uintptr_t whole_pages(size_t size) { return (size + 4095) / 4096 * 4096; }

void began(Thread& t, uintptr_t begin, uintptr_t size) {
  host::begin_block(t, begin, size);
  if (library::is_used()) reach::mapped(begin, size);
}

void* mapped(void* p, size_t size) {
  Thread* t = caller_thread();
  if (t != nullptr && p != MAP_FAILED) began(*t, address_of(p), whole_pages(size));
  return p;
}

void unmapping(uintptr_t address, size_t size, uintptr_t pc) {
  Thread* t = caller_thread();
  // What the real one will refuse has no end here either: no address of a program has its highest bits set.
  constexpr uintptr_t kAddresses = uintptr_t{1} << 47;
  if (t == nullptr || address % 4096 != 0 || size > kAddresses || address + size > kAddresses) return;
  host::drop_block(*t, address, whole_pages(size), pc);
  if (library::is_used()) reach::unmapped(address, whole_pages(size));
}

}  // namespace

PF_EXPORT void* mmap(void* at, size_t size, int protection, int flags, int fd, off_t offset) noexcept {
  return mapped(real_mmap(at, size, protection, flags, fd, offset), size);
}
PF_EXPORT void* mmap64(void* at, size_t size, int protection, int flags, int fd, off64_t offset) noexcept {
  return mapped(real_mmap64(at, size, protection, flags, fd, offset), size);
}

PF_EXPORT int munmap(void* p, size_t size) noexcept {
  unmapping(address_of(p), size, PF_CALLER_PC);
  return real_munmap(p, size);
}

// Moving is unmapping here and mapping there. Growing in place ends nothing: the fifth argument and the answer tell.
PF_INTERCEPT(void*, mremap, (void* p, size_t size, size_t new_size, int flags, ...)) {
  va_list rest;
  va_start(rest, flags);
  void* to = va_arg(rest, void*);
  va_end(rest);
  const uintptr_t old = address_of(p), before = whole_pages(size), after = whole_pages(new_size);
  const bool may_move = (flags & MREMAP_FIXED) != 0 || (after > before && (flags & MREMAP_MAYMOVE) != 0);
  Thread* t = caller_thread();
  if (t != nullptr && before != 0) {
    if (may_move) {
      host::end_block(*t, old, before, PF_CALLER_PC);
      if (library::is_used()) reach::unmapped(old, before);
    } else if (after < before && after != 0) {
      unmapping(old + after, before - after, PF_CALLER_PC);
    }
  }
  void* fresh = real_mremap(p, size, new_size, flags, to);
  if (t == nullptr || fresh == MAP_FAILED) return fresh;
  if (fresh != p) {
    began(*t, address_of(fresh), after);
  } else if (after > before) {
    began(*t, old + before, after - before);
  }
  return fresh;
}

// Its size only the kernel knows. Detaching is not seen: the bytes are other processes' too.
PF_EXPORT void* shmat(int id, const void* at, int flags) noexcept {
  void* p = real_shmat(id, at, flags);
  if (caller_thread() == nullptr || p == MAP_FAILED) return p;
  shmid_ds segment{};
  if (sys::failed(sys::call(SYS_shmctl, id, IPC_STAT, reinterpret_cast<long>(&segment)))) return p;
  return mapped(p, segment.shm_segsz);
}

PF_EXPORT void* sbrk(intptr_t change) noexcept {
  Thread* t = caller_thread();
  if (t != nullptr && change < 0) {
    const auto size = static_cast<uintptr_t>(-change);
    host::drop_block(*t, address_of(real_sbrk(0)) - size, size, PF_CALLER_PC);
  }
  void* before = real_sbrk(change);
  if (t != nullptr && change > 0 && before != MAP_FAILED) {
    host::begin_block(*t, address_of(before), static_cast<uintptr_t>(change));
  }
  return before;
}
