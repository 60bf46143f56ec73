#include "predict/model.h"

#include <algorithm>
#include <ranges>

namespace pf::predict {

Model::Model(const Window& window, const Cells& cells) : window_(window), cells_(cells) {
  find_threads();
  find_sections();
  find_lives();
}

void Model::find_threads() {
  for (Index i = 0; i < size(); ++i) {
    const auto [entry, is_new] = numbers_.try_emplace(event(i).thread, threads());
    if (is_new) by_thread_.emplace_back();
    thread_.push_back(entry->second);
    position_.push_back(static_cast<uint32_t>(by_thread_[entry->second].size()));
    by_thread_[entry->second].push_back(i);
  }
  has_missing_calls_ = !window_.missing.empty();
  forks_.assign(threads(), kNone);
  for (Index i = 0; i < size(); ++i) {
    has_missing_calls_ |= event(i).op == Op::MissingBegin;
    if (event(i).op != Op::Fork) continue;
    const Thread child = find(static_cast<ThreadId>(event(i).target));
    if (child != kNoThread) forks_[child] = i;
  }
}

Thread Model::find(ThreadId id) const {
  const auto found = numbers_.find(id);
  return found == numbers_.end() ? kNoThread : found->second;
}

// --- locks ---

void Model::find_sections() {
  using Depths = std::map<uint64_t, std::pair<uint32_t, uint32_t>>;  // by lock: writes, reads
  std::vector<Depths> held(threads());
  lockset_.resize(size());
  const auto open = [](std::vector<Section>& sections, Thread t, uint64_t lock, Index i) {
    sections.push_back({t, lock, i, kNone});
  };
  const auto close = [](std::vector<Section>& sections, Thread t, Index i) {
    const auto it =
        std::ranges::find_if(sections | std::views::reverse, [&](const Section& s) { return s.thread == t; });
    if (it != sections.rend()) it->end = i;
  };
  for (const Window::Held& h : window_.held) {
    const Thread known = find(h.thread);
    if (known != kNoThread) held[known][h.lock] = {h.writes, h.reads};
    // A holder that does nothing in the window keeps the lock from everyone.
    if (h.writes > 0) open(locks_[h.lock].writing, known, h.lock, kNone);
    open(locks_[h.lock].holding, known, h.lock, kNone);
  }
  for (Index i = 0; i < size(); ++i) {
    const Event& e = event(i);
    const Thread t = thread(i);
    if (may_race(e.op)) lockset_[i] = lockset_number(held[t]);
    if (e.op < Op::Acquire || e.op > Op::ReadRelease) continue;
    const bool writes = e.op == Op::Acquire || e.op == Op::Release;
    auto& [write_depth, read_depth] = held[t][e.target];
    uint32_t& depth = writes ? write_depth : read_depth;
    const bool was_held = write_depth + read_depth > 0, was_written = write_depth > 0;
    if (e.op == Op::Acquire || e.op == Op::ReadAcquire) {
      ++depth;
    } else if (depth > 0) {
      --depth;
    }
    LockUse& use = locks_[e.target];
    if (!was_held && write_depth + read_depth > 0) open(use.holding, t, e.target, i);
    if (!was_written && write_depth > 0) open(use.writing, t, e.target, i);
    if (was_held && write_depth + read_depth == 0) close(use.holding, t, i);
    if (was_written && write_depth == 0) close(use.writing, t, i);
    if (write_depth + read_depth == 0) held[t].erase(e.target);
  }
}

uint32_t Model::lockset_number(const std::map<uint64_t, std::pair<uint32_t, uint32_t>>& held) {
  Lockset set;
  for (const auto& [lock, depth] : held) set.emplace_back(lock, depth.first > 0);
  const auto [entry, is_new] = lockset_numbers_.try_emplace(set, static_cast<uint32_t>(locksets_.size()));
  if (is_new) locksets_.push_back(std::move(set));
  return entry->second;
}

bool Model::exclude_each_other(Index a, Index b) const {
  const Lockset &x = locksets_[lockset_[a]], &y = locksets_[lockset_[b]];
  for (auto i = x.begin(), j = y.begin(); i != x.end() && j != y.end();) {
    if (i->first == j->first && (i->second || j->second)) return true;
    i->first < j->first ? ++i : ++j;
  }
  return false;
}

std::vector<Window::Held> Model::held(Index i) const {
  std::vector<Window::Held> held;
  for (const auto& [lock, writes] : locksets_[lockset_[i]])
    held.push_back({event(i).thread, lock, writes ? 1U : 0U, writes ? 0U : 1U});
  return held;
}

// --- conflicts ---

void Model::find_lives() {
  std::vector<uint32_t> life(cells_.count());
  lives_.resize(size());
  for (Index i = 0; i < size(); ++i) {
    const Op op = event(i).op;
    for (Cell cell = cells_.of(i).begin; cell < cells_.of(i).end; ++cell) {
      if (may_race(op)) lives_[i].push_back(life[cell]);
      if (op == Op::Alloc || op == Op::Free) ++life[cell];
    }
  }
}

bool Model::conflict(Index a, Index b) const {
  const Event &x = event(a), &y = event(b);
  if (thread_[a] == thread_[b] || !may_race(x.op) || !may_race(y.op)) return false;
  if ((!writes(x.op) && !writes(y.op)) || (is_atomic(x.op) && is_atomic(y.op))) return false;
  const Cells::Span common = cells_.common(a, b);
  const uint32_t ends = x.op == Op::Free ? 1 : 0;
  for (Cell cell = common.begin; cell < common.end; ++cell)
    if (lives_[a][cell - cells_.of(a).begin] + ends == lives_[b][cell - cells_.of(b).begin]) return true;
  return false;
}

}  // namespace pf::predict
