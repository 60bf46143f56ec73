// photofinish: finds data races. This file picks the verb, turns errors into exit code 2 and one line, and cleans
// up after Ctrl-C.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "cli/cli.h"
#include "cli/command.h"
#include "cli/mistyped.h"
#include "cli/wrapper.h"
#include "trace/output.h"

namespace pf::cli {
namespace {

// One line, whatever the names in it hold.
int fail(std::string message) {
  for (char& c : message) {
    if (c == '\n') c = ' ';
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
  }
  std::fflush(stdout);  // what came before, comes before
  std::fputs(("photofinish: " + message + "\n").c_str(), stderr);
  return kBadInput;
}

void clean_up_and_die(int signal_number) {
  remove_partial_output();
  std::signal(signal_number, SIG_DFL);
  raise(signal_number);
}

// What the shell had ignored (nohup, a background job) stays ignored.
void catch_signals() {
  for (const int s : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    if (std::signal(s, clean_up_and_die) == SIG_IGN) std::signal(s, SIG_IGN);
  }
}

// A closed standard stream would give its number to the next file opened, and messages would end up in a trace.
void occupy_standard_streams() {
  while (true) {
    const int fd = open("/dev/null", O_RDONLY);
    if (fd > STDERR_FILENO) close(fd);
    if (fd < 0 || fd > STDERR_FILENO) return;
  }
}

// What is printed counts only if it arrived.
int flushed(int exit_code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return exit_code;
  return fail(std::string("cannot write to standard output: ") + std::strerror(errno));
}

int finish(const Outcome& outcome) { return outcome ? flushed(*outcome) : fail(outcome.error().message); }

// As a compiler we take any argument; what language, our name or the first word says.
std::optional<Outcome> compile(const std::vector<std::string>& words) {
  if (const auto language = wrapper_name(words[0])) return run_wrapper(*language, {words.begin() + 1, words.end()});
  const bool verb = words.size() > 1 && (words[1] == "c++" || words[1] == "cc");
  return verb ? std::optional(run_wrapper(words[1], {words.begin() + 2, words.end()})) : std::nullopt;
}

int run(int argc, char** argv) {
  if (argc > 0) {
    if (const std::optional<Outcome> outcome = compile({argv, argv + argc})) return finish(*outcome);
  }
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
  std::vector<std::string> command;
  const Verbs verbs{app, globals, work, command};
  add_run(verbs);
  add_sample(verbs);
  add_attach(verbs);
  add_record(verbs);
  add_confirm(verbs);
  add_wrappers(verbs);
  add_analyze(verbs);
  add_trace(verbs);
  add_engines(verbs);
  add_merge(verbs);
  add_collect(verbs);
  add_ctl(verbs);
  std::vector<std::string> words(argv + 1, argv + argc);
  command = split_command(app, words);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 takes them last first
  } catch (const CLI::Success& e) {
    return flushed(app.exit(e));
  } catch (const CLI::ParseError& e) {
    const std::string mistake = mistyped(app, words);
    return fail(mistake.empty() ? std::string(e.what()) + " (see --help)" : mistake);
  }
  return finish(work());
}

}  // namespace

}  // namespace pf::cli

int main(int argc, char** argv) {
  pf::cli::occupy_standard_streams();
  pf::cli::catch_signals();
  try {
    return pf::cli::run(argc, argv);
  } catch (const std::bad_alloc&) {
    return pf::cli::fail("out of memory");
  } catch (const std::system_error& e) {  // by fmt
    return pf::cli::fail("cannot write to standard output: " + e.code().message());
  } catch (const std::exception& e) {
    return pf::cli::fail(e.what());
  }
}
