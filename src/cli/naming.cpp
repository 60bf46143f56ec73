#include "cli/naming.h"

#include <fmt/format.h>

#include "core/hash.h"

namespace pf::cli {
namespace {

report::Frame name_frame(SiteId site, const Dictionary& names) {
  if (site == kNoSite || index(site) >= names.sites().size()) return {};
  const Site& s = names.sites()[index(site)];
  return {s.location, s.function, s.file, s.module, s.line, s.column, s.offset};
}

report::Access name_access(const RaceAccess& a, const std::vector<HeldLock>& locks, const Dictionary& names) {
  report::Access access;
  access.thread_id = index(a.thread);
  access.thread_name = names.thread_name(a.thread);
  access.op = access_name(a.op);
  access.size = a.size;
  access.atomic = is_atomic(a.op);
  for (const HeldLock& l : locks) {
    access.locks.push_back(names.object_name(ObjectKind::Lock, l.lock) + (l.mode == LockMode::Read ? " (read)" : ""));
  }
  access.stack.push_back(name_frame(a.site, names));
  return access;
}

report::Location name_location(const RaceMemory& m, const Dictionary& names) {
  report::Location l;
  l.name = names.object_name(ObjectKind::Variable, m.address);
  if (m.kind != RaceMemory::Kind::Plain) {
    l.kind = m.kind == RaceMemory::Kind::Heap ? "heap" : "freed";
    l.size = m.block_size;
    l.offset = m.address - m.block;
    l.origin = name_frame(m.block_site, names);
  } else if (m.address >= kAbstract) {
    l.kind = "variable";
    l.name = names.object_name(ObjectKind::Variable, m.address & ~uint64_t{7});
  } else if (const Symbol* symbol = names.symbol_at(m.address)) {
    l.kind = "global";
    l.name = symbol->name;
    l.size = symbol->size;
    l.offset = m.address - symbol->address;
  }
  return l;
}

report::HiddenBy::Step name_step(const LockStep& s, const Dictionary& names) {
  return {index(s.thread), names.thread_name(s.thread), s.mode == LockMode::Read, s.event, {name_frame(s.site, names)}};
}

// "acq(L1)"; of an access no more than the variable, since a witness says when, not how.
std::string name_operation(const WitnessStep& s, const Dictionary& names) {
  std::string text(name(s.op));
  if (s.op == Op::Fork || s.op == Op::Join)
    return text + "(" + names.thread_name(static_cast<ThreadId>(s.target)) + ")";
  return has_operand(s.op) ? text + "(" + names.object_name(object_kind(s.op), s.target) + ")" : text;
}

report::WitnessStep name_witness(const WitnessStep& s, const Dictionary& names) {
  return {index(s.thread), names.thread_name(s.thread), s.event, name_operation(s, names), name_frame(s.site, names)};
}

}  // namespace

report::Race name_race(const FoundRace& found, const Chain& chain, const Dictionary& names) {
  const RaceRecord& r = found.record;
  report::Race race;
  race.engine = chain.detector().info->name;
  race.chain = chain.text;
  race.verdict = name(r.verdict);
  if (r.verdict == Verdict::Suspect) race.doubt = report::kOrderedByLibrary;
  race.count = r.count;
  race.location = name_location(r.memory, names);
  race.first = name_access(r.first, found.first_locks, names);
  race.second = name_access(r.second, found.second_locks, names);
  if (const auto& by = found.hidden_by) {
    race.hidden_by = {names.object_name(ObjectKind::Lock, by->lock), name_step(by->release, names),
                      name_step(by->acquire, names)};
  }
  race.window = found.window;
  if (found.window) race.pair = fmt::format("{}-{}-{:#x}", r.pair().low, r.pair().high, r.pair().object);
  race.found_by = found.found_by;
  race.witness.reserve(found.witness.size());
  for (const WitnessStep& s : found.witness) race.witness.push_back(name_witness(s, names));
  return race;
}

uint64_t TraceNames::site(SiteId site) const { return hash_bytes(name_frame(site, names_).text()); }

uint64_t TraceNames::variable(uint64_t address) const {
  const Symbol* symbol = names_.symbol_at(address);
  if (symbol == nullptr) return hash_bytes(names_.object_name(ObjectKind::Variable, address));
  return hash_with(hash_bytes(symbol->name), address - symbol->address);
}

}  // namespace pf::cli
