#include "cli/wrapper.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "cli/cli.h"
#include "cli/runtime_files.h"
#include "cli/target.h"

namespace pf::cli {

namespace fs = std::filesystem;

namespace {

using Words = std::vector<std::string>;

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& list) {
  return std::ranges::find(list, word) != list.end();
}

// What the user's command line asks for.
struct Reading {
  Words kept;  // without what is ours, and without what would be in the way
  bool inputs = false, only_headers = true;
  bool stops_before_linking = false;
  bool shared = false, relocatable = false, all_static = false, static_runtime = false;

  bool links() const { return inputs && !only_headers && !stops_before_linking && !relocatable; }
};

bool stops_before_linking(std::string_view word) {
  constexpr std::array<std::string_view, 13> kWords = {
      "-c",           "-S",   "-E",           "-M",     "-MM",        "-fsyntax-only", "--version",
      "-dumpversion", "-###", "-dumpmachine", "--help", "-dumpspecs", "--precompile"};
  return is_one_of(word, kWords) || word.starts_with("-print-") || word.starts_with("--print-");
}

bool takes_a_value(std::string_view word) {
  constexpr std::array<std::string_view, 33> kWords = {
      "-o",          "-I",      "-L",         "-D",       "-U",        "-x",       "-l",       "-T",
      "-u",          "-z",      "-e",         "-MF",      "-MT",       "-MQ",      "-include", "-imacros",
      "-isystem",    "-iquote", "-idirafter", "-iprefix", "-isysroot", "-Xlinker", "-Xclang",  "-Xpreprocessor",
      "-Xassembler", "-mllvm",  "-target",    "-arch",    "-B",        "-A",       "--param",  "-framework",
      "--sysroot"};
  return is_one_of(word, kWords);
}

bool is_header(std::string_view word) {
  constexpr std::array<std::string_view, 6> kSuffixes = {".h", ".hh", ".hpp", ".hxx", ".H", ".h++"};
  return std::ranges::any_of(kSuffixes, [&](std::string_view suffix) { return word.ends_with(suffix); });
}

bool forbids_undefined(std::string_view word) {
  constexpr std::array<std::string_view, 4> kWords = {"--no-undefined", "-no-undefined", "-zdefs", "defs"};
  return is_one_of(word, kWords);
}

// The words of a link that go to the linker, one by one, without those that forbid undefined symbols: a shared object finds
// the runtime in the program that loads it.
class LinkerWords {
 public:
  explicit LinkerWords(Words& out) : out_(out) {}

  void add(std::string word) {
    if (word == "-z") {
      pending_ = true;
    } else if (std::exchange(pending_, false)) {
      if (!forbids_undefined(word)) put("-z"), put(std::move(word));
    } else if (!forbids_undefined(word)) {
      put(std::move(word));
    }
  }

 private:
  void put(std::string word) {
    out_.emplace_back("-Xlinker");
    out_.push_back(std::move(word));
  }

  Words& out_;
  bool pending_ = false;
};

// Only where one of them is in the way: a command line is best left as it is.
Words without_no_undefined(const Words& words) {
  const auto in_the_way = [](const std::string& w) {
    return w.find("no-undefined") != w.npos || w.find("defs") != w.npos;
  };
  if (std::ranges::none_of(words, in_the_way)) return words;
  Words out;
  LinkerWords linker(out);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].starts_with("-Wl,")) {
      std::istringstream parts(words[i].substr(4));
      for (std::string part; std::getline(parts, part, ',');) linker.add(part);
    } else if (words[i] == "-Xlinker" && i + 1 < words.size()) {
      linker.add(words[++i]);
    } else if (words[i] == "-z" && i + 1 < words.size()) {
      linker.add("-z");
      linker.add(words[++i]);
    } else {
      out.push_back(words[i]);
    }
  }
  return out;
}

Status read_own(std::string_view word, Reading& r) {
  const std::string_view value = word.substr(word.find('=') + 1);
  if (word.starts_with("--instrument=")) {
    if (value == "tsan") return Done{};
    const bool planned = value == "checks" || value == "sleds";
    return Error{
        fmt::format("--instrument={}: {}", value, planned ? "not there yet, tsan is" : "unknown, tsan is known")};
  }
  if (value != "static" && value != "shared") return Error{fmt::format("--runtime={}: shared or static", value)};
  r.static_runtime = value == "static";
  return Done{};
}

void read_word(const std::string& word, Reading& r) {
  if (stops_before_linking(word)) r.stops_before_linking = true;
  if (word == "-shared") r.shared = true;
  if (word == "-r") r.relocatable = true;
  if (word == "-static" || word == "-static-pie") r.all_static = true;
  if (!word.starts_with('-') || word == "-" || word.starts_with("-l")) {
    r.inputs = true;
    if (!is_header(word)) r.only_headers = false;
  }
  if (word != "-static-libtsan") r.kept.push_back(word);
}

// A file of arguments, "@objects.rsp", is left to the compiler, but it may say what is to be done.
void read_response_file(const std::string& path, Reading& r) {
  std::ifstream file(path);
  Reading inside;
  for (std::string word; file >> word;) read_word(word, inside);
  r.stops_before_linking |= inside.stops_before_linking;
  r.shared |= inside.shared;
  r.relocatable |= inside.relocatable;
  r.all_static |= inside.all_static;
}

Result<Reading> read(const Words& arguments) {
  Reading r;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word.starts_with("--instrument=") || word.starts_with("--runtime=")) {
      if (const Status status = read_own(word, r); !status) return status.error();
      continue;
    }
    read_word(word, r);
    if (word.starts_with('@')) read_response_file(word.substr(1), r);
    if (takes_a_value(word) && i + 1 < arguments.size()) {
      if (word == "-x" && arguments[i + 1].ends_with("-header")) r.stops_before_linking = true;
      if (word == "-l") r.inputs = true;
      r.kept.push_back(arguments[++i]);
    }
  }
  if (r.shared) r.kept = without_no_undefined(r.kept);
  return r;
}

Words rpath(const fs::path& runtime) { return {"-Wl,-rpath," + runtime.string(), "-Wl,--enable-new-dtags"}; }

Status demand(const fs::path& archive) {
  std::error_code error;
  if (fs::exists(archive, error)) return Done{};
  return Error{fmt::format("a static program needs a static runtime, and there is no {}", archive.string())};
}

bool is_static(const Reading& r) { return r.all_static || r.static_runtime; }

Result<Words> static_runtime(CompilerKind kind, bool all_static, const fs::path& runtime) {
  const bool gcc = kind == CompilerKind::Gcc;
  const fs::path archive = runtime / (gcc ? "libtsan.a" : "libphotofinish.a");  // GCC knows its own by that name
  if (const Status there = demand(archive); !there) return there.error();
  if (gcc && all_static) return Error{"GCC does not link a static program with -fsanitize=thread; clang does"};
  if (gcc) return Words{"-static-libtsan", "-L" + runtime.string()};
  return Words{"-Wl,--whole-archive", archive.string(), "-Wl,--no-whole-archive"};
}

// First among the libraries: what it shares with the C library is taken from it.
Words shared_runtime(const fs::path& runtime) {
  Words words = {"-Wl,--push-state,--no-as-needed", (runtime / "libphotofinish.so").string(), "-Wl,--pop-state"};
  std::ranges::copy(rpath(runtime), std::back_inserter(words));
  return words;
}

Result<Words> runtime_words(const Compiler& compiler, const Reading& r, const std::optional<fs::path>& runtime) {
  const bool gcc = compiler.kind == CompilerKind::Gcc;
  if (r.shared && !gcc) return Words{};
  if (!runtime) {
    return Error{fmt::format("there is no runtime to link in {}/fasttrack", runtime_roots().front().string())};
  }
  if (is_static(r)) return static_runtime(compiler.kind, r.all_static, *runtime);
  if (!gcc) return shared_runtime(*runtime);
  Words words = {"-L" + runtime->string()};  // where its -ltsan finds libtsan.so, which is our library
  std::ranges::copy(rpath(*runtime), std::back_inserter(words));
  return words;
}

Result<Words> link_words(const Compiler& compiler, const Reading& r, const RuntimeFiles& files) {
  if (!r.links()) return Words{};
  Result<Words> words = runtime_words(compiler, r, files.runtime);
  if (words && files.near && !is_static(r)) words->push_back(files.near->string());
  return words;
}

// GCC expands copies of a known size to plain moves after its instrumentation has run: docs/compilers.md.
Words gcc_instrumentation(const std::optional<fs::path>& calls_header) {
  constexpr std::array<std::string_view, 18> kInlined = {
      "memcpy", "memmove", "memset",  "memcmp", "mempcpy", "bcmp",   "bcopy",   "bzero",      "strcpy",
      "stpcpy", "strncpy", "stpncpy", "strcat", "strncat", "strcmp", "strncmp", "strcasecmp", "strncasecmp"};
  Words words = {"-fsanitize=thread"};
  for (const std::string_view function : kInlined) words.push_back(fmt::format("-fno-builtin-{}", function));
  if (calls_header) {
    words.emplace_back("-include");
    words.push_back(calls_header->string());
  }
  return words;
}

}  // namespace

Result<Words> wrapped_command(const Compiler& compiler, const Words& arguments, const RuntimeFiles& files) {
  const Result<Reading> reading = read(arguments);
  if (!reading) return reading.error();
  const Result<Words> link = link_words(compiler, *reading, files);
  if (!link) return link.error();
  Words command = compiler.command;
  if (!reading->inputs) {
    std::ranges::copy(reading->kept, std::back_inserter(command));
    return command;
  }
  const bool gcc = compiler.kind == CompilerKind::Gcc;
  std::ranges::copy(gcc ? gcc_instrumentation(files.gcc_calls) : Words{"-fsanitize=thread"},
                    std::back_inserter(command));
  if (!gcc && reading->links()) command.emplace_back("-fno-sanitize-link-runtime");
  std::ranges::copy(*link, std::back_inserter(command));
  std::ranges::copy(reading->kept, std::back_inserter(command));
  if (gcc) command.emplace_back("-U_FORTIFY_SOURCE");  // its checked copies are inlined, too; last, to win over a -D
  return command;
}

std::optional<std::string> wrapper_name(std::string_view argv0) {
  const std::string_view name = argv0.substr(argv0.rfind('/') + 1);
  if (name == "pf-c++" || name == "pf-cc") return std::string(name.substr(3));
  return std::nullopt;
}

namespace {

constexpr std::string_view kHelp = R"(Usage: pf-{0} ARGUMENTS OF THE COMPILER
       photofinish {0} ARGUMENTS OF THE COMPILER

Compiles and links as the compiler does, with the instrumentation and the runtime that 'photofinish run' needs.
  --instrument=tsan           the instrumentation (checks and sleds are planned)
  --runtime=shared|static     how a program gets the runtime (default: shared, so that 'run -e' can choose another)
Environment:
  {1}   the compiler (default: {2})
)";

Words default_compilers(bool cxx) {
  return cxx ? Words{"clang++-19", "clang++", "g++"} : Words{"clang-19", "clang", "gcc"};
}

// What a command writes to standard output; nothing if it cannot be run. No shell reads the words.
std::string output_of(const Words& command) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  const std::vector<char*> words = arguments_of(command);
  pid_t process = 0;
  const bool runs = posix_spawnp(&process, words[0], &actions, nullptr, words.data(), environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string output;
  std::array<char, 4096> buffer;
  for (ssize_t n; (n = ::read(ends[0], buffer.data(), buffer.size())) > 0;) {
    output.append(buffer.data(), static_cast<std::size_t>(n));
  }
  close(ends[0]);
  if (runs) waitpid(process, nullptr, 0);
  return output;
}

// By its name; a name that does not tell (c++, a script) is asked.
CompilerKind kind_of(const Words& command) {
  const std::string name = fs::path(command.back()).filename();
  if (name.find("clang") != name.npos) return CompilerKind::Clang;
  if (name.find("g++") != name.npos || name.find("gcc") != name.npos) return CompilerKind::Gcc;
  Words question = command;
  question.emplace_back("--version");
  const std::string answer = output_of(question);
  return answer.find("clang") == answer.npos ? CompilerKind::Gcc : CompilerKind::Clang;
}

Result<Compiler> choose_compiler(bool cxx) {
  const char* variable = cxx ? "PF_CXX" : "PF_CC";
  const char* wish = std::getenv(variable);
  if (wish != nullptr && *wish != '\0') {
    std::istringstream words(wish);
    const Words command{std::istream_iterator<std::string>(words), {}};
    if (command.empty() || !find_program(command.front()))
      return Error{fmt::format("{}: there is no '{}'", variable, wish)};
    return Compiler{kind_of(command), command};
  }
  for (const std::string& name : default_compilers(cxx)) {
    if (find_program(name)) return Compiler{kind_of({name}), {name}};
  }
  return Error{
      fmt::format("no compiler found ({}); name one by {}", fmt::join(default_compilers(cxx), ", "), variable)};
}

}  // namespace

Result<int> run_wrapper(const std::string& language, const Words& arguments) {
  const bool cxx = language == "c++";
  if (arguments == Words{"--help"}) {
    fmt::print(fmt::runtime(kHelp), language, cxx ? "PF_CXX" : "PF_CC", fmt::join(default_compilers(cxx), ", else "));
    return kSuccess;
  }
  const Result<Compiler> compiler = choose_compiler(cxx);
  if (!compiler) return compiler.error();
  const RuntimeFiles files = {find_runtime("fasttrack"), find_beside_runtimes("gcc_calls.h"),
                              find_beside_runtimes("calls.o")};
  Result<Words> command = wrapped_command(*compiler, arguments, files);
  if (!command) return command.error();
  const std::vector<char*> words = arguments_of(*command);
  execvp(words[0], words.data());
  return Error{fmt::format("cannot run {}: {}", command->front(), std::strerror(errno))};
}

void add_wrappers(const Verbs& verbs) {  // for --help; run_wrapper() takes the arguments as they are
  verbs.app.add_subcommand("c++", "Compile C++ with instrumentation (also called pf-c++)");
  verbs.app.add_subcommand("cc", "Compile C with instrumentation (also called pf-cc)");
}

}  // namespace pf::cli
