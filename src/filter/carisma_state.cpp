#include "filter/carisma_state.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "core/hash.h"

namespace pf {
namespace {

constexpr char kMagic[8] = {'P', 'F', 'C', 'A', 'R', 'I', 'S', '1'};

struct Header {
  char magic[8];
  uint64_t checksum;  // of all that follows
  uint32_t unit;
  uint32_t zero;
  uint64_t trials;
};
struct Record {
  uint64_t context, samples, rates;
};
static_assert(sizeof(Header) == 32 && sizeof(Record) == 24);
constexpr std::size_t kChecked = offsetof(Header, unit);  // from here on

class File {
 public:
  File(const std::string& path, int flags) : fd_(open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  File(File&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  File& operator=(File&&) = delete;
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  bool is_open() const { return fd_ >= 0; }
  int fd() const { return fd_; }

 private:
  int fd_;
};

Error failed(const std::string& what, const std::string& path) {
  return {"cannot " + what + " " + path + ": " + std::strerror(errno)};
}

Result<std::string> read_all(const File& file, const std::string& path) {
  std::string bytes;
  char buffer[16384];
  for (;;) {
    const ssize_t n = read(file.fd(), buffer, sizeof buffer);
    if (n == 0) return bytes;
    if (n > 0) {
      bytes.append(buffer, static_cast<std::size_t>(n));
    } else if (errno != EINTR) {
      return failed("read", path);
    }
  }
}

Status write_all(const File& file, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t n = write(file.fd(), bytes.data(), bytes.size());
    if (n < 0 && errno != EINTR) return failed("write", path);
    if (n > 0) bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return Done{};
}

// The file under its lock. Whoever had the lock before has put another file in its place, so the lock is tried until it is that of the
// file by this name.
Result<File> lock(const std::string& path) {
  for (;;) {
    File file(path, O_RDWR | O_CREAT);
    if (!file.is_open()) return failed("open", path);
    while (flock(file.fd(), LOCK_EX) != 0) {
      if (errno != EINTR) return failed("lock", path);
    }
    struct stat ours{}, named{};
    if (fstat(file.fd(), &ours) != 0) return failed("look at", path);
    if (stat(path.c_str(), &named) == 0 && named.st_ino == ours.st_ino && named.st_dev == ours.st_dev) return file;
  }
}

// The temporary file has one name, for only who has the lock writes it; one that a killed process left is written over.
Status replace(const std::string& path, std::string_view bytes) {
  const std::string temporary = path + ".new";
  const File file(temporary, O_WRONLY | O_CREAT | O_TRUNC);
  if (!file.is_open()) return failed("write", temporary);
  if (const Status written = write_all(file, bytes, temporary); !written) return written;
  if (fsync(file.fd()) != 0) return failed("write", temporary);
  if (rename(temporary.c_str(), path.c_str()) != 0) return failed("replace", path);
  const std::size_t slash = path.rfind('/');
  const File folder(slash == path.npos ? "." : path.substr(0, slash + 1), O_RDONLY);
  if (folder.is_open()) fsync(folder.fd());  // for the name; some file systems cannot
  return Done{};
}

}  // namespace

void CarismaState::add(const CarismaState& other) {
  trials += other.trials;
  for (const auto& [context, sums] : other.contexts) {
    contexts[context].samples += sums.samples;
    contexts[context].rates += sums.rates;
  }
}

std::map<uint64_t, uint64_t> CarismaState::next_rates(const CarismaLaw& law) const {
  const auto share = [](uint64_t parts) { return static_cast<double>(parts) * 0x1p-32; };
  std::vector<ContextSums> sums;
  sums.reserve(contexts.size());
  for (const auto& [id, known] : contexts) sums.push_back(known);
  const bool by_access = law.strategy == CarismaStrategy::Aas;  // which can go below the least rate of locations
  const std::vector<double> shares = context_rates(sums, share(law.rate), by_access ? 0 : share(law.min));
  std::map<uint64_t, uint64_t> rates;
  std::size_t i = 0;
  for (const auto& [id, known] : contexts) rates[id] = nearest_whole(shares[i++] * 0x1p32);
  return rates;
}

// An empty file is one that was made to be locked, and not written yet.
Result<CarismaState> decode_state(std::string_view bytes, SampleUnit unit, const std::string& path) {
  CarismaState state;
  if (bytes.empty()) return state;
  Header header{};
  const bool whole = bytes.size() >= sizeof header && (bytes.size() - sizeof header) % sizeof(Record) == 0;
  if (whole) std::memcpy(&header, bytes.data(), sizeof header);
  if (!whole || std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) {
    return Error{path + " is no state of carisma"};
  }
  if (header.checksum != hash_bytes(bytes.substr(kChecked))) return Error{path + " is damaged"};
  if (header.unit != static_cast<uint32_t>(unit)) {
    return Error{path + " was made with another strategy: cls counts locations, fls and aas count writes"};
  }
  state.trials = header.trials;
  for (bytes.remove_prefix(sizeof header); !bytes.empty(); bytes.remove_prefix(sizeof(Record))) {
    Record r{};
    std::memcpy(&r, bytes.data(), sizeof r);
    state.contexts[r.context] = {r.samples, r.rates};
  }
  return state;
}

std::string encode_state(const CarismaState& state, SampleUnit unit) {
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.unit = static_cast<uint32_t>(unit);
  header.trials = state.trials;
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  for (const auto& [context, sums] : state.contexts) {
    const Record r{context, sums.samples, sums.rates};
    bytes.append(reinterpret_cast<const char*>(&r), sizeof r);
  }
  return with_checksum(std::move(bytes));
}

std::string with_checksum(std::string bytes) {
  if (bytes.size() < sizeof(Header)) return bytes;
  const uint64_t checksum = hash_bytes(std::string_view(bytes).substr(kChecked));
  std::memcpy(bytes.data() + offsetof(Header, checksum), &checksum, sizeof checksum);
  return bytes;
}

Result<CarismaState> load_state(const std::string& path, SampleUnit unit) {
  const File file(path, O_RDWR | O_CREAT);  // where it cannot be written, it is told now, not after the trial
  if (!file.is_open()) return failed("open", path);
  const Result<std::string> bytes = read_all(file, path);
  if (!bytes) return bytes.error();
  return decode_state(*bytes, unit, path);
}

Status add_trial(const std::string& path, SampleUnit unit, const CarismaState& trial) {
  const Result<File> locked = lock(path);
  if (!locked) return locked.error();
  const Result<std::string> bytes = read_all(*locked, path);
  if (!bytes) return bytes.error();
  Result<CarismaState> state = decode_state(*bytes, unit, path);
  if (!state) return state.error();
  state->add(trial);
  return replace(path, encode_state(*state, unit));
}

}  // namespace pf
