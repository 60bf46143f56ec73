#include "runtime/planted.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unwind.h>

#include <cstring>

#include "runtime/say.h"
#include "runtime/sys.h"

namespace pf::rt::planted {
namespace {

using watch::Board;
using watch::Segment;
using watch::Site;

constinit Board* g_board = nullptr;
constinit uint64_t g_process = 0;
constinit int g_unloading = 0;

const Site* sites() {
  return reinterpret_cast<const Site*>(reinterpret_cast<const char*>(g_board) + watch::kSitesOffset);
}

uint64_t load(const uint64_t& x) { return __atomic_load_n(&x, __ATOMIC_ACQUIRE); }

constexpr uint8_t kBreakpoint = 0xCC;

uint8_t byte_at(uintptr_t address) {
  return __atomic_load_n(reinterpret_cast<const uint8_t*>(address), __ATOMIC_RELAXED);
}

bool is_loaded(const Segment& s) {
  Dl_info info{};
  return dladdr(reinterpret_cast<void*>(s.start), &info) != 0;
}

// As a debugger writes: the page stays what it is for the program. Opened each time, since programs close what they do not know.
bool write_like_debugger(uintptr_t address, uint8_t byte) {
  const long fd = sys::open("/proc/self/mem", O_RDWR | O_CLOEXEC);
  if (sys::failed(fd)) return false;
  const long written = sys::call(SYS_pwrite64, fd, reinterpret_cast<long>(&byte), 1, static_cast<long>(address));
  sys::close(static_cast<int>(fd));
  return written == 1;
}

// One at a time, by the number of its process: a forked child may have a copy of the lock that nobody will give up. No handler of the program
// runs meanwhile, which might meet a breakpoint, too.
class OneWriter {
 public:
  OneWriter() {
    const int me = sys::process_id();
    for (int before = 0; !exchange(before, me);) {
      if (before != me) continue;  // another process's: taken over
      sys::yield();
      before = 0;
    }
  }
  ~OneWriter() { __atomic_store_n(&g_writer, 0, __ATOMIC_RELEASE); }
  OneWriter(const OneWriter&) = delete;
  OneWriter& operator=(const OneWriter&) = delete;

 private:
  static bool exchange(int& before, int after) {
    return __atomic_compare_exchange_n(&g_writer, &before, after, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
  }
  static constinit int g_writer;
  const sys::NoHandlers alone_{0};
};
constinit int OneWriter::g_writer = 0;

// Where no descriptor is left for that.
bool write_by_mapping(uintptr_t address, uint8_t byte) {
  const OneWriter alone;
  auto* page = reinterpret_cast<void*>(address & ~uintptr_t{4095});
  if (sys::failed(sys::call_on(SYS_mprotect, page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC))) return false;
  __atomic_store_n(reinterpret_cast<uint8_t*>(address), byte, __ATOMIC_SEQ_CST);
  sys::call_on(SYS_mprotect, page, 4096, PROT_READ | PROT_EXEC);
  return true;
}
void put_back(uintptr_t address, uint8_t byte) {
  if (byte_at(address) == byte) return;  // somebody was quicker
  if (!write_like_debugger(address, byte) && !write_by_mapping(address, byte))
    die_of("a breakpoint of photofinish cannot be taken out of the program");
}

uint64_t general_register(const ucontext_t& context, uint8_t number) {
  // By their number in instructions.
  constexpr int kPlaces[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                             REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  return static_cast<uint64_t>(context.uc_mcontext.gregs[kPlaces[number]]);
}

uintptr_t effective_address(const Site& site, uintptr_t pc, const ucontext_t& context) {
  auto address = static_cast<uint64_t>(static_cast<int64_t>(site.displacement));
  if (site.base == Site::kInstructionPointer) {
    address += pc + site.length;
  } else if (site.base != Site::kNone) {
    address += general_register(context, site.base);
  }
  if (site.index != Site::kNone) address += general_register(context, site.index) << site.scale;
  return address;
}

Board::Confirm* find_confirm(uintptr_t pc) {
  for (Board::Confirm& c : g_board->confirm) {
    if (load(c.pc) == pc) return &c;
  }
  return nullptr;
}

bool is_to_confirm(uintptr_t pc) {
  const Board::Confirm* c = find_confirm(pc);
  return c != nullptr && load(c->tries) < Board::kTries;
}

void add_to_confirm(uintptr_t pc) {
  if (find_confirm(pc) != nullptr) return;
  for (Board::Confirm& c : g_board->confirm) {
    uint64_t none = 0;
    if (__atomic_compare_exchange_n(&c.pc, &none, pc, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) return;
  }
}

// The program's own library for exceptions, if it has one; else the system's.
using Backtrace = _Unwind_Reason_Code (*)(_Unwind_Trace_Fn, void*);
using InstructionPointer = _Unwind_Ptr (*)(_Unwind_Context*);
constinit Backtrace g_backtrace = nullptr;
constinit InstructionPointer g_instruction_pointer = nullptr;

void find_unwinder() {
  void* library = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return;
  g_instruction_pointer = reinterpret_cast<InstructionPointer>(dlsym(library, "_Unwind_GetIP"));
  g_backtrace = reinterpret_cast<Backtrace>(dlsym(library, "_Unwind_Backtrace"));
}

struct Walk {
  uintptr_t from;  // above this place
  uintptr_t* to;
  unsigned most, count;
  bool above;
};
_Unwind_Reason_Code note_frame(_Unwind_Context* frame, void* data) {
  Walk& walk = *static_cast<Walk*>(data);
  const uintptr_t pc = g_instruction_pointer(frame);
  if (walk.above && pc != 0) walk.to[walk.count++] = pc;
  walk.above |= pc == walk.from;
  return walk.count == walk.most ? _URC_END_OF_STACK : _URC_NO_REASON;
}

}  // namespace

bool start(const char* path) {
  const long fd = sys::open(path, O_RDWR | O_CLOEXEC);
  if (sys::failed(fd)) return false;
  const long p =
      sys::call(SYS_mmap, 0, static_cast<long>(watch::kBoardBytes), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  sys::close(static_cast<int>(fd));
  if (sys::failed(p)) return false;
  auto* board = reinterpret_cast<Board*>(p);
  g_process = static_cast<uint64_t>(sys::process_id());
  uint64_t nobody = 0;
  __atomic_compare_exchange_n(&board->process, &nobody, g_process, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
  if (board->magic != Board::kMagic || load(board->process) != g_process) {
    sys::unmap(board, watch::kBoardBytes);
    return false;
  }
  if (g_backtrace == nullptr) find_unwinder();
  if (g_board != nullptr) stop();  // photofinish was killed; somebody may look at its board now, so it stays mapped
  __atomic_store_n(&board->segments, 0, __ATOMIC_RELEASE);  // of the program before an exec
  for (Board::Confirm& c : board->confirm) c = {};
  board->lock = 0;
  g_board = board;
  __atomic_fetch_add(&board->generation, 1, __ATOMIC_RELEASE);
  return true;
}

bool is_on() { return g_board != nullptr; }

namespace {

// What was killed may be in the list of processes still, when nobody has asked for its end.
bool lives(uint64_t process) {
  Text path;
  path.put("/proc/").number(process).put("/stat");
  const long fd = sys::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (sys::failed(fd)) return false;
  char text[128] = {};
  sys::read(static_cast<int>(fd), text, sizeof text - 1);
  sys::close(static_cast<int>(fd));
  const char* name_end = std::strrchr(text, ')');  // "1 (name) S ..."
  return name_end != nullptr && name_end[1] != '\0' && name_end[2] != 'Z' && name_end[2] != 'X';
}

}  // namespace

bool is_sampled() {
  if (g_board == nullptr || load(g_board->stopped) != 0) return false;
  const bool is_own = static_cast<uint64_t>(sys::process_id()) == g_process;  // else its parent is
  return is_own && lives(load(g_board->owner));
}

void stop() {
  __atomic_store_n(&g_board->stopped, 1, __ATOMIC_RELEASE);
  for (uint64_t i = 0; i < load(g_board->segments); ++i) {
    const Segment& s = g_board->segment[i];
    if (load(s.end) == s.start || !is_loaded(s)) continue;
    for (const Site* site = sites() + s.first; site != sites() + s.first + s.count; ++site) {
      if (byte_at(s.base + site->offset) == kBreakpoint) put_back(s.base + site->offset, site->first_byte);
    }
  }
}

void tell_watching(unsigned breakpoints, unsigned unwatched) {
  g_board->watching = breakpoints;
  g_board->unwatched = unwatched;
}

void leave() {
  if (g_board != nullptr) sys::unmap(g_board, watch::kBoardBytes);
  g_board = nullptr;
}

Inside::Inside() : board_(g_board) {
  if (board_ != nullptr) __atomic_fetch_add(&board_->inside, 1, __ATOMIC_ACQ_REL);
}
Inside::~Inside() {
  if (board_ != nullptr) __atomic_fetch_sub(&board_->inside, 1, __ATOMIC_ACQ_REL);
}

namespace {

// A breakpoint that was taken out just when this thread had run into it; the program's own ones are still there.
bool is_gone(const siginfo_t& info, uintptr_t pc) {
  return info.si_code == SI_KERNEL && byte_at(pc) != kBreakpoint && (byte_at(pc) != 0x03 || byte_at(pc - 1) != 0xCD);
}

}  // namespace

bool meet(const siginfo_t& info, ucontext_t& context, Meeting& meeting) {
  if (g_board == nullptr) return false;
  const auto pc = static_cast<uintptr_t>(context.uc_mcontext.gregs[REG_RIP]) - 1;
  const Site* site = watch::site_at(*g_board, sites(), pc);
  if (site == nullptr && !is_gone(info, pc)) return false;
  context.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(pc);
  if (site == nullptr) return true;
  put_back(pc, site->first_byte);
  meeting = {site, pc, effective_address(*site, pc, context), false, false};
  if (static_cast<uint64_t>(sys::process_id()) != g_process) return true;  // a copy, in a child
  const uint64_t number = __atomic_fetch_add(&g_board->fired, 1, __ATOMIC_ACQ_REL);
  __atomic_store_n(&g_board->fired_at[number % Board::kFired], pc, __ATOMIC_RELEASE);
  meeting.wanted = load(g_board->stopped) == 0;
  meeting.confirm = meeting.wanted && is_to_confirm(pc);
  return true;
}

const Site* site_before(uintptr_t pc, uintptr_t& begin) {
  return g_board == nullptr ? nullptr : watch::site_before(*g_board, sites(), pc, begin);
}

void confirm(uintptr_t one, uintptr_t other) {
  add_to_confirm(one);
  add_to_confirm(other);
}

void tried(uintptr_t pc) {
  if (Board::Confirm* c = find_confirm(pc); c != nullptr) __atomic_fetch_add(&c->tries, 1, __ATOMIC_RELAXED);
}

void confirmed(uintptr_t one, uintptr_t other) {
  const uintptr_t both[] = {one, other};
  for (const uintptr_t pc : both) {
    if (Board::Confirm* c = find_confirm(pc); c != nullptr)
      __atomic_store_n(&c->tries, Board::kTries, __ATOMIC_RELAXED);
  }
}

void spend(uint64_t time) { __atomic_fetch_add(&g_board->spent, time, __ATOMIC_RELAXED); }

void count_trap() {
  if (g_board != nullptr) __atomic_fetch_add(&g_board->traps, 1, __ATOMIC_RELAXED);
}

// Unloading runs destructors, which may unload.
void before_unloading() {
  constexpr int kPatience = 100;  // ms
  if (g_board == nullptr || __atomic_fetch_add(&g_unloading, 1, __ATOMIC_ACQ_REL) != 0) return;
  for (int i = 0; !try_lock(*g_board) && i < kPatience; ++i) sys::sleep_ms(1);
}

// What is not there any more has no instructions. Breakpoints in it went with it.
void after_unloading() {
  if (g_board == nullptr) return;
  for (uint64_t i = 0; i < load(g_board->segments); ++i) {
    Segment& s = g_board->segment[i];
    if (!is_loaded(s)) __atomic_store_n(&s.end, s.start, __ATOMIC_RELEASE);
  }
  if (__atomic_sub_fetch(&g_unloading, 1, __ATOMIC_ACQ_REL) == 0) unlock(*g_board);
}

CallsAbove::CallsAbove(Thread& t, uintptr_t place) : thread_(t) {
  if (g_board == nullptr || g_backtrace == nullptr || g_instruction_pointer == nullptr) return;
  constexpr unsigned kMost = 24;
  uintptr_t calls[kMost];
  Walk walk{place, calls, kMost, 0, false};
  g_backtrace(&note_frame, &walk);
  count_ = walk.count;
  for (unsigned i = count_; i-- > 0;) enter_function(t, calls[i], 0);
}

CallsAbove::~CallsAbove() {
  for (unsigned i = 0; i < count_; ++i) leave_function(thread_);
}

}  // namespace pf::rt::planted
