// What the offline host keeps its state in: the arena, and the map from ids to objects that stay where they are.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "offline/id_map.h"

namespace pf {
namespace {

// Pieces do not overlap, are aligned, and keep what is in them.
RC_GTEST_PROP(Arena, gives_memory_that_nobody_else_has, ()) {
  const auto size =
      rc::gen::oneOf(rc::gen::inRange<std::size_t>(1, 200), rc::gen::element<std::size_t>(16383, 16384, 100000));
  const auto sizes = *rc::gen::container<std::vector<std::size_t>>(size);
  struct Piece {
    unsigned char* at;
    std::size_t size;
    unsigned char fill;
  };
  Arena arena;
  std::vector<Piece> pieces;
  std::size_t live = 0;
  const auto take_back = [&](std::size_t i) {
    const Piece p = pieces[i];
    for (std::size_t k = 0; k < p.size; ++k) RC_ASSERT(p.at[k] == p.fill);
    arena.deallocate(p.at, p.size);
    live -= (p.size + 15) / 16 * 16;
    pieces.erase(pieces.begin() + static_cast<ptrdiff_t>(i));
  };
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    auto* at = static_cast<unsigned char*>(arena.allocate(sizes[i]));
    RC_ASSERT(reinterpret_cast<uintptr_t>(at) % 16 == 0U);
    const auto fill = static_cast<unsigned char>(i + 1);
    std::memset(at, fill, sizes[i]);
    pieces.push_back({at, sizes[i], fill});
    live += (sizes[i] + 15) / 16 * 16;
    RC_ASSERT(arena.live_bytes() == live);
    if (sizes[i] % 3 == 0) take_back(i % pieces.size());
  }
  while (!pieces.empty()) take_back(pieces.size() / 2);
  RC_ASSERT(arena.live_bytes() == 0U);
}

TEST(Arena, uses_memory_again) {
  Arena arena;
  void* small = arena.allocate(40);
  arena.deallocate(small, 40);
  EXPECT_EQ(arena.allocate(48), small) << "the same class of sizes";
  EXPECT_NE(arena.allocate(48), small);
}

// Ids that share a home in tables of 64 and more entries, so that erasing must move others.
rc::Gen<uint64_t> crowded_id() {
  return rc::gen::oneOf(rc::gen::inRange<uint64_t>(0, 40), rc::gen::arbitrary<uint64_t>(),
                        rc::gen::map(rc::gen::inRange<uint64_t>(0, 20), [](uint64_t n) { return n << 58; }));
}

RC_GTEST_PROP(IdMap, is_a_map_whose_objects_stay, ()) {
  using Choice = std::tuple<int, uint64_t, uint64_t>;
  const auto choices =
      *rc::gen::scale(4, rc::gen::container<std::vector<Choice>>(rc::gen::tuple(
                             rc::gen::weightedElement<int>({{5, 0}, {3, 1}, {1, 2}}), crowded_id(), crowded_id())));
  struct Object {
    uint64_t value = 0;
  };
  Arena arena;
  IdMap<Object> map;
  std::map<uint64_t, std::pair<Object*, uint64_t>> model;
  uint64_t next = 1;
  for (const auto& [step, id, other] : choices) {
    if (step == 0) {
      Object& object = map.at(id, arena);
      const auto [it, fresh] = model.try_emplace(id, &object, 0);
      RC_ASSERT(it->second.first == &object);
      RC_ASSERT(object.value == it->second.second);
      object.value = it->second.second = next++;
    } else if (step == 1 && model.contains(id)) {
      map.erase(id, arena);
      model.erase(id);
    } else {
      const auto [first, last] = std::minmax(id, other);
      std::vector<uint64_t> found = map.ids_in(first, last), expected;
      std::ranges::sort(found);
      for (auto it = model.lower_bound(first); it != model.end() && it->first <= last; ++it)
        expected.push_back(it->first);
      RC_ASSERT(found == expected);
    }
    RC_ASSERT(map.size() == model.size());
    for (const auto& [known, object] : model) {
      RC_ASSERT(map.find(known) == object.first);
      RC_ASSERT(object.first->value == object.second);
    }
    RC_ASSERT((map.find(other) != nullptr) == model.contains(other));
  }
  while (!model.empty()) {
    map.erase(model.begin()->first, arena);
    model.erase(model.begin());
  }
  RC_ASSERT(arena.live_bytes() == 0U);
}

}  // namespace
}  // namespace pf
