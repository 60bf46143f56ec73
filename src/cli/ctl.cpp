// photofinish ctl: changes the sampling rate of a program while it runs, through the control file of its run directory.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "cli/cli.h"
#include "core/control.h"
#include "core/periods.h"

namespace pf::cli {
namespace {

namespace fs = std::filesystem;

struct Request {
  int pid = 0;
  std::vector<std::string> settings;
};

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::optional<std::string> run_directory_of(const std::string& pid) {
  constexpr std::string_view kName = "PHOTOFINISH_RUN=";
  const std::string environment = read_file(fs::path("/proc") / pid / "environ");
  for (std::size_t at = 0; at < environment.size(); at = environment.find('\0', at) + 1) {
    const std::string_view entry = environment.c_str() + at;
    if (entry.starts_with(kName)) return std::string(entry.substr(kName.size()));
    if (environment.find('\0', at) == std::string::npos) break;
  }
  return {};
}

// The program, or the `photofinish run` that started it.
std::optional<std::string> run_directory_near(int pid) {
  const std::string own = std::to_string(pid);
  if (auto directory = run_directory_of(own)) return directory;
  std::ifstream children(fs::path("/proc") / own / "task" / own / "children");
  for (std::string child; children >> child;) {
    if (auto directory = run_directory_of(child)) return directory;
  }
  return {};
}

class ControlPage {
 public:
  explicit ControlPage(const fs::path& path) {
    const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) return;
    // One that the program has not sized yet could not be touched.
    std::error_code error;
    if (fs::file_size(path, error) >= sizeof(Control) && !error) {
      void* page = mmap(nullptr, sizeof(Control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
      if (page != MAP_FAILED) control_ = static_cast<Control*>(page);
    }
    close(fd);
  }
  ~ControlPage() {
    if (control_ != nullptr) munmap(control_, sizeof(Control));
  }
  ControlPage(const ControlPage&) = delete;
  ControlPage& operator=(const ControlPage&) = delete;

  Control* get() const { return control_; }

 private:
  Control* control_ = nullptr;
};

Result<std::optional<uint64_t>> wanted_rate(const std::vector<std::string>& settings) {
  std::optional<uint64_t> rate;
  for (const std::string& s : settings) {
    if (!s.starts_with("rate=")) return Error{fmt::format("'{}' cannot be set, only rate=R", s)};
    rate = parse_rate(std::string_view(s).substr(5));
    if (!rate) return Error{fmt::format("'{}' is no rate from 0% to 100%", s.substr(5))};
  }
  return rate;
}

Outcome control(const Request& request) {
  const Result<std::optional<uint64_t>> wanted = wanted_rate(request.settings);
  if (!wanted) return wanted.error();
  if (!fs::exists(fs::path("/proc") / std::to_string(request.pid)))
    return Error{fmt::format("there is no process {}", request.pid)};
  const std::optional<std::string> directory = run_directory_near(request.pid);
  if (!directory) {
    return Error{
        fmt::format("process {} does not run under 'photofinish run' (or belongs to another user)", request.pid)};
  }
  const ControlPage page(fs::path(*directory) / kControlFile);
  if (page.get() == nullptr) return Error{fmt::format("process {} runs an engine that does not sample", request.pid)};
  const auto percent = [&] {
    const uint64_t word = __atomic_load_n(&page.get()->rate, __ATOMIC_RELAXED);
    return 100 * static_cast<double>(Control::rate_of(word)) / static_cast<double>(Periods::kAlways);
  };
  const double before = percent();
  const std::optional<uint64_t>& rate = *wanted;
  if (!rate) {
    fmt::print("rate={:.4g}%\n", before);
    return kSuccess;
  }
  __atomic_store_n(&page.get()->rate, Control::of(*rate), __ATOMIC_RELAXED);
  fmt::print("rate={:.4g}%, was {:.4g}%\n", percent(), before);
  return kSuccess;
}

}  // namespace

void add_ctl(const Verbs& verbs) {
  auto request = std::make_shared<Request>();
  CLI::App* ctl = verbs.app.add_subcommand("ctl", "change the sampling rate of a running program");
  ctl->add_option("PID", request->pid, "the program, or the 'photofinish run' that started it")->required();
  ctl->add_option("SETTING", request->settings, "rate=R, as in rate=0.5%; 0 switches the analysis off. None: show it");
  ctl->footer("Holds for all processes of the run, from the next sampling period on.");
  ctl->callback([&run = verbs.run, request] { run = [request] { return control(*request); }; });
}

}  // namespace pf::cli
