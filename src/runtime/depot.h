// Call stacks, each stored once. A stack is a number: a node that has the innermost program counter and the number of
// the stack below it. Nodes are never freed, so a number is good forever and may sit in a shadow cell.
// Held locks and the description of an access are chains of the same kind.
//
// Thread-safe and lock-free: nodes are pushed at the front of their bucket.
#pragma once
#include <cstdint>

namespace pf::rt::depot {

using Id = uint32_t;  // 0 is the empty stack

struct Node {
  uint64_t key;
  Id below;
  Id next_in_bucket;
};

// The number of `below` with `key` on top.
Id push(Id below, uint64_t key);
// The same, when it may be one of the few that came after this one: what is done under one of very many locks has its numbers in a row, and
// is done again in that order.
Id push_after(Id latest, Id below, uint64_t key);
const Node& at(Id id);

}  // namespace pf::rt::depot
