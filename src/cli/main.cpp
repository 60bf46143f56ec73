// photofinish: finds data races. This file picks the verb, turns errors into exit code 2 and one line, and cleans
// up after Ctrl-C.
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "cli/cli.h"
#include "core/nearest.h"
#include "trace/output.h"

namespace pf::cli {
namespace {

int fail(const std::string& message) {
  fmt::print(stderr, "photofinish: {}\n", message);
  return kBadInput;
}

void clean_up_and_die(int signal_number) {
  remove_partial_output();
  std::signal(signal_number, SIG_DFL);
  raise(signal_number);
}

// A mistyped verb is the likeliest mistake, and CLI11's own message for it helps little.
std::string unknown_verb(const CLI::App& app, int argc, char** argv) {
  std::vector<std::string_view> verbs;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    verbs.emplace_back(verb->get_name());
  }
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word.starts_with("-")) continue;
    if (std::find(verbs.begin(), verbs.end(), word) != verbs.end()) return {};
    const std::string_view best = nearest(word, verbs);
    return fmt::format("unknown command '{}'{}; see photofinish --help", word,
                       best.empty() ? "" : fmt::format(", did you mean '{}'?", best));
  }
  return {};
}

std::string one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  return text;
}

int run(int argc, char** argv) {
  CLI::App app{"Photofinish finds data races in C and C++ programs.", "photofinish"};
  app.set_version_flag("--version", PHOTOFINISH_VERSION);
  app.require_subcommand(1);
  app.fallthrough();
  app.footer("Exit code: 0 no race, 66 at least one race, 2 wrong usage or bad input.");
  Globals globals;
  app.add_flag("-q,--quiet", globals.quiet, "Say only what was asked for");
  app.add_flag("-v,--verbose", globals.verbose, "Say more: rule counters, memory");
  app.add_option("--color", globals.color, "Color the text: auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  std::function<Outcome()> work;
  const Verbs verbs{app, globals, work};
  add_analyze(verbs);
  add_trace(verbs);
  add_engines(verbs);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    const std::string verb = unknown_verb(app, argc, argv);
    return fail(verb.empty() ? one_line(e.what()) + " (see --help)" : verb);
  }
  const Outcome outcome = work();
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (!outcome) return fail(one_line(outcome.error().message));
  if (!written) return fail("cannot write to standard output");
  return *outcome;
}

}  // namespace

bool Globals::colored() const {
  const char* no_color = std::getenv("NO_COLOR");
  if (color == "auto") return isatty(STDOUT_FILENO) == 1 && (no_color == nullptr || *no_color == '\0');
  return color == "always";
}

bool Globals::progress() const { return !quiet && isatty(STDERR_FILENO) == 1; }

}  // namespace pf::cli

int main(int argc, char** argv) {
  for (const int s : {SIGINT, SIGTERM, SIGHUP}) std::signal(s, pf::cli::clean_up_and_die);
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return pf::cli::run(argc, argv);
  } catch (const std::bad_alloc&) {
    pf::remove_partial_output();
    std::fputs("photofinish: out of memory\n", stderr);
    return pf::cli::kBadInput;
  }
}
