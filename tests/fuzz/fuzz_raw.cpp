// Raw lines of the runtime, whole sessions of them: any text is taken or complained about, never trusted.
#include <string>
#include <string_view>

#include "expect.h"
#include "report/session.h"

namespace {

// Options come first, up to an empty line.
void run_session(std::string_view options, std::string_view lines) {
  std::FILE* nowhere = std::fopen("/dev/null", "w");
  std::vector<pf::report::Session::Sink> sinks;
  sinks.push_back({pf::report::make_text_renderer(nowhere, {.verbose = true}), nowhere, "", true});
  sinks.push_back({pf::report::make_json_renderer(nowhere), nowhere, "", false});
  pf::report::Session session("tree:fasttrack", pf::report::parse_run_options(options), {}, std::move(sinks));
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    session.take("1.0.raw", lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  session.end_trial();
  session.finish(1, true);
  std::fclose(nowhere);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t gap = text.find("\n\n");
  if (gap != text.npos) run_session(text.substr(0, gap), text.substr(gap + 2));
  return 0;
}
