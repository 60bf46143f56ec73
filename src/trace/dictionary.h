// The names of a trace: threads, sites, named objects and symbols. Grows as a trace is read or written; ids are dense
// and never change, so a reader may hold on to them.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/object.h"

namespace pf {

// Where an event happened. Traces of other tools have only `location`; recorded programs have the rest.
struct Site {
  std::string location;
  std::string function, file, module;
  uint32_t line = 0, column = 0;
  uint64_t offset = 0;

  bool structured() const { return !function.empty() || !file.empty() || !module.empty(); }
  friend bool operator==(const Site&, const Site&) = default;
};

// A named piece of memory.
struct Symbol {
  uint64_t address = 0, size = 0;
  std::string name;
  friend bool operator==(const Symbol&, const Symbol&) = default;
};

class Dictionary {
 public:
  // By name: the same name gives the same id. Of objects, "0x7f00" is an address and "V3" an abstract variable.
  ThreadId thread(std::string_view name);
  SiteId site(std::string_view location);
  uint64_t object(ObjectKind kind, std::string_view name);
  uint64_t named(ObjectKind kind, std::string_view name);  // whatever the name looks like
  std::optional<SiteId> labelled(std::string_view label) const;

  // In order of definition, as a file lists them. No check for names that are there already.
  void add_thread(std::string name);
  SiteId add_site(Site site, std::string_view label = {});  // labelled(label) finds it from then on
  void add_object(ObjectKind kind, std::string name);
  void add_symbol(Symbol symbol) { symbols_.push_back(std::move(symbol)); }

  const std::vector<std::string>& threads() const { return threads_; }
  const std::vector<Site>& sites() const { return sites_; }  // the first is kNoSite's, empty
  const std::vector<std::string>& objects(ObjectKind kind) const { return objects_[static_cast<unsigned>(kind)]; }
  const std::vector<Symbol>& symbols() const { return symbols_; }

  std::string thread_name(ThreadId t) const;
  // "V3", "V3+2", "0x7f00", or the name it was given.
  std::string object_name(ObjectKind kind, uint64_t id) const;
  const std::string* given_name(ObjectKind kind, uint64_t id) const;  // none: nullptr
  // The id that a name tells by itself: an address or an abstract number.
  static std::optional<uint64_t> told_by_name(ObjectKind kind, std::string_view name);
  // A name that two threads or two objects of a kind have; empty if there is none.
  const std::string& repeated() const { return repeated_; }
  const Symbol* symbol_at(uint64_t address) const;

 private:
  // Look-ups by string_view without making a string.
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  using Index = std::unordered_map<std::string, uint32_t, Hash, std::equal_to<>>;

  std::vector<std::string> threads_;
  std::vector<Site> sites_ = {Site{}};
  std::vector<std::string> objects_[kObjectKinds];
  std::vector<Symbol> symbols_;
  Index thread_index_, site_index_, label_index_, object_index_[kObjectKinds];
  std::string repeated_;
};

}  // namespace pf
