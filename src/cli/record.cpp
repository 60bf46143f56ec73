// photofinish record: runs an instrumented program and writes a trace of it. The runtime leaves windows of records per thread
// (core/recording.h); once the program has ended they are merged here (docs/recording.md).
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>

#include "cli/cli.h"
#include "cli/progress.h"
#include "cli/record_names.h"
#include "cli/reports.h"
#include "cli/runtime_files.h"
#include "cli/supervise.h"
#include "report/raw.h"
#include "trace/writer.h"

namespace pf::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct Request {
  std::string output;
  std::string recover;           // a folder that was left behind
  uint64_t limit = 0, ring = 0;  // of the recording as it is made; 0 for none
  bool no_values = false, no_cache = false;
  std::string libraries = "barrier";
  std::vector<std::string> known, stateless;
  RecordFilter filter;
};

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Next to the trace, where there is room for it if anywhere.
Result<RunDirectory> make_directory(const std::string& output) {
  std::error_code error;
  if (output == "-" || (fs::exists(output, error) && !fs::is_regular_file(output, error))) return RunDirectory::make();
  std::string name = fs::absolute(output, error).string() + ".recording-XXXXXX";
  if (mkdtemp(name.data()) == nullptr)
    return Error{fmt::format("cannot make a directory for the recording next to {}: {}", output, std::strerror(errno))};
  return RunDirectory(name);
}

std::string chain_of(const Request& request) {
  return fmt::format("record,limit={},ring={},values={},libs={},known={},stateless={},cache={}", request.limit,
                     request.ring, request.no_values ? 0 : 1, request.libraries, fmt::join(request.known, "/"),
                     fmt::join(request.stateless, "/"), request.no_cache ? 0 : 1);
}

int wait_for(pid_t program, SignalGate& gate) {
  int status = 0;
  while (!has_ended(program, status)) {
    pollfd ready = {gate.fd(), POLLIN, 0};
    poll(&ready, 1, gate.fd() < 0 ? 200 : -1);
    gate.forward(program);
  }
  return status;
}

// What the recorded process says of itself, beside its events. Nothing if none was instrumented.
std::optional<std::string> raw_file(const std::string& directory) {
  std::ifstream claim(directory + "/recorded");
  std::string pid;
  if (!(claim >> pid)) return {};
  return directory + "/" + pid + ".0.raw";
}

void read_modules(const std::string& path, RecordNames& names) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    const Result<report::RawLine> parsed = report::parse_raw(line);
    if (!parsed) continue;  // the last one, cut short
    if (const auto* module = std::get_if<report::RawModule>(&*parsed)) names.map(*module);
    if (const auto* lost = std::get_if<report::RawLost>(&*parsed))
      fmt::print(stderr, "photofinish: the trace lacks {}\n", lost->what);
  }
}

struct Merged {
  uint64_t events = 0, threads = 0;
};

class Merger {
 public:
  Merger(Recording& recording, RecordNames& names, TraceWriter& writer, bool progress)
      : recording_(recording), names_(names), writer_(writer), progress_(progress) {}

  Result<Merged> merge() {
    if (recording_.is_cut()) {
      batch_ = begun_before(recording_);
      for (Event& e : batch_) {
        RecordedEvent named{e, 0};
        names_.name(named);
      }
      recording_.rewind();
    }
    Progress progress(progress_, "merging", recording_.bytes_total());
    for (RecordedEvent r; recording_.next(r);) {
      if (names_.name(r)) tidier_.add(r.event, batch_);
      if (batch_.size() < kBatch) continue;
      if (const Status written = write_batch(); !written) return written.error();
      progress.update(recording_.bytes_read(), events_);
      if (is_unwanted()) {
        fmt::print(stderr, "photofinish: merging was stopped: the trace ends early\n");
        break;
      }
    }
    Status status = write_batch();
    if (status) status = writer_.finish(names_.names());
    if (!status) return status.error();
    return Merged{events_, names_.names().threads().size()};
  }

 private:
  static constexpr std::size_t kBatch = 4096;

  // Who wants an end gets what there is. But signals that came with the one that ended the program are no such wish.
  bool is_unwanted() {
    if (seconds_since(start_) < 1) return false;
    if (!gate_) {
      SignalGate().stopped();
      gate_.emplace();
    }
    return gate_->stopped();
  }

  Status write_batch() {
    const Status written = writer_.add(batch_, names_.names());
    events_ += batch_.size();
    batch_.clear();
    return written;
  }

  Recording& recording_;
  RecordNames& names_;
  TraceWriter& writer_;
  bool progress_;
  Tidier tidier_;
  std::vector<Event> batch_;
  uint64_t events_ = 0;
  Clock::time_point start_ = Clock::now();
  std::optional<SignalGate> gate_;
};

void tell(const Request& request, const Recording& recording, const Merged& merged, std::optional<double> ran,
          double took) {
  if (recording.is_cut()) fmt::print(stderr, "photofinish: the ring was full: the trace has the end of the program\n");
  if (recording.damaged() != 0)
    fmt::print(stderr, "photofinish: of {} threads the records are damaged; they end there\n", recording.damaged());
  std::error_code error;
  const uint64_t bytes = request.output == "-" ? 0 : fs::file_size(request.output, error);
  fmt::print(stderr, "{} {} events of {} threads{}, {} MB of records, merged in {:.2f} s\n",
             ran ? "recorded" : "recovered", merged.events, merged.threads,
             ran ? fmt::format(" in {:.2f} s", *ran) : "", recording.bytes_total() >> 20, took);
  if (bytes == 0 || error || merged.events == 0) return;
  fmt::print(stderr, "{}: {} bytes, {:.2f} an event\n", request.output, bytes,
             static_cast<double>(bytes) / static_cast<double>(merged.events));
}

// From the windows in the folder to the trace. `ran`: how long it took to record, if that is known.
Status merge(const Request& request, const std::string& folder, const std::string& raw, TraceWriter& writer,
             std::optional<double> ran, const Globals& globals) {
  RecordNames names(request.filter);
  read_modules(raw, names);
  Result<Recording> recording = Recording::open(folder);
  if (!recording) return recording.error();
  const Clock::time_point start = Clock::now();
  const Result<Merged> merged = Merger(*recording, names, writer, globals.progress()).merge();
  if (!merged) return merged.error();
  if (!globals.quiet) tell(request, *recording, *merged, ran, seconds_since(start));
  return Done{};
}

// The program's status, once its trace is written.
Result<int> record_program(const Request& request, const std::vector<std::string>& command, const Globals& globals) {
  const std::optional<fs::path> runtime = find_runtime("record");
  if (!runtime) return Error{"there is no runtime that records"};
  Result<std::unique_ptr<TraceWriter>> writer = create_trace(request.output);
  if (!writer) return writer.error();
  SignalGate gate;  // first, so that it is there until the directory is gone
  const Result<RunDirectory> directory = make_directory(request.output);
  if (!directory) return directory.error();

  const Environment environment = environment_of(chain_of(request), directory->path(), runtime->string(), false);
  const Clock::time_point start = Clock::now();
  const Result<pid_t> program = start_program(command, environment, gate);
  if (!program) return program.error();
  const int status = wait_for(*program, gate);
  const double ran = seconds_since(start);

  const std::optional<std::string> raw = raw_file(directory->path());
  if (!raw) {
    return Error{fmt::format("{} is not instrumented, nothing was recorded: build it with pf-c++ or pf-cc (or with "
                             "-fsanitize=thread, dynamically linked)",
                             command.front())};
  }
  const Status merged = merge(request, directory->path(), *raw, **writer, ran, globals);
  if (!merged) return merged.error();
  return status;
}

// The process that recorded, by the name of its raw file.
pid_t recorded_process(const std::string& raw) {
  const std::string name = fs::path(raw).filename();
  pid_t process = 0;
  std::from_chars(name.data(), name.data() + name.size(), process);
  return process;
}

// What a photofinish that was killed has left behind: the program went on recording without it.
Outcome recover(Request request, const Globals& globals) {
  const std::string folder = fs::path(request.recover + "/").parent_path().string();
  const std::optional<std::string> raw = raw_file(folder);
  if (!raw) return Error{fmt::format("{} is no folder of a recording (FILE.recording-*)", request.recover)};
  if (const pid_t pid = recorded_process(*raw); kill(pid, 0) == 0)
    return Error{fmt::format("process {} is still there, and may be recording into {}", pid, folder)};
  if (request.output.empty()) request.output = folder.substr(0, folder.rfind(".recording-"));
  if (request.output == folder) return Error{"--recover: no trace given (-o FILE)"};
  Result<std::unique_ptr<TraceWriter>> writer = create_trace(request.output);
  if (!writer) return writer.error();
  if (const Status merged = merge(request, folder, *raw, **writer, {}, globals); !merged) return merged.error();
  const RunDirectory done(folder);  // which removes it
  return 0;
}

Outcome record(const Request& request, const std::vector<std::string>& command, const Globals& globals) {
  if (!request.recover.empty()) {
    if (!command.empty()) return Error{"--recover takes no program: what it did is recorded"};
    return recover(request, globals);
  }
  if (command.empty()) return Error{"record: no program given (see photofinish record --help)"};
  if (request.output.empty()) return Error{"record: no trace given (-o FILE)"};
  if (request.limit != 0 && request.ring != 0) return Error{"--limit and --ring: one of them"};
  for (const auto* patterns : {&request.known, &request.stateless}) {
    const auto is_wrong = [](const std::string& p) { return p.find_first_of(",:/") != p.npos; };
    if (const auto wrong = std::ranges::find_if(*patterns, is_wrong); wrong != patterns->end())
      return Error{fmt::format("'{}' is no name of a library or function: ',', ':' and '/' are in none", *wrong)};
  }
  const Result<int> status = record_program(request, command, globals);
  if (!status) return status.error();
  if (WIFSIGNALED(*status)) {
    std::fflush(nullptr);
    die_of(WTERMSIG(*status));
  }
  return WEXITSTATUS(*status);
}

}  // namespace

void add_record(const Verbs& verbs) {
  CLI::App* verb = verbs.app.add_subcommand("record", "Run an instrumented program and write a trace of it");
  auto request = std::make_shared<Request>();
  auto shown_only = std::make_shared<std::vector<std::string>>();
  verb->add_option("-o,--output", request->output, "The trace: a .pft file, or .txt")->type_name("FILE");
  verb->add_option(
          "--recover", request->recover,
          "Make a trace of what a photofinish that was killed has left behind, FILE.recording-*, up to the last "
          "event; run no program")
      ->type_name("FOLDER");
  const auto patterns = [&](const char* name, std::vector<std::string>& to, const char* help) {
    verb->add_option(name, to, help)->take_all()->allow_extra_args(false)->type_name("PATTERN");
  };
  patterns("--include", request->filter.include,
           "Only accesses and calls in these modules or functions, as in 'libfoo*' or 'deposit'");
  patterns("--exclude", request->filter.exclude, "Not those in these modules or functions");
  verb->add_option("--limit", request->limit, "Stop recording at so many bytes of records (10M, 2G)")
      ->transform(CLI::Validator(expand_count, ""))
      ->type_name("SIZE");
  verb->add_option("--ring", request->ring, "Keep the last records, of about so many bytes")
      ->transform(CLI::Validator(expand_count, ""))
      ->type_name("SIZE");
  verb->add_option("--libs", request->libraries,
                   "Calls into code without instrumentation: with a library's own state as memory that they touch, "
                   "with what their arguments reach alone, or not at all")
      ->transform(CLI::IsMember({"barrier", "arguments", "none"}))
      ->capture_default_str();
  patterns("--known", request->known, "Not calls of these libraries or functions: they order nothing");
  patterns("--stateless", request->stateless, "These libraries order only by what is handed to them");
  verb->add_flag("--no-reach-cache", request->no_cache, "Look every pointer up again at each such call");
  verb->add_flag("--no-values", request->no_values, "Leave out what was read and written: a smaller trace");
  verb->add_option("PROGRAM", *shown_only, "The program, built with pf-c++ or pf-cc, and its arguments");
  verb->footer(
      "Exit code: the program's own, or 2 for wrong usage. A program that a signal ended ends photofinish by the same\n"
      "signal, once the trace is written. Records are 16 to 32 bytes an event and lie next to FILE until then.");
  verb->callback(
      [request, verbs] { verbs.run = [request, verbs] { return record(*request, verbs.command, verbs.globals); }; });
}

}  // namespace pf::cli
