// From the addresses of a recorded process to what its trace says instead: sites, functions, globals.
#pragma once
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "report/modules.h"
#include "report/symbolize.h"
#include "trace/dictionary.h"
#include "trace/recording.h"

namespace pf::cli {

// Patterns of modules' file names and of functions; none means all.
struct RecordFilter {
  std::vector<std::string> include, exclude;
  bool passes(const Site& site) const;
};

class RecordNames {
 public:
  explicit RecordNames(RecordFilter filter);

  void map(const report::RawModule& module);
  // The event with its names. False if it is one that was not asked for; synchronization always is.
  bool name(RecordedEvent& recorded);

  Dictionary& names() { return names_; }

 private:
  struct KnownPc {
    SiteId site = kNoSite;
    std::string function_name;
    uint64_t function = 0;  // once it was asked for
    bool has_function = false, wanted = true;
  };
  KnownPc& known(uint64_t address);
  uint64_t function_of(KnownPc& pc);
  void name_global(uint64_t address);
  void name_thread(uint64_t id);

  RecordFilter filter_;
  report::Symbolizer symbolizer_;
  report::AddressSpace space_;
  Dictionary names_;
  std::unordered_map<uint64_t, KnownPc> pcs_;
  std::map<uint64_t, uint64_t> modules_;        // end by begin, with the zeroed data behind
  std::unordered_set<uint64_t> met_, symbols_;  // addresses
};

}  // namespace pf::cli
