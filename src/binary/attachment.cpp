#include "binary/attachment.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>

#include "binary/inject.h"

namespace pf::binary {
namespace {

using namespace std::chrono_literals;

// What photofinish_attach() answers (runtime/sampled/attached.cpp).
Status understood(pid_t process, uint64_t answer) {
  switch (static_cast<int>(answer)) {
    case 0: return Done{};
    case 1: return Error{fmt::format("process {} is being sampled already", process)};
    default: return Error{fmt::format("process {} cannot use the run directory", process)};
  }
}

// The loader's handle begins with where the library is loaded.
Result<uint64_t> load(pid_t process, BorrowedThread& thread, const std::string& library) {
  const Result<uint64_t> open = find_in_libc(process, "dlopen"), error = find_in_libc(process, "dlerror");
  if (!open) return open.error();
  const Result<uint64_t> handle = thread.call(*open, library, RTLD_NOW);
  if (!handle) return handle.error();
  if (const auto base = *handle == 0 ? std::nullopt : thread.number_at(*handle)) return *base;
  const Result<uint64_t> why = error ? thread.call(*error) : error;
  return Error{fmt::format("process {} cannot load the runtime: {}", process,
                           why && *why != 0 ? thread.text_at(*why) : "unknown error")};
}

}  // namespace

Result<Attachment> Attachment::make(pid_t process, const std::string& library, const std::string& environment) {
  if (const Status possible = check_attachable(process); !possible) return possible.error();
  const Result<uint64_t> begin = find_in_file(library, "photofinish_attach");
  if (!begin) return begin.error();
  const Result<std::unique_ptr<BorrowedThread>> thread = BorrowedThread::of(process);
  if (!thread) return thread.error();
  const Result<uint64_t> base = load(process, **thread, library);
  if (!base) return base.error();
  const Result<uint64_t> answer = (*thread)->call(*base + *begin, environment);
  if (!answer) return answer.error();
  if (const Status begun = understood(process, *answer); !begun) return begun.error();
  return Attachment(process, library, *base);
}

Status Attachment::call(const char* function) const {
  const Result<uint64_t> offset = find_in_file(library_, function);
  if (!offset) return offset.error();
  const Result<std::unique_ptr<BorrowedThread>> thread = BorrowedThread::of(process_);
  if (!thread) return thread.error();
  const Result<uint64_t> done = (*thread)->call(loaded_at_ + *offset);
  return done ? Status(Done{}) : done.error();
}

bool Attachment::is_there() const {
  const std::vector<Mapping> mappings = mappings_of(process_);
  return std::ranges::any_of(mappings, [&](const Mapping& m) {
    return m.start == loaded_at_ && m.path.find("libphotofinish.so") != m.path.npos;
  });
}

Attachment::Modules Attachment::modules_of(pid_t process) {
  Modules modules;
  for (const Mapping& m : mappings_of(process)) {
    if (m.executable && m.path.starts_with('/')) modules.emplace(m.start, m.path);
  }
  return modules;
}

// If no thread can be borrowed now, perhaps one can later.
void Attachment::follow() {
  Modules now = modules_of(process_);
  if (now != modules_ && call("photofinish_follow")) modules_ = std::move(now);
}

// A thread may have run into a breakpoint that is gone by now, and be on its way to the handler, however busy the machine is.
Status Attachment::end(const watch::Board& board) const {
  if (!is_there()) return Done{};
  if (const Status stopped = call("photofinish_detach"); !stopped) return stopped;
  constexpr int kQuiet = 4, kMost = 200;  // looks in a row, and in all
  for (int quiet = 0, looks = 0; quiet < kQuiet && looks < kMost; ++looks) {
    std::this_thread::sleep_for(50ms);
    const bool is_quiet =
        __atomic_load_n(&board.inside, __ATOMIC_ACQUIRE) == 0 && count_pending(process_, SIGTRAP) == 0;
    quiet = is_quiet ? quiet + 1 : 0;
  }
  return call("photofinish_leave");
}

}  // namespace pf::binary
