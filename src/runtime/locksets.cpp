#include "runtime/locksets.h"

#include "runtime/spin.h"

namespace pf::rt::locksets {

constinit Table g_table;

namespace {

constinit Env g_env;
constinit SpinLock g_lock;

}  // namespace

LocksetId with(LocksetId set, HeldLock l) {
  const Guard guard(g_lock);
  return g_table.with(set, l, g_env);
}
LocksetId without(LocksetId set, HeldLock l) {
  const Guard guard(g_lock);
  return g_table.without(set, l, g_env);
}
LocksetId common(LocksetId a, LocksetId b, bool writes) {
  const Guard guard(g_lock);
  return g_table.common(a, b, writes, g_env);
}

}  // namespace pf::rt::locksets
