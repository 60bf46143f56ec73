#include "binary/inject.h"

#include <elf.h>
#include <fmt/format.h>
#include <gelf.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <thread>

#include "binary/elf_file.h"

namespace pf::binary {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto kPatience = 5s;         // for a thread that can be borrowed, and one that lets SIGTRAP through
constexpr auto kLongestCall = 60s;     // libraries are read from disks
constexpr uint64_t kStack = 64 << 10;  // that a call may need
constexpr uint64_t kRedZone = 128;

uint64_t bit(int signal_number) { return uint64_t{1} << (signal_number - 1); }

std::vector<pid_t> threads_of(pid_t process) {
  std::vector<pid_t> threads;
  std::error_code error;
  for (const fs::directory_entry& e : fs::directory_iterator(fmt::format("/proc/{}/task", process), error))
    threads.push_back(static_cast<pid_t>(std::strtol(e.path().filename().c_str(), nullptr, 10)));
  std::ranges::sort(threads);  // the main thread is the first
  return threads;
}

// A field of /proc/PID/status or of one of its threads; empty if there is none.
std::string status_field(const std::string& folder, std::string_view name) {
  std::ifstream file(folder + "/status");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(name) || line[name.size()] != ':') continue;
    const std::size_t value = line.find_first_not_of(" \t", name.size() + 1);
    return value == line.npos ? "" : line.substr(value);
  }
  return {};
}
uint64_t signals_of(const std::string& folder, std::string_view name) {
  return std::strtoull(status_field(folder, name).c_str(), nullptr, 16);
}
std::string folder_of(pid_t process) { return fmt::format("/proc/{}", process); }
std::string folder_of(pid_t process, pid_t thread) { return fmt::format("/proc/{}/task/{}", process, thread); }

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }
bool is_libc(const Mapping& m) { return m.offset == 0 && file_name(m.path) == "libc.so.6"; }

// --- whether it can be done ---

Error no_right(pid_t process) {
  std::string scope;
  std::getline(std::ifstream("/proc/sys/kernel/yama/ptrace_scope"), scope);
  const bool is_yama = !scope.empty() && scope != "0";
  return {fmt::format("no right to attach to process {}: be its user or root{}", process,
                      is_yama ? fmt::format(" (kernel.yama.ptrace_scope is {}: only root, or sysctl "
                                            "kernel.yama.ptrace_scope=0)",
                                            scope)
                              : "")};
}

Status check_state(pid_t process) {
  const std::string folder = folder_of(process), state = status_field(folder, "State");
  if (state.empty()) return Error{fmt::format("there is no process {}", process)};
  if (state[0] == 'Z' || state[0] == 'X') return Error{fmt::format("process {} has ended", process)};
  if (const std::string group = status_field(folder, "Tgid"); group != std::to_string(process))
    return Error{fmt::format("{} is a thread of process {}: attach to that one", process, group)};
  if (const std::string tracer = status_field(folder, "TracerPid"); tracer != "0")
    return Error{fmt::format("process {} is being debugged by process {}", process, tracer)};
  if (state[0] == 'T') return Error{fmt::format("process {} is stopped: let it go on first (kill -CONT)", process)};
  if (process == getpid()) return Error{"photofinish cannot attach to itself"};
  return Done{};
}

Status check_program(pid_t process) {
  std::ifstream file(folder_of(process) + "/exe", std::ios::binary);
  std::array<char, 20> head{};
  if (!file.read(head.data(), head.size())) return no_right(process);
  if (head[EI_CLASS] != ELFCLASS64 || head[18] != EM_X86_64)
    return Error{fmt::format("process {} is not a 64-bit program of this machine", process)};
  for (const char* space : {"mnt", "pid"}) {
    std::error_code error;
    const auto of = [&](const std::string& folder) { return fs::read_symlink(folder + "/ns/" + space, error); };
    if (of(folder_of(process)) != of("/proc/self"))
      return Error{fmt::format("process {} is in a container: run photofinish in it", process)};
  }
  return Done{};
}

// A breakpoint would end a thread that has SIGTRAP blocked. The C library blocks all signals for moments.
Status check_traps(pid_t process) {
  if ((signals_of(folder_of(process), "SigIgn") & bit(SIGSEGV)) != 0)
    return Error{fmt::format("process {} ignores SIGSEGV, which attaching needs for a moment", process)};
  pid_t blocking = 0;
  for (const auto start = Clock::now(); Clock::now() - start < kPatience / 5; std::this_thread::sleep_for(10ms)) {
    const std::vector<pid_t> threads = threads_of(process);
    const auto blocks = [&](pid_t t) { return (signals_of(folder_of(process, t), "SigBlk") & bit(SIGTRAP)) != 0; };
    const auto found = std::ranges::find_if(threads, blocks);
    if (found == threads.end()) return Done{};
    blocking = *found;
  }
  return Error{
      fmt::format("process {} cannot be sampled: its thread {} has SIGTRAP blocked, so a breakpoint would end it "
                  "(start the program with photofinish sample instead)",
                  process, blocking)};
}

Status check_library(pid_t process) {
  const std::vector<Mapping> mappings = mappings_of(process);
  if (mappings.empty()) return no_right(process);
  const auto is_other = [](const Mapping& m) {
    const std::string name = file_name(m.path);
    const bool is_engine = name == "libphotofinish.so" && !m.path.ends_with("/sampler/" + name);
    return is_engine || name.starts_with("libtsan");
  };
  if (std::ranges::any_of(mappings, is_other))
    return Error{fmt::format("process {} has a race detector inside already", process)};
  const Result<uint64_t> found = find_in_libc(process, "dlopen");
  return found ? Status(Done{}) : found.error();
}

// --- functions in files ---

std::optional<uint64_t> dynamic_symbol(const std::string& path, const std::string& name) {
  const ElfFile file(path);
  if (file.elf() == nullptr) return std::nullopt;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(file.elf(), section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_DYNSYM || header.sh_entsize == 0) continue;
    Elf_Data* data = elf_getdata(section, nullptr);
    for (int i = 0; data != nullptr && i < static_cast<int>(header.sh_size / header.sh_entsize); ++i) {
      GElf_Sym symbol;
      if (gelf_getsym(data, i, &symbol) == nullptr || symbol.st_shndx == SHN_UNDEF) continue;
      const char* text = elf_strptr(file.elf(), header.sh_link, symbol.st_name);
      if (text != nullptr && name == text && GELF_ST_TYPE(symbol.st_info) == STT_FUNC) return symbol.st_value;
    }
  }
  return std::nullopt;
}

// --- which thread ---

// The kernel goes on with these by itself after a stop; with the others it does so by our hand, if no signal came. Neither are calls that
// the C library makes while it holds its locks.
constexpr long kRestarted[] = {SYS_restart_syscall, SYS_futex,   SYS_nanosleep, SYS_clock_nanosleep, SYS_poll,
                               SYS_ppoll,           SYS_select,  SYS_read,      SYS_pause,           SYS_wait4,
                               SYS_waitid,          SYS_pselect6};
constexpr long kFailing[] = {SYS_epoll_wait, SYS_epoll_pwait, SYS_recvfrom, SYS_recvmsg, SYS_accept, SYS_accept4};

bool is_among(std::span<const long> numbers, long number) {
  return std::ranges::find(numbers, number) != numbers.end();
}

// Code that may hold what loading a library needs.
bool is_delicate(const std::string& path) {
  constexpr std::string_view kDelicate[] = {"libc.", "libc-",          "ld-linux",    "libpthread",  "libdl",
                                            "[",     "libphotofinish", "libjemalloc", "libtcmalloc", "libmimalloc"};
  const std::string name = file_name(path);
  return name.empty() || std::ranges::any_of(kDelicate, [&](std::string_view part) { return name.starts_with(part); });
}

const Mapping* mapping_at(const std::vector<Mapping>& mappings, uint64_t address) {
  const auto found =
      std::ranges::find_if(mappings, [&](const Mapping& m) { return address >= m.start && address < m.end; });
  return found == mappings.end() ? nullptr : &*found;
}

// 0 is best: blocked where the kernel goes on by itself; 1: in code; 2: blocked elsewhere; 3: no good.
int rank(pid_t process, pid_t thread) {
  std::string text;
  std::getline(std::ifstream(folder_of(process, thread) + "/syscall"), text);
  if (text.starts_with("running")) return 1;
  const long number = std::strtol(text.c_str(), nullptr, 10);
  if (text.empty() || number < 0) return 3;
  if (is_among(kRestarted, number)) return 0;
  return is_among(kFailing, number) ? 2 : 3;
}

// As the kernel does it with those that it restarts itself.
void restart_system_call(user_regs_struct& registers) {
  constexpr uint64_t kInstruction = 2;  // its length
  registers.rax = registers.orig_rax;
  registers.rip -= kInstruction;
  registers.orig_rax = ~0ULL;
}

bool will_restart(const user_regs_struct& registers) {
  constexpr long kRestartSystemCall = 512, kNoHandler = 514, kNoInterrupt = 513, kBlock = 516;  // of the kernel
  const long result = -static_cast<long>(registers.rax);
  return static_cast<long>(registers.orig_rax) >= 0 &&
         (result == kRestartSystemCall || result == kNoHandler || result == kNoInterrupt || result == kBlock);
}

}  // namespace

Status check_attachable(pid_t process) {
  for (const auto check : {check_state, check_program, check_library, check_traps}) {
    if (const Status status = check(process); !status) return status;
  }
  return Done{};
}

Result<uint64_t> find_in_file(const std::string& path, const std::string& name) {
  const std::optional<uint64_t> offset = dynamic_symbol(path, name);
  return offset ? Result<uint64_t>(*offset) : Error{fmt::format("there is no function {} in {}", name, path)};
}

Result<uint64_t> find_in_libc(pid_t process, const std::string& name) {
  const std::vector<Mapping> mappings = mappings_of(process);
  const auto libc = std::ranges::find_if(mappings, is_libc);
  if (libc == mappings.end()) return Error{fmt::format("process {} has no glibc (linked statically?)", process)};
  Result<uint64_t> offset = find_in_file(libc->path, name);
  if (offset) *offset += libc->start;
  return offset;
}

std::size_t count_pending(pid_t process, int signal_number) {
  const std::vector<pid_t> threads = threads_of(process);
  return static_cast<std::size_t>(std::ranges::count_if(
      threads, [&](pid_t t) { return (signals_of(folder_of(process, t), "SigPnd") & bit(signal_number)) != 0; }));
}

// --- the thread ---

Result<std::unique_ptr<BorrowedThread>> BorrowedThread::of(pid_t process) {
  for (const auto start = Clock::now(); Clock::now() - start < kPatience; std::this_thread::sleep_for(5ms)) {
    const std::vector<Mapping> mappings = mappings_of(process);
    if (mappings.empty()) return Error{fmt::format("process {} has ended", process)};
    std::vector<std::pair<int, pid_t>> candidates;
    for (const pid_t t : threads_of(process)) candidates.emplace_back(rank(process, t), t);
    std::ranges::sort(candidates);
    constexpr std::size_t kTried = 16;
    for (std::size_t i = 0; i < std::min(candidates.size(), kTried) && candidates[i].first < 3; ++i) {
      errno = 0;
      std::unique_ptr<BorrowedThread> thread(new BorrowedThread(process, candidates[i].second));
      if (thread->stop() && thread->save(mappings)) return thread;
      if (errno == EPERM) return no_right(process);
    }
  }
  return Error{fmt::format("no thread of process {} can be stopped where it is safe; try again", process)};
}

// With errno, if not.
bool BorrowedThread::stop() {
  if (ptrace(PTRACE_SEIZE, thread_, 0, 0) != 0) return false;
  is_stopped_ = true;
  if (ptrace(PTRACE_INTERRUPT, thread_, 0, 0) != 0) return false;
  for (const auto start = Clock::now(); Clock::now() - start < kPatience; std::this_thread::sleep_for(100us)) {
    int status = 0;
    const pid_t waited = waitpid(thread_, &status, __WALL | WNOHANG);
    if (waited < 0 || (waited == thread_ && !WIFSTOPPED(status))) return is_stopped_ = false;
    if (waited != thread_) continue;
    if (status >> 16 == PTRACE_EVENT_STOP) return WSTOPSIG(status) == SIGTRAP;
    ptrace(PTRACE_CONT, thread_, 0, WSTOPSIG(status));  // a signal that was on its way
  }
  return false;
}

bool BorrowedThread::save(const std::vector<Mapping>& mappings) {
  constexpr std::size_t kMostState = 16384;
  floating_point_.resize(kMostState);
  iovec state{floating_point_.data(), floating_point_.size()};
  if (ptrace(PTRACE_GETREGS, thread_, 0, &registers_) != 0 ||
      ptrace(PTRACE_GETREGSET, thread_, NT_X86_XSTATE, &state) != 0 ||
      ptrace(PTRACE_GETSIGMASK, thread_, sizeof signal_mask_, &signal_mask_) != 0)
    return false;
  floating_point_.resize(state.iov_len);
  errno = 0;
  const Mapping* code = mapping_at(mappings, registers_.rip);
  const Mapping* stack = mapping_at(mappings, registers_.rsp);
  const bool has_room = stack != nullptr && (stack->path == "[stack]" || registers_.rsp - stack->start > kStack);
  if (code == nullptr || !has_room || file_name(code->path).starts_with("libphotofinish")) return false;
  const bool is_in_system_call = static_cast<long>(registers_.orig_rax) >= 0;
  if (will_restart(registers_)) {
    if (!is_among(kRestarted, static_cast<long>(registers_.orig_rax)) &&
        !is_among(kFailing, static_cast<long>(registers_.orig_rax)))
      return false;
  } else if (is_in_system_call && is_among(kFailing, static_cast<long>(registers_.orig_rax)) &&
             static_cast<long>(registers_.rax) == -EINTR) {
    const std::string folder = folder_of(process_, thread_);
    const uint64_t pending = signals_of(folder, "SigPnd") | signals_of(folder, "ShdPnd");
    if ((pending & ~signal_mask_) == 0) restart_system_call(registers_);
  } else if (is_delicate(code->path)) {
    return false;
  }
  // Handlers of the program must not run in the middle of a call; signals wait. But for those that the call itself may raise.
  const uint64_t waiting = ~(bit(SIGSEGV) | bit(SIGBUS) | bit(SIGILL) | bit(SIGFPE) | bit(SIGTRAP));
  is_saved_ = ptrace(PTRACE_SETSIGMASK, thread_, sizeof waiting, &waiting) == 0;
  return is_saved_;
}

BorrowedThread::~BorrowedThread() {
  if (!is_stopped_) return;
  if (is_saved_) {
    iovec state{floating_point_.data(), floating_point_.size()};
    ptrace(PTRACE_SETREGSET, thread_, NT_X86_XSTATE, &state);
    ptrace(PTRACE_SETREGS, thread_, 0, &registers_);
    ptrace(PTRACE_SETSIGMASK, thread_, sizeof signal_mask_, &signal_mask_);
  }
  ptrace(PTRACE_DETACH, thread_, 0, 0);
  for (const int s : kept_) syscall(SYS_tgkill, process_, thread_, s);
}

Result<uint64_t> BorrowedThread::call(uint64_t function, const std::string& text, uint64_t number) {
  constexpr uint64_t kAlignment = 16;
  user_regs_struct r = registers_;
  const uint64_t place = (registers_.rsp - kRedZone - text.size() - 1) & ~(kAlignment - 1);
  const uint64_t return_address = 0;
  r.rsp = place - sizeof return_address;
  r.rip = function;
  r.rdi = place;
  r.rsi = number;
  r.rax = 0;
  r.orig_rax = ~0ULL;     // it is not in a system call
  r.eflags &= ~0x400ULL;  // strings go upwards
  const bool prepared = memory_.write(place, text.c_str(), text.size() + 1) &&
                        memory_.write(r.rsp, &return_address, sizeof return_address) &&
                        ptrace(PTRACE_SETREGS, thread_, 0, &r) == 0;
  if (!prepared) return Error{fmt::format("process {} cannot be written to: {}", process_, std::strerror(errno))};
  return wait_for_return();
}

Result<uint64_t> BorrowedThread::wait_for_return() {
  int pass_on = 0;
  const auto start = Clock::now();
  while (Clock::now() - start < kLongestCall) {
    if (ptrace(PTRACE_CONT, thread_, 0, pass_on) != 0 && errno != ESRCH) break;
    int status = 0;
    pid_t waited = 0;
    while ((waited = waitpid(thread_, &status, __WALL | WNOHANG)) == 0 && Clock::now() - start < kLongestCall)
      std::this_thread::sleep_for(50us);
    if (waited == 0) break;
    if (waited < 0 || !WIFSTOPPED(status)) {
      is_stopped_ = false;
      return Error{fmt::format("process {} has ended", process_)};
    }
    pass_on = 0;
    if (status >> 16 == PTRACE_EVENT_STOP) continue;
    user_regs_struct r;
    ptrace(PTRACE_GETREGS, thread_, 0, &r);
    if (WSTOPSIG(status) == SIGSEGV && r.rip == 0) return r.rax;
    if (WSTOPSIG(status) == SIGSEGV) return Error{fmt::format("a call in process {} failed at {:#x}", process_, r.rip)};
    if ((bit(WSTOPSIG(status)) & (bit(SIGTRAP) | bit(SIGBUS) | bit(SIGILL) | bit(SIGFPE))) != 0) {
      pass_on = WSTOPSIG(status);
    } else {
      kept_.push_back(WSTOPSIG(status));  // SIGSTOP
    }
  }
  ptrace(PTRACE_INTERRUPT, thread_, 0, 0);
  waitpid(thread_, nullptr, __WALL);
  return Error{fmt::format("a call in process {} did not return", process_)};
}

std::optional<uint64_t> BorrowedThread::number_at(uint64_t address) const {
  uint64_t number = 0;
  return memory_.read(address, &number, sizeof number) ? std::optional(number) : std::nullopt;
}

std::string BorrowedThread::text_at(uint64_t address) const {
  constexpr std::size_t kLongest = 1024;
  std::string text;
  for (auto byte = memory_.read(address); byte && *byte != 0 && text.size() < kLongest; byte = memory_.read(++address))
    text.push_back(static_cast<char>(*byte));
  return text;
}

}  // namespace pf::binary
