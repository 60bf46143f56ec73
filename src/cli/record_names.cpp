#include "cli/record_names.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <filesystem>

namespace pf::cli {
namespace {

constexpr uint64_t kZeroedData = uint64_t{64} << 20;  // behind a file's last mapping there may be so much of it

bool matches(const std::vector<std::string>& patterns, const Site& site) {
  const std::string module = std::filesystem::path(site.module).filename();
  return std::ranges::any_of(patterns, [&](const std::string& p) {
    return fnmatch(p.c_str(), module.c_str(), 0) == 0 || fnmatch(p.c_str(), site.function.c_str(), 0) == 0;
  });
}

}  // namespace

bool RecordFilter::passes(const Site& site) const {
  return (include.empty() || matches(include, site)) && !matches(exclude, site);
}

RecordNames::RecordNames(RecordFilter filter)
    : filter_(std::move(filter)),
      symbolizer_([](const std::string& warning) { fmt::print(stderr, "photofinish: {}\n", warning); }),
      space_(symbolizer_) {}

void RecordNames::map(const report::RawModule& module) {
  space_.map(module);
  uint64_t& end = modules_[module.start];
  end = std::max(end, module.end + kZeroedData);
}

bool RecordNames::name(RecordedEvent& recorded) {
  Event& e = recorded.event;
  name_thread(index(e.thread));
  if (e.op == Op::Fork || e.op == Op::Join) name_thread(e.target);
  if (recorded.pc == 0) return true;
  KnownPc& pc = known(recorded.pc);
  const bool is_plain = e.op == Op::Read || e.op == Op::Write || e.op == Op::Call || e.op == Op::Return;
  if (is_plain && !pc.wanted) return false;
  e.site = pc.site;
  if (e.op == Op::Call || e.op == Op::Return) e.target = function_of(pc);
  if (e.op == Op::MissingBegin) e.target = function_of(known(e.target));
  if (is_access(e.op)) name_global(e.target);
  return true;
}

RecordNames::KnownPc& RecordNames::known(uint64_t address) {
  const auto [it, is_new] = pcs_.try_emplace(address);
  KnownPc& pc = it->second;
  if (!is_new) return pc;
  Site site;
  if (const auto place = space_.find(address)) {
    const std::vector<report::Frame>& frames = symbolizer_.frames(place->path, place->address);
    const report::Frame& f = frames.front();
    pc.function_name = frames.back().function;  // not one that was inlined there
    site = {f.location, f.function, f.file, f.module, f.line, f.column, f.offset};
  }
  if (!site.structured() && site.location.empty()) site.location = fmt::format("{:#x}", address);
  pc.wanted = filter_.passes(site);
  pc.site = names_.add_site(std::move(site));
  return pc;
}

uint64_t RecordNames::function_of(KnownPc& pc) {
  if (pc.has_function) return pc.function;
  const Site& site = names_.sites()[index(pc.site)];
  pc.has_function = true;
  if (pc.function_name.empty()) pc.function_name = fmt::format("{}+{:#x}", site.module, site.offset);
  pc.function = names_.named(ObjectKind::Function, pc.function_name);
  return pc.function;
}

// Data of the program and its libraries; the first access to it names it.
void RecordNames::name_global(uint64_t address) {
  const auto after = modules_.upper_bound(address);
  if (after == modules_.begin() || std::prev(after)->second <= address) return;
  if (!met_.insert(address).second) return;
  const auto place = space_.find(address);
  if (!place) return;
  const auto global = symbolizer_.global(place->path, place->address);
  if (!global) return;
  const uint64_t start = address - (place->address - global->address);
  if (symbols_.insert(start).second) names_.add_symbol({start, global->size, global->name});
}

void RecordNames::name_thread(uint64_t id) {
  while (names_.threads().size() <= id) names_.add_thread(fmt::format("T{}", names_.threads().size()));
}

}  // namespace pf::cli
