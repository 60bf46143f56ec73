#include "runtime/tree.h"

namespace pf::rt::tree {
namespace {

// One word of the shared table: most of a hash, the first thread that saw it (as far as it fits), and whether another did.
constexpr unsigned kThreadBits = 16;
constexpr uint64_t kAnother = 1, kThread = ((uint64_t{1} << kThreadBits) - 1) << 1, kHash = ~(kThread | kAnother);
constexpr unsigned kPlaces = 4;  // of a set, the latest first

constinit uint64_t* g_shared = nullptr;
constinit uint64_t g_shared_words = 0;  // a power of two
constinit uint64_t g_table_bytes = 0;

uint64_t mix(uint64_t a, uint64_t b) {
  const uint64_t x = (a ^ b * 0x9E3779B97F4A7C15U) * 0xD6E8FEB86659FD93U;
  return x ^ x >> 32;
}

// Half of the memory. The first thread is made while there is no other.
void share_table() {
  g_shared_words = kPlaces;
  while (g_shared_words * 2 * sizeof(uint64_t) <= g_options.tree_memory / 2) g_shared_words *= 2;
  g_shared = static_cast<uint64_t*>(map_or_die(g_shared_words * sizeof(uint64_t), "the tree filter"));
}

// As large as the memory that is left allows, but some: threads are few, or small beside the rest of what they have.
Table* new_table() {
  if (g_options.tree_two_threads && g_shared == nullptr) share_table();
  const uint64_t left = g_options.tree_memory - (g_options.tree_two_threads ? g_options.tree_memory / 2 : 0);
  Table size{};
  size.sets = kMaxSets;
  while (size.sets > 32 && __atomic_load_n(&g_table_bytes, __ATOMIC_RELAXED) + size.bytes() > left) size.sets /= 2;
  __atomic_fetch_add(&g_table_bytes, size.bytes(), __ATOMIC_RELAXED);
  auto* table = static_cast<Table*>(map_or_die(size.bytes(), "the tree filter"));
  table->sets = size.sets;
  return table;
}

}  // namespace

constinit uint32_t g_lives[kPages] = {};

uint64_t table_bytes() { return __atomic_load_n(&g_table_bytes, __ATOMIC_RELAXED) + g_shared_words * sizeof(uint64_t); }

Table* table_for(uint32_t thread, Table* left) {
  if (!g_options.tree) return nullptr;
  Table* table = left != nullptr ? left : new_table();
  // Nothing is known in a history that has not been; but threads that are compared all begin with the same.
  const uint64_t history = g_options.tree_two_threads ? 1 : table->history + 1;
  if (g_options.tree_two_threads) std::memset(static_cast<void*>(table->at()), 0, table->sets * sizeof(Known[2]));
  const uint32_t sets = table->sets;
  *table = {};
  table->history = history;
  table->thread = thread;
  table->sets = sets;
  return table;
}

void new_life(uintptr_t address, uintptr_t size) {
  const uintptr_t first = address >> 12, last = (address + size - 1) >> 12;
  if (last - first >= kPages) {
    for (uint32_t& life : g_lives) __atomic_fetch_add(&life, 1, __ATOMIC_RELEASE);
    return;
  }
  for (uintptr_t page = first; page <= last; ++page) __atomic_fetch_add(&life_of(page << 12), 1, __ATOMIC_RELEASE);
}

void note_hashed(Table& table, Message what, uint64_t& message) {
  if (what == Message::Sent) {
    note_own(table);
    message = table.history;
  } else if (message != 0) {
    table.history = mix(table.history, message);
  }
}
void note_own(Table& table) {
  table.history = g_options.tree_two_threads ? mix(uint64_t{table.thread} << 40, ++table.sent) : table.history + 1;
}
void note_release(Table& table) {
  table.history = g_options.tree_two_threads ? mix(table.history, 0) : table.history + 1;
}

void end_round(Table& table) {
  const bool paid = table.hits >= kWorthwhile;
  table.rest = paid ? 0 : kRest << (table.vain < kMostDoublings ? table.vain : kMostDoublings);
  table.vain = paid ? 0 : table.vain + 1;
  table.looked = table.hits = 0;
}

// Places move without a lock: a word may be lost by that, or be there twice, which lets an access pass. None says what is not true.
bool seen_by_two(uint32_t thread, uint64_t hash) {
  const uint64_t hashed = (mix(hash, 1) | uint64_t{1} << 63) & kHash, me = uint64_t{thread} << 1 & kThread;
  uint64_t* const set = g_shared + (hash >> 20 & (g_shared_words / kPlaces - 1)) * kPlaces;
  const auto at = [set](unsigned i) { return __atomic_load_n(&set[i], __ATOMIC_RELAXED); };
  const auto put = [set](unsigned i, uint64_t word) { __atomic_store_n(&set[i], word, __ATOMIC_RELAXED); };
  unsigned i = 0;
  uint64_t word = at(0);
  while ((word & kHash) != hashed && ++i < kPlaces) word = at(i);
  const bool found = i < kPlaces, by_two = found && (word & kAnother) != 0;
  if (!found) {
    word = hashed | me;
  } else if ((word & kThread) != me) {
    word |= kAnother;
  }
  for (i = found ? i : kPlaces - 1; i > 0; --i) put(i, at(i - 1));
  put(0, word);
  return by_two;
}

}  // namespace pf::rt::tree
