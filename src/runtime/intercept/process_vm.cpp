// Another process's memory, or the program's own, by way of the kernel: both sides as far as they are here.
#include <sys/uio.h>

#include "runtime/intercept/intercept.h"
#include "runtime/intercept/pieces.h"

using namespace pf::rt;

PF_REAL(process_vm_readv);
PF_REAL(process_vm_writev);

namespace {

struct Side {
  const iovec* pieces;
  unsigned long count;
};

// What was moved is known only afterwards: the call orders nothing, so nobody is told too late.
ssize_t moved(ssize_t bytes, pid_t process, Side from, Side to, bool from_is_here, uintptr_t pc) {
  Thread* t = bytes > 0 ? calling_thread() : nullptr;
  if (t == nullptr) return bytes;
  const bool both = process == sys::process_id();
  const auto n = static_cast<std::size_t>(bytes);
  if (both || from_is_here) note_pieces(*t, from.pieces, static_cast<int>(from.count), n, false, pc);
  if (both || !from_is_here) note_pieces(*t, to.pieces, static_cast<int>(to.count), n, true, pc);
  return bytes;
}

}  // namespace

PF_EXPORT ssize_t process_vm_readv(pid_t process, const iovec* here, unsigned long here_count, const iovec* there,
                                   unsigned long there_count, unsigned long flags) noexcept {
  const ssize_t n = real_process_vm_readv(process, here, here_count, there, there_count, flags);
  return moved(n, process, {there, there_count}, {here, here_count}, false, PF_CALLER_PC);
}
PF_EXPORT ssize_t process_vm_writev(pid_t process, const iovec* here, unsigned long here_count, const iovec* there,
                                    unsigned long there_count, unsigned long flags) noexcept {
  const ssize_t n = real_process_vm_writev(process, here, here_count, there, there_count, flags);
  return moved(n, process, {here, here_count}, {there, there_count}, true, PF_CALLER_PC);
}
