// Memory in pieces, as an iovec has it.
#pragma once
#include <sys/uio.h>

#include "runtime/intercept/intercept.h"

namespace pf::rt {

// The pieces are read by the program, and of what they point at the first `bytes` are read or written.
inline void note_pieces(Thread& t, const iovec* v, int count, std::size_t bytes, bool write, uintptr_t pc) {
  if (count <= 0) return;
  note_read(t, v, static_cast<std::size_t>(count) * sizeof *v, pc);
  for (int i = 0; i < count && bytes != 0; ++i) {
    const std::size_t n = v[i].iov_len < bytes ? v[i].iov_len : bytes;
    if (n != 0) host::access(t, address_of(v[i].iov_base), n, write, pc);
    bytes -= n;
  }
}

}  // namespace pf::rt
