// Several chains over one trace, side by side: what each found and cost, and the races on which they differ.
#pragma once
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "core/race.h"
#include "report/race.h"
#include "report/renderer.h"

namespace pf::report {

class Comparison {
 public:
  void add(const RacePair& pair, const Race& race);  // of the chain whose summary comes next
  void add(Summary summary);

  double reading = 0;  // seconds that it took to read the trace, once for all chains

  void print(std::FILE* out, TextStyle style) const;

 private:
  struct Row {
    std::string text;
    std::vector<std::string> verdicts;  // by chain; empty: the chain does not have it
  };
  void print_chains(std::FILE* out, TextStyle style) const;
  void print_differences(std::FILE* out, TextStyle style) const;
  bool differ(const Row& row) const;

  std::vector<Summary> chains_;
  std::vector<Row> rows_;  // in the order found
  std::map<RacePair, std::size_t> by_pair_;
};

}  // namespace pf::report
