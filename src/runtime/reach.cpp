#include "runtime/reach.h"

#include "core/hash.h"
#include "runtime/boundary.h"
#include "runtime/globals.h"
#include "runtime/heap.h"
#include "runtime/options.h"
#include "runtime/registry.h"

namespace pf::rt::reach {
namespace {

enum class Kind : uint8_t { Nothing, Block, Freed, Readable, Opaque, State };

struct Place {
  Kind kind;
  Piece piece;                    // of a freed block, too
  const boundary::Module* state;  // State: of this library and those it needs
};

constexpr Place kNowhere = {Kind::Nothing, {}, nullptr};

// What a piece pointed to when its content had this hash.
struct Known {
  Piece piece;
  uint64_t content;
  uint32_t count, capacity;
  Place* places;
};

constexpr uint32_t kMaxPieces = 1U << 16, kKnown = 1U << 12;
constexpr uintptr_t kMaxBytes = uintptr_t{64} << 20;

}  // namespace

class Explorer {
 public:
  uint32_t count, looked_through;
  uintptr_t bytes;
  uintptr_t stack_pointer;
  uint32_t round;
  bool is_cut;
  Piece pieces[kMaxPieces];
  bool readable[kMaxPieces];
  struct Seen {
    uint32_t round, index;
  };
  Seen seen[2 * kMaxPieces];
  Known known[kKnown];
};

namespace {

// Those that the program has asked for, guarded by the lock. More than these are not known.
constexpr uint32_t kMaxMappings = 4096;
constinit SpinLock g_lock;
constinit Piece g_mappings[kMaxMappings] = {};
constinit uint32_t g_mapping_count = 0;

// --- from a word to a place ---

// Frames are told apart by where the stack pointer was when their function announced itself.
uintptr_t stack_pointer(const Thread& t, const Frame* f) {
  const uintptr_t high = t.info->stack_end & ~uintptr_t{0xFFFFFFFF};
  const uintptr_t p = high | (f->stack_pointer & ~Frame::kNotSampled);
  return p >= t.info->stack_end ? p - (uintptr_t{1} << 32) : p;
}

// Of another thread, too: frames that are deeper may come and go meanwhile, those of memory that is alive do not.
Place place_on_stack(const Thread& t, uintptr_t address) {
  const Frame* const bottom = t.bottom;
  const Frame* f = __atomic_load_n(&t.top, __ATOMIC_RELAXED);
  uintptr_t end = t.info->stack_end;
  if (t.info->tls_begin > address && t.info->tls_begin < end) end = t.info->tls_begin;
  while (f != bottom && stack_pointer(t, f - 1) <= address) --f;  // f[-1] is the first frame that lies beyond it
  if (f != bottom) end = stack_pointer(t, f - 1);
  const uintptr_t begin = f == t.top ? address & ~(kPage - 1) : stack_pointer(t, f);
  const bool is_sound = begin <= address && address < end && end <= t.info->stack_end;
  if (!is_sound) return {Kind::Opaque, {address & ~(kPage - 1), (address & ~(kPage - 1)) + kPage}, nullptr};
  return {Kind::Readable, {begin, end}, nullptr};
}

struct Asked {
  uintptr_t address;
  Place place;
};
void look_in_thread(Thread& t, void* argument) {
  auto& asked = *static_cast<Asked*>(argument);
  const ThreadInfo& i = *t.info;
  if (asked.address >= i.tls_begin && asked.address < i.tls_end) {
    asked.place = {Kind::Opaque, {i.tls_begin, i.tls_end}, nullptr};
  } else if (asked.place.kind == Kind::Nothing && asked.address >= i.stack_begin && asked.address < i.stack_end) {
    asked.place = place_on_stack(t, asked.address);
    asked.place.kind = Kind::Opaque;  // it may end before we have read it
  }
}

Place place_in_module(const boundary::Module& m, uintptr_t address) {
  if (m.kind == boundary::Kind::Known) return kNowhere;
  if (m.kind == boundary::Kind::Stateful && g_options.libraries == Libraries::ByState)
    return {Kind::State, {m.data_begin, m.data_end}, &m};
  if (address < m.data_begin || address >= m.data_end) return kNowhere;
  globals::Global g{};
  if (!globals::find(address & ~uintptr_t{7}, g) || g.is_nothing) return kNowhere;
  if (!g.has_symbol) return {Kind::Opaque, {m.data_begin, m.data_end}, nullptr};
  return {Kind::Readable, {g.start, g.start + g.size}, nullptr};
}

Place place_in_mapping(uintptr_t address) {
  const Guard guard(g_lock);
  for (uint32_t i = 0; i < g_mapping_count; ++i) {
    const Piece& p = g_mappings[i];
    if (address >= p.begin && address < p.end) return {Kind::Opaque, p, nullptr};
  }
  return kNowhere;
}

Place place_of(Thread& t, uintptr_t word, uintptr_t stack_pointer) {
  constexpr uintptr_t kFirst = 4096;
  if (word < kFirst || word > kAddressMask) return kNowhere;
  if (const boundary::Module* m = boundary::module_at(word); m != nullptr) return place_in_module(*m, word);
  if (word >= t.info->stack_begin && word < t.info->stack_end && !(word >= t.info->tls_begin && word < t.info->tls_end))
    return word >= stack_pointer ? place_on_stack(t, word) : kNowhere;
  Block b{};
  if (existing_chunk(word) != nullptr && heap::find(word, b, heap::kSmall))
    return {b.freed ? Kind::Freed : Kind::Block, {b.address, b.address + b.size}, nullptr};
  Asked asked{word, kNowhere};
  registry::for_each(&look_in_thread, &asked);
  return asked.place.kind != Kind::Nothing ? asked.place : place_in_mapping(word);
}

// --- pieces found so far ---

void add(Explorer& e, const Piece& piece, bool readable) {
  constexpr uint32_t kMask = 2 * kMaxPieces - 1;
  auto i = static_cast<uint32_t>(hash_with(0, piece.begin));
  for (; e.seen[i & kMask].round == e.round; ++i) {
    Piece& known = e.pieces[e.seen[i & kMask].index];
    if (known.begin != piece.begin) continue;
    known.end = piece.end > known.end ? piece.end : known.end;
    return;
  }
  e.is_cut |= e.count == kMaxPieces;
  if (e.is_cut) return;
  e.seen[i & kMask] = {e.round, e.count};
  e.pieces[e.count] = piece;
  e.readable[e.count++] = readable;
}

void add_place(Explorer& e, const Place& p) {
  switch (p.kind) {
    case Kind::Nothing:
    case Kind::Freed: return;
    case Kind::State:
      for (uint32_t i = 0; i < p.state->reached_count; ++i)
        add(e, {p.state->reached[i]->data_begin, p.state->reached[i]->data_end}, false);
      return;
    case Kind::Block:
    case Kind::Readable: return add(e, p.piece, true);
    case Kind::Opaque: return add(e, p.piece, false);
  }
}

// --- what a piece points to ---

template <class F>
void for_each_word(const Piece& piece, F f) {
  for (uintptr_t at = (piece.begin + 7) & ~uintptr_t{7}; at + 8 <= piece.end; at += 8)
    f(__atomic_load_n(reinterpret_cast<const uintptr_t*>(at), __ATOMIC_RELAXED));
}

uint64_t content_of(const Piece& piece) {
  uint64_t hash = 0;
  for_each_word(piece, [&](uintptr_t word) { hash = (hash ^ word) * 0x9E3779B97F4A7C15U + (hash >> 29); });
  return hash;
}

void remember(Known& known, Arena& arena, const Place& place) {
  constexpr uint32_t kLately = 8;  // more than these would take longer than to have it twice
  for (uint32_t i = known.count < kLately ? 0 : known.count - kLately; i < known.count; ++i) {
    if (known.places[i].piece.begin == place.piece.begin) return;
  }
  if (known.count == known.capacity) {
    const uint32_t capacity = known.capacity == 0 ? 8 : known.capacity * 2;
    auto* bigger = static_cast<Place*>(arena.allocate(capacity * sizeof(Place)));
    for (uint32_t i = 0; i < known.count; ++i) bigger[i] = known.places[i];
    if (known.places != nullptr) arena.deallocate(known.places, known.capacity * sizeof(Place));
    known.places = bigger;
    known.capacity = capacity;
  }
  known.places[known.count++] = place;
}

// Blocks are where they were, alive or freed as may be; else the words have to be looked up again.
bool is_still_true(Known& known) {
  for (uint32_t i = 0; i < known.count; ++i) {
    Place& p = known.places[i];
    if (p.kind != Kind::Block && p.kind != Kind::Freed) continue;
    const Line line(p.piece.begin);
    const auto* b = line.find<Block>(p.piece.begin);
    if (b == nullptr || b->size != p.piece.end - p.piece.begin) return false;
    p.kind = b->freed ? Kind::Freed : Kind::Block;
  }
  return true;
}

void look_through(Explorer& e, Thread& t, const Piece& piece) {
  // A frame is another one at each call.
  const bool is_frame = piece.begin >= t.info->stack_begin && piece.begin < t.info->stack_end;
  if (!g_options.reach_cache || is_frame) {
    return for_each_word(piece, [&](uintptr_t word) { add_place(e, place_of(t, word, e.stack_pointer)); });
  }
  Known& known = e.known[hash_with(0, piece.begin) & (kKnown - 1)];
  const uint64_t content = content_of(piece);
  const bool is_same = known.piece.begin == piece.begin && known.piece.end == piece.end && known.content == content;
  if (!is_same || !is_still_true(known)) {
    known.piece = piece;
    known.content = content;
    known.count = 0;
    for_each_word(piece, [&](uintptr_t word) {
      if (const Place p = place_of(t, word, e.stack_pointer); p.kind != Kind::Nothing) remember(known, *t.arena, p);
    });
  }
  for (uint32_t i = 0; i < known.count; ++i) add_place(e, known.places[i]);
}

}  // namespace

Explorer* new_explorer() { return static_cast<Explorer*>(map_or_die(sizeof(Explorer), "calls of libraries")); }

void begin(Explorer& e, uintptr_t stack_pointer) {
  e.stack_pointer = stack_pointer;
  e.count = e.looked_through = 0;
  e.bytes = 0;
  e.is_cut = false;
  ++e.round;
}
void add_pointer(Explorer& e, Thread& t, uintptr_t word) { add_place(e, place_of(t, word, e.stack_pointer)); }
void add_heap_pointer(Explorer& e, Thread& t, uintptr_t word) {
  if (const Place p = place_of(t, word, e.stack_pointer); p.kind == Kind::Block) add_place(e, p);
}
void add_memory(Explorer& e, const Piece& piece) { add(e, piece, false); }

bool follow(Explorer& e, Thread& t) {
  for (; e.looked_through < e.count && !e.is_cut; ++e.looked_through) {
    const Piece piece = e.pieces[e.looked_through];
    if (!e.readable[e.looked_through]) continue;
    e.bytes += piece.end - piece.begin;
    e.is_cut |= e.bytes > kMaxBytes;
    if (!e.is_cut) look_through(e, t, piece);
  }
  return !e.is_cut;
}

const Piece* pieces(const Explorer& e) { return e.pieces; }
uint32_t count(const Explorer& e) { return e.count; }

void mapped(uintptr_t begin, uintptr_t size) {
  const Guard guard(g_lock);
  if (g_mapping_count < kMaxMappings) g_mappings[g_mapping_count++] = {begin, begin + size};
}
// All that it meets: a part that is left is not known any more.
void unmapped(uintptr_t begin, uintptr_t size) {
  const Guard guard(g_lock);
  for (uint32_t i = 0; i < g_mapping_count;) {
    const Piece& p = g_mappings[i];
    if (p.begin < begin + size && begin < p.end) {
      g_mappings[i] = g_mappings[--g_mapping_count];
    } else {
      ++i;
    }
  }
}

bool piece_at(Thread& t, uintptr_t address, Piece& piece) {
  const Place p = place_of(t, address, 0);
  piece = p.piece;
  return p.kind != Kind::Nothing && p.kind != Kind::Freed;
}

}  // namespace pf::rt::reach
