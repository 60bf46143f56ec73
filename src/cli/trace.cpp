// photofinish trace: the group of verbs that work on trace files.
#include "cli/cli.h"

namespace pf::cli {

void add_trace(const Verbs& verbs) {
  CLI::App* trace = verbs.app.add_subcommand("trace", "Work on trace files: info, cat, convert, generate, check");
  trace->require_subcommand(1);
  trace->fallthrough();
  add_trace_info(*trace, verbs);
  add_trace_cat(*trace, verbs);
  add_trace_convert(*trace, verbs);
  add_trace_generate(*trace, verbs);
  add_trace_check(*trace, verbs);
}

}  // namespace pf::cli
