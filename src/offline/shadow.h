// Shadow memory of the offline host, byte-exact and adaptive.
//
// Memory is cut into granules of eight bytes. A granule has one Var as long as every access to it covers the same
// bytes; an access that covers a part of what a Var stands for tears it in two (the states are cloned), so each byte
// always has exactly the history of its own accesses. A block that was allocated or freed keeps one Var for the whole
// block, from which bytes touched later start, so that a use after free meets the free.
#pragma once
#include <algorithm>
#include <map>

#include "offline/id_map.h"

namespace pf {

template <class D, class Env>
class Shadow {
 public:
  using Var = typename D::Var;

  explicit Shadow(Env& env) : env_(env) {}

  // Calls f(var, address) for the Vars that make up the bytes [address, address + size), and for no other byte.
  template <class F>
  [[gnu::always_inline]] void for_each(uint64_t address, uint64_t size, F&& f) {
    if ((address & 7) + size <= 8) [[likely]] {
      touch(address >> 3, static_cast<uint8_t>(0xFFU >> (8 - size) << (address & 7)), f);
      return;
    }
    const uint64_t last = address + size - 1;
    touch(address >> 3, mask(address & 7, 7), f);
    for (uint64_t g = (address >> 3) + 1; g < last >> 3; ++g) touch(g, 0xFF, f);
    touch(last >> 3, mask(0, last & 7), f);
  }

  // Of a detector that samples: whether nothing is kept of any of the bytes. Makes nothing of what is not there.
  bool is_unsampled(uint64_t address, uint64_t size) {
    const uint64_t last = address + std::max<uint64_t>(size, 1) - 1;
    for (uint64_t page = address >> 3 >> kPageBits; page <= last >> 3 >> kPageBits; ++page) {
      if (pages_.find(page) != nullptr) return false;
    }
    for (auto it = first_block(address); it != blocks_.end() && it->first <= last; ++it) {
      if (!D::is_unsampled(it->second.var)) return false;
    }
    return true;
  }

  // A free is a write to every byte: f sees the Vars there are, then the block is one Var made by `freed`.
  template <class F>
  void free_block(uint64_t address, uint64_t size, F&& f, Var freed) {
    for_each_existing(address, size, [&](Piece& p, uint64_t at) { f(p.var, at); });
    for_each_untouched(address, size, f);
    begin_block(address, size, freed);
  }

  // The bytes are as new; each starts from a copy of `initial`.
  void begin_block(uint64_t address, uint64_t size, Var initial) {
    forget(address, size);
    blocks_.emplace(address, Block{address + size - 1, initial});
  }

  // The bytes are as new.
  void forget(uint64_t address, uint64_t size) {
    for_each_existing(address, size, [&](Piece& p, uint64_t) {
      D::clear(p.var, env_);
      p.mask = 0;
    });
    sweep(address, size);
    cut_blocks(address, address + size - 1);
  }

  std::size_t bytes() const { return pages_.bytes(); }

 private:
  struct Piece {
    uint8_t mask = 0;  // the bytes of the granule it stands for; none: vacant
    Piece* next = nullptr;
    Var var{};
  };
  static constexpr unsigned kPageBits = 4;
  static constexpr uint64_t kPageGranules = uint64_t{1} << kPageBits;
  static constexpr uint64_t kNoPage = ~uint64_t{0};
  struct Page {
    Piece granules[kPageGranules];
  };
  struct Block {
    uint64_t last;
    Var var;
  };

  static uint8_t mask(uint64_t first, uint64_t last) {
    return static_cast<uint8_t>((0xFFU << first) & (0xFFU >> (7 - last)));
  }
  static uint64_t address_of(uint64_t granule, uint8_t mask) {
    return granule << 3 | static_cast<uint64_t>(__builtin_ctz(mask));
  }

  // Hot: the granule's only Var is for just these bytes.
  template <class F>
  [[gnu::always_inline]] void touch(uint64_t granule, uint8_t m, F&& f) {
    Piece& head = granule_at(granule);
    if (head.mask == m) [[likely]] {
      f(head.var, address_of(granule, m));
      return;
    }
    touch_slow(head, granule, m, f);
  }

  template <class F>
  [[gnu::noinline]] void touch_slow(Piece& head, uint64_t granule, uint8_t m, F&& f) {
    uint8_t missing = m;
    for (Piece* p = &head; p != nullptr; p = p->next) {
      const auto common = static_cast<uint8_t>(p->mask & m);
      if (common == 0) continue;
      missing = static_cast<uint8_t>(missing & ~common);
      if (common != p->mask) tear(head, *p, common);
      f(p->var, address_of(granule, common));
    }
    while (missing != 0) {
      Piece& p = first_touch(head, granule, missing);
      missing = static_cast<uint8_t>(missing & ~p.mask);
      f(p.var, address_of(granule, p.mask));
    }
  }

  Piece& granule_at(uint64_t granule) {
    const uint64_t page = granule >> kPageBits;
    if (page != last_page_) {
      last_ = &pages_.at(page, env_.arena);
      last_page_ = page;
    }
    return last_->granules[granule & (kPageGranules - 1)];
  }

  // The piece keeps `part`; the rest becomes a piece of its own.
  void tear(Piece& head, Piece& p, uint8_t part) {
    Var rest = D::clone(p.var, env_);
    const auto rest_mask = static_cast<uint8_t>(p.mask & ~part);
    p.mask = part;
    Piece& q = vacant_piece(head);
    q.mask = rest_mask;
    q.var = rest;
  }

  Piece& vacant_piece(Piece& head) {
    if (head.mask == 0) return head;
    for (Piece* p = head.next; p != nullptr; p = p->next) {
      if (p->mask == 0) return *p;
    }
    head.next = new (env_.allocate(sizeof(Piece))) Piece{0, head.next, Var{}};
    return *head.next;
  }

  // A piece for the missing bytes that share the past of the lowest of them: the same block, or none.
  Piece& first_touch(Piece& head, uint64_t granule, uint8_t missing) {
    Piece& p = vacant_piece(head);
    if (blocks_.empty()) {
      p.mask = missing;
      return p;
    }
    auto block = block_of(address_of(granule, missing));
    p.mask = 0;
    uint8_t m = 0;
    for (unsigned i = 0; i < 8; ++i) {
      if ((missing >> i & 1) != 0 && block_of(granule << 3 | i) == block) m = static_cast<uint8_t>(m | 1U << i);
    }
    p.mask = m;
    if (block != blocks_.end()) p.var = D::clone(block->second.var, env_);
    return p;
  }

  using BlockMap = std::map<uint64_t, Block>;
  typename BlockMap::iterator block_of(uint64_t address) {
    auto it = blocks_.upper_bound(address);
    if (it == blocks_.begin()) return blocks_.end();
    --it;
    return it->second.last < address ? blocks_.end() : it;
  }
  typename BlockMap::iterator first_block(uint64_t first) {
    auto it = blocks_.upper_bound(first);
    if (it != blocks_.begin() && std::prev(it)->second.last >= first) --it;
    return it;
  }

  template <class F>
  void for_each_existing(uint64_t address, uint64_t size, F&& f) {
    const uint64_t last = address + size - 1;
    for (const uint64_t page : pages_.ids_in(address >> 3 >> kPageBits, last >> 3 >> kPageBits)) {
      for (uint64_t i = 0; i < kPageGranules; ++i) {
        const uint64_t granule = page << kPageBits | i;
        if (granule < address >> 3 || granule > last >> 3) continue;
        const uint8_t m = mask(granule == address >> 3 ? address & 7 : 0, granule == last >> 3 ? last & 7 : 7);
        Piece& head = granule_at(granule);
        for (Piece* p = &head; p != nullptr; p = p->next) {
          const auto common = static_cast<uint8_t>(p->mask & m);
          if (common == 0) continue;
          if (common != p->mask) tear(head, *p, common);
          f(*p, address_of(granule, common));
        }
      }
    }
  }

  // A block freed before: a second free meets the first.
  template <class F>
  void for_each_untouched(uint64_t address, uint64_t size, F&& f) {
    const uint64_t last = address + size - 1;
    for (auto it = first_block(address); it != blocks_.end() && it->first <= last; ++it) {
      Var copy = D::clone(it->second.var, env_);
      f(copy, std::max(address, it->first));
      D::clear(copy, env_);
    }
  }

  void cut_blocks(uint64_t first, uint64_t last) {
    for (auto it = first_block(first); it != blocks_.end() && it->first <= last;) {
      const uint64_t begin = it->first;
      const Block block = it->second;
      it = blocks_.erase(it);
      if (begin < first) blocks_.emplace(begin, Block{first - 1, D::clone(block.var, env_)});
      if (block.last > last) it = blocks_.emplace(last + 1, Block{block.last, D::clone(block.var, env_)}).first;
      Var gone = block.var;
      D::clear(gone, env_);
    }
  }

  // Pages without a live piece are given back.
  void sweep(uint64_t address, uint64_t size) {
    last_page_ = kNoPage;
    for (const uint64_t id : pages_.ids_in(address >> 3 >> kPageBits, (address + size - 1) >> 3 >> kPageBits)) {
      Page& page = *pages_.find(id);
      const auto vacant = [](const Piece& head) {
        for (const Piece* p = &head; p != nullptr; p = p->next) {
          if (p->mask != 0) return false;
        }
        return true;
      };
      if (!std::all_of(std::begin(page.granules), std::end(page.granules), vacant)) continue;
      for (Piece& head : page.granules) {
        while (head.next != nullptr) {
          Piece* second = head.next;
          head.next = second->next;
          env_.deallocate(second, sizeof(Piece));
        }
      }
      pages_.erase(id, env_.arena);
    }
  }

  Env& env_;
  IdMap<Page> pages_;
  uint64_t last_page_ = kNoPage;
  Page* last_ = nullptr;
  BlockMap blocks_;
};

}  // namespace pf
