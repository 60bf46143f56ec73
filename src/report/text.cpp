// Text for the terminal: each race with both accesses, then a line that sums up.
#include <fmt/color.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "report/renderer.h"
#include "report/words.h"

namespace pf::report {
namespace {

class TextRenderer final : public Renderer {
 public:
  TextRenderer(std::FILE* out, TextStyle style) : out_(out), style_(style) {}

  void race(const Race& r) override {
    title((r.verdict == "suspect" ? "suspect: " : "race: ") + r.title());
    fmt::print(out_, " ({}, {}{}; id {})\n", r.engine, r.verdict,
               r.count > 1 ? fmt::format(", {} times", grouped(r.count)) : "", r.id());
    access("first ", r.first, r.location);
    access("second", r.second, r.location);
    origin(r.location);
    for (const Creation& c : r.threads) {
      if (c.stack.empty()) continue;  // it was there before us
      block(fmt::format("{} created by {} at", c.thread_text, c.parent_text), c.stack);
    }
    process(r.process);
    if (!r.doubt.empty()) fmt::print(out_, "  not called a race: {}\n", r.doubt);
    if (r.hidden_by || r.by_locks) {
      fmt::print(out_, "  hidden in this run: nothing but lock order put the first before the second\n");
    }
    if (r.hidden_by) {
      lock_step("released", r.hidden_by->lock, r.hidden_by->release);
      lock_step("acquired", r.hidden_by->lock, r.hidden_by->acquire);
    }
    estimate(r);
    if (!r.witness.empty()) witness(r);
    fmt::print(out_, "\n");
  }

  void misuse(const Misuse& m) override {
    title(fmt::format("misuse: {}", m.what));
    fmt::print(out_, " ({}; id {})\n", m.engine, m.id());
    block(fmt::format("{:#x} by {} at", m.address, m.thread_text), m.stack);
    process(m.process);
    fmt::print(out_, "\n");
  }

  void summary(const Summary& s) override {
    if (style_.quiet) return;
    const double rate = s.seconds > 0 ? static_cast<double>(s.events) / s.seconds / 1e6 : 0;
    fmt::print(out_, "{}: {}{} in {} of {}; {:.2f} s, {:.1f} million events/s\n", s.engine, plural(s.races, "race"),
               s.dynamic_races > s.races ? fmt::format(" ({} times)", grouped(s.dynamic_races)) : "",
               plural(s.events, "event"), plural(s.threads, "thread"), s.seconds, rate);
    if (s.dropped != 0) {
      fmt::print(out_, "  filters dropped {} of {} accesses ({:.1f}%)\n", grouped(s.dropped), grouped(s.accesses),
                 100.0 * static_cast<double>(s.dropped) / static_cast<double>(s.accesses));
    }
    if (s.sampling) {
      const auto& [asked, effective, accesses, sampled, live] = *s.sampling;
      fmt::print(out_, "  sampled {:.3g}% of the work{}; {} of {} accesses{}\n", 100 * effective,
                 asked ? fmt::format(", asked for {:.3g}%", 100 * *asked) : "", grouped(sampled), grouped(accesses),
                 live ? fmt::format("; histories of {} are live", memory_size(*live)) : "");
    }
    if (s.suspects != 0) fmt::print(out_, "  {}, not seen to happen\n", plural(s.suspects, "suspect"));
    if (s.watching) watching(*s.watching);
    if (s.races != 0 && !s.found_by.empty()) {
      std::vector<std::string> ways;
      ways.reserve(s.found_by.size());
      for (const auto& [by, count] : s.found_by) ways.push_back(fmt::format("{} {}", by, grouped(count)));
      fmt::print(out_, "  found by {}\n", fmt::join(ways, ", "));
    }
    if (s.libraries) libraries(*s.libraries);
    if (s.unknown.value_or(0) != 0) {
      fmt::print(out_, "  unknown: {} (a limit was reached: options steps, timeout, tries)\n",
                 plural(*s.unknown, "pair"));
    }
    if (s.misuses != 0) fmt::print(out_, "  {} of synchronization\n", plural(s.misuses, "misuse"));
    if (s.suppressed != 0) fmt::print(out_, "  {} suppressed\n", plural(s.suppressed, "report"));
    if (s.unfinished != 0) {
      fmt::print(out_, "  {} ended early, without counters\n", plural(s.unfinished, "process", "processes"));
    }
    rates(s);
    if (!style_.verbose) return;
    fmt::print(out_, "  accesses {}, racy {}, state {}", grouped(s.accesses), grouped(s.racy_events),
               memory_size(s.bytes));
    fmt::print(out_, "{}\n", s.peak_bytes > s.bytes ? ", at its peak " + memory_size(s.peak_bytes) : "");
    for (const FilterSummary& f : s.filters) {
      fmt::print(out_, "  {} saw {}, dropped {}, state {}, at its peak {}\n", f.name, plural(f.events, "event"),
                 grouped(f.dropped), memory_size(f.bytes), memory_size(f.peak_bytes));
      rules(f.rules);
    }
    rules(s.rules);
  }

 private:
  void libraries(const Libraries& l) {
    const std::string calls = l.calls ? fmt::format("{} into code without instrumentation", plural(*l.calls, "call"))
                                      : "calls into code without instrumentation";
    fmt::print(out_, "  {} may have ordered {}: not reported (option show lists them)\n", calls,
               plural(l.pairs, "pair"));
    if (l.cut == 0) return;
    fmt::print(out_, "  {} of them reached more memory than is followed: an order may be missing\n", grouped(l.cut));
  }
  void watching(const Watching& w) {
    const std::string share = w.asked == 0 ? ""
                                           : fmt::format("sampled {:.3g}% of the instructions, asked for {:.3g}%; ",
                                                         100 * w.effective, 100 * w.asked);
    fmt::print(out_, "  {}watched {}{}: ", share, plural(w.armed, "sample"), w.hardware ? "" : " without breakpoints");
    fmt::print(out_, "{} fired, {} expired, {} stale, {} only their own thread's; no slot for {}, {} late\n",
               grouped(w.fired), grouped(w.expired), grouped(w.stale), grouped(w.own), plural(w.busy, "sample"),
               plural(w.late, "trap"));
    if (w.delays + w.spared == 0) return;
    fmt::print(out_, "  delayed {:.3g} s of {:.3g} s ({:.2g}%) by {}, spared {}; {} told by the value alone\n",
               w.delayed, w.elapsed, w.elapsed > 0 ? 100 * w.delayed / w.elapsed : 0, plural(w.delays, "delay"),
               grouped(w.spared), plural(w.changed, "write"));
  }

  void rules(const std::vector<std::pair<std::string, uint64_t>>& counts) {
    for (const auto& [rule, count] : counts) fmt::print(out_, "  {:<28} {:>16}\n", rule, grouped(count));
  }

  void rates(const Summary& s) {
    if (s.trials == 0) return;
    fmt::print(out_, "  {}; found in (95% interval), and how many more runs find it with 95%:\n",
               plural(s.trials, "trial"));
    for (const Summary::Rate& r : s.rates) {
      const Trials& t = r.trials;
      fmt::print(out_, "  {:>5} of {}, {:.1f}% ({:.1f}% to {:.1f}%), {}: {} (id {})\n", grouped(t.found),
                 grouped(t.runs), 100 * t.rate(), 100 * t.low(), 100 * t.high(), plural(t.more_runs(), "more run"),
                 r.what, r.id);
    }
  }

  // By the rate alone: what a run really finds depends on how the race behaves, and only trials measure that.
  void estimate(const Race& r) {
    if (!r.chance || *r.chance >= 1) return;
    fmt::print(out_, "  sampled in about {:.3g}% of runs, by its rate (not measured): {} find it with 95%\n",
               100 * *r.chance, plural(Trials::runs_for(*r.chance), "run"));
  }

  void access(std::string_view which, const Access& a, const Location& l) {
    const std::string size = l.kind == "variable" ? "" : fmt::format(" of {}", plural(a.size, "byte"));
    const std::string locks =
        a.locks.empty() ? ", no lock held" : fmt::format(", holding {}", fmt::join(a.locks, ", "));
    fmt::print(out_, "  {} {}{:<5}{} by {}{}\n", which, a.atomic ? "atomic " : "", a.op, size, a.by(),
               a.knows_locks ? locks : "");
    frames(a.stack);
  }

  void title(const std::string& text) {
    if (style_.color) {
      fmt::print(out_, fmt::emphasis::bold | fmt::fg(fmt::terminal_color::red), "{}", text);
    } else {
      fmt::print(out_, "{}", text);
    }
  }

  void frames(const std::vector<Frame>& stack) {
    for (std::size_t i = 0; i < stack.size(); ++i) fmt::print(out_, "    #{} {}\n", i, stack[i].text());
  }

  void block(const std::string& head, const std::vector<Frame>& stack) {
    fmt::print(out_, "  {}\n", head);
    frames(stack);
  }

  // Where the block of a running program comes from, and where it went.
  void origin(const Location& l) {
    const std::string by = l.thread_text.empty() ? "" : " by " + l.thread_text;
    if (l.kind == "heap" && !l.stack.empty()) block("heap block allocated" + by + " at", l.stack);
    if (!l.allocation_stack.empty()) block("heap block allocated at", l.allocation_stack);
    if (l.kind == "freed" && !l.stack.empty() && l.online) block("freed" + by + " at", l.stack);
  }

  // "t1 released l1 at transfer (event 6)"
  void lock_step(std::string_view done, const std::string& lock, const HiddenBy::Step& s) {
    fmt::print(out_, "    {} {} {}{}", s.by(), done, lock, s.reading ? " (read)" : "");
    if (!s.stack.empty()) fmt::print(out_, " at {}", s.stack.front().text());
    if (s.event != 0) fmt::print(out_, " (event {})", grouped(s.event));
    fmt::print(out_, "\n");
  }

  // The end of the schedule, in two columns: the thread of the first access on the left, that of the second on the right; what others
  // do in between stands on the left with their name.
  void witness(const Race& r) {
    constexpr std::size_t kShown = 16;
    const std::size_t hidden = r.witness.size() > kShown ? r.witness.size() - kShown : 0;
    fmt::print(out_, "  a schedule of the same events that has them side by side (found by {}):\n", r.found_by);
    std::vector<std::array<std::string, 2>> rows = {{r.first.thread_name, r.second.thread_name}};
    for (std::size_t i = hidden; i < r.witness.size(); ++i) {
      const WitnessStep& s = r.witness[i];
      const bool is_first = s.thread_id == r.first.thread_id, is_second = s.thread_id == r.second.thread_id;
      const std::string place = s.frame.text();
      const std::string step = fmt::format("{} {}{}", s.what, place.empty() ? "" : "at " + place + ", ", s.event);
      const bool is_last = i + 2 >= r.witness.size();
      const std::string text = (is_first || is_second ? "" : s.thread_name + ": ") + step + (is_last ? "  <--" : "");
      rows.push_back(is_second ? std::array{std::string(), text} : std::array{text, std::string()});
    }
    std::size_t width = 0;
    for (const auto& row : rows) width = std::max(width, row[0].size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      fmt::print(out_, "    {}\n",
                 rows[i][1].empty() ? rows[i][0] : fmt::format("{:<{}} | {}", rows[i][0], width, rows[i][1]));
      if (i == 0 && hidden != 0) fmt::print(out_, "    ({} before; --json has them)\n", plural(hidden, "step"));
    }
  }

  void process(const Process& p) {
    if (p.other) fmt::print(out_, "  in process {} ({})\n", p.pid, p.exe);
  }

  std::FILE* out_;
  TextStyle style_;
};

}  // namespace

std::unique_ptr<Renderer> make_text_renderer(std::FILE* out, TextStyle style) {
  return std::make_unique<TextRenderer>(out, style);
}

}  // namespace pf::report
