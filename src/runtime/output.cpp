#include "runtime/output.h"

#include <cerrno>
#include <cstring>

#include "runtime/options.h"
#include "runtime/spin.h"

namespace pf::rt::output {
namespace {

constexpr int kHighDescriptor = 900;  // out of the way of programs that count their descriptors

constinit const char* g_directory = nullptr;  // of the environment, or made by us
constinit bool g_supervised = false;
constinit int g_fd = -1;
constinit uint64_t g_number = 0;  // of the file
constinit bool g_lost = false;
constinit uint64_t g_modules_seen = 0;
constinit SpinLock g_lock;

// Without `photofinish run`: a directory of our own, and a reader for it.
[[gnu::cold]] bool make_directory() {
  static constinit char name[64] = {};
  Text path;
  timespec now{};
  sys::call(SYS_clock_gettime, CLOCK_REALTIME, reinterpret_cast<long>(&now));
  path.put("/tmp/photofinish.").number(static_cast<uint64_t>(sys::process_id())).put('.');
  path.number(static_cast<uint64_t>(now.tv_nsec));
  std::size_t n = path.size() < sizeof name - 1 ? path.size() : sizeof name - 1;
  for (std::size_t i = 0; i < n; ++i) name[i] = path.data()[i];
  if (sys::failed(sys::call_on(SYS_mkdir, name, 0700))) return false;
  g_directory = name;
  start_collector(name);
  return true;
}

void put_path(Text& path, uint64_t number) {
  path.put(g_directory).put('/').number(static_cast<uint64_t>(sys::process_id())).put('.').number(number).put(".raw");
}

// Out of the way of the program, if that is possible.
int high(long fd) {
  const long other = sys::call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, kHighDescriptor);
  if (sys::failed(other)) return static_cast<int>(fd);
  sys::close(static_cast<int>(fd));
  return static_cast<int>(other);
}

int try_open() {
  for (g_number = 0; g_number < 100000; ++g_number) {
    Text path;
    put_path(path, g_number);
    const long fd = sys::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    if (fd == -EEXIST) continue;
    return sys::failed(fd) ? -1 : high(fd);
  }
  return -1;
}

// The file that we had.
bool open_again() {
  Text path;
  put_path(path, g_number);
  const long fd = sys::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (sys::failed(fd)) return false;
  g_fd = high(fd);
  return true;
}

bool write_whole(const char* data, std::size_t size) {
  while (size != 0) {
    const long n = sys::write(g_fd, data, size);
    if (n == -EINTR || n == -EAGAIN) continue;
    if (n <= 0) return false;
    data += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

void lose(const char* why) {
  if (!g_lost) say("reports are lost: ", why);
  g_lost = true;
}

bool open_file() {
  if (g_directory == nullptr && !make_directory()) return false;
  g_fd = try_open();
  if (g_fd < 0) return false;
  char exe[4096];
  const long n =
      sys::call(SYS_readlink, reinterpret_cast<long>("/proc/self/exe"), reinterpret_cast<long>(exe), sizeof exe - 1);
  exe[n > 0 ? n : 0] = '\0';
  Text text;
  text.put("{\"raw\":\"process\",\"pid\":").number(static_cast<uint64_t>(sys::process_id()));
  text.put(",\"parent\":").number(static_cast<uint64_t>(sys::parent_id()));
  text.put(",\"engine\":").quoted(kDetectorName).put(",\"exe\":").quoted(exe).put("}\n");
  return write_whole(text.data(), text.size());
}

// Parses one line of /proc/self/maps: start-end perms offset dev inode path.
struct Mapping {
  uint64_t start, end, offset;
  const char* path;
};
uint64_t hexadecimal(const char*& p) {
  uint64_t n = 0;
  for (;; ++p) {
    if (*p >= '0' && *p <= '9') {
      n = n * 16 + static_cast<uint64_t>(*p - '0');
    } else if (*p >= 'a' && *p <= 'f') {
      n = n * 16 + static_cast<uint64_t>(*p - 'a' + 10);
    } else {
      return n;
    }
  }
}
Mapping parse(const char* p) {
  Mapping m{};
  m.start = hexadecimal(p);
  m.end = hexadecimal(++p);
  p += 6;  // " rwxp "
  m.offset = hexadecimal(p);
  m.path = p;
  while (*m.path != '\0' && *m.path != '/' && *m.path != '[') ++m.path;
  return m;
}

void put_module(const Mapping& m, Text& out) {
  out.put("{\"raw\":\"module\",\"start\":").number(m.start).put(",\"end\":").number(m.end);
  out.put(",\"offset\":").number(m.offset).put(",\"path\":").quoted(m.path).put("}\n");
}

void read_maps(Text& maps) {
  const long fd = sys::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (sys::failed(fd)) return;
  char buffer[4096];
  for (long n = 0; (n = sys::read(static_cast<int>(fd), buffer, sizeof buffer)) > 0;) {
    maps.put(buffer, static_cast<std::size_t>(n));
  }
  sys::close(static_cast<int>(fd));
}

template <class F>
void for_each_mapping(F f) {
  Text maps;
  read_maps(maps);
  const char* p = maps.c_str();
  while (*p != '\0') {
    Text one;
    while (*p != '\0' && *p != '\n') one.put(*p++);
    if (*p == '\n') ++p;
    f(parse(one.c_str()));
  }
}

}  // namespace

void initialize(char** environment) {
  for (char** e = environment; e != nullptr && *e != nullptr; ++e) {
    if (const char* value = value_of(*e, "PHOTOFINISH_RUN"); value != nullptr) g_directory = value;
  }
  g_supervised = g_directory != nullptr;
  if (!g_supervised) return;
  const Guard guard(g_lock);
  if (!open_file()) lose("the run directory cannot be written");
}

void start_over() {
  if (g_fd >= 0) sys::close(g_fd);
  g_fd = -1;
  g_modules_seen = 0;
  g_lost = false;
}

void stop() {
  const Guard guard(g_lock);
  start_over();
  g_lost = true;
}

void line(Text& text) {
  text.put('\n');
  const Guard guard(g_lock);
  if (g_fd < 0 && !g_lost && !open_file()) return lose("the run directory cannot be written");
  if (g_lost || write_whole(text.data(), text.size())) return;
  // Somebody closed our descriptor.
  if (!open_again() || !write_whole(text.data(), text.size())) lose("the run directory cannot be written");
}

const char* kind_of(uintptr_t address) {
  const char* kind = "unknown";
  for_each_mapping([&](const Mapping& m) {
    if (address < m.start || address >= m.end) return;
    if (*m.path == '\0') kind = "mapped";
    if (std::strcmp(m.path, "[heap]") == 0) kind = "heap";
  });
  return kind;
}

void modules() {
  Text out;
  uint64_t hash = 1;
  for_each_mapping([&](const Mapping& m) {
    if (*m.path != '/') return;
    hash = (hash ^ m.start ^ m.end << 20 ^ m.offset) * 0x9E3779B97F4A7C15U;
    put_module(m, out);
  });
  const Guard guard(g_lock);
  if (g_fd < 0 && !g_lost && !open_file()) return lose("the run directory cannot be written");
  if (hash == g_modules_seen || g_lost) return;
  g_modules_seen = hash;
  if (!write_whole(out.data(), out.size()) && open_again()) write_whole(out.data(), out.size());
}

const char* directory() { return g_directory; }
bool supervised() { return g_supervised; }
int descriptor() { return __atomic_load_n(&g_fd, __ATOMIC_RELAXED); }
void make_way(int fd) {
  if (!is_ours(fd)) return;
  const Guard guard(g_lock);
  const long other = sys::call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, kHighDescriptor);
  __atomic_store_n(&g_fd, sys::failed(other) ? -1 : static_cast<int>(other), __ATOMIC_RELAXED);
}
bool is_ours(int fd) { return fd >= 0 && fd == __atomic_load_n(&g_fd, __ATOMIC_RELAXED); }

}  // namespace pf::rt::output
