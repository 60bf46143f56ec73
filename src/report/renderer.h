// How results are shown: one interface, one file per format. A renderer is given every
// race and misuse, then every summary.
#pragma once
#include <cstdio>
#include <memory>

#include "report/race.h"

namespace pf::report {

class Renderer {
 public:
  virtual ~Renderer() = default;
  virtual void race(const Race& race) = 0;
  virtual void misuse(const Misuse& misuse) = 0;
  virtual void summary(const Summary& summary) = 0;
};

struct TextStyle {
  bool color = false;
  bool verbose = false;  // rule counters and memory too
  bool quiet = false;    // races only, no summary
};

std::unique_ptr<Renderer> make_text_renderer(std::FILE* out, TextStyle style);
std::unique_ptr<Renderer> make_json_renderer(std::FILE* out);

}  // namespace pf::report
