#include "trace/reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>

#include "trace/codec.h"
#include "trace/text.h"

namespace pf {

using namespace format;

namespace {

constexpr std::size_t kBatch = 4096;

// Where the bytes come from.
class Bytes {
 public:
  virtual ~Bytes() = default;
  // Reads up to n bytes; fewer only at the end. Negative: errno says why.
  virtual ssize_t read(char* to, std::size_t n) = 0;
  virtual bool seek(uint64_t offset) = 0;
  virtual uint64_t size() const = 0;  // 0 if unknown
};

class FileBytes final : public Bytes {
 public:
  explicit FileBytes(int fd) : fd_(fd) {
    struct stat info{};
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) size_ = static_cast<uint64_t>(info.st_size);
  }
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;
  ~FileBytes() override { close(fd_); }

  ssize_t read(char* to, std::size_t n) override {
    std::size_t done = 0;
    while (done < n) {
      const ssize_t got = ::read(fd_, to + done, n - done);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return got;
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return static_cast<ssize_t>(done);
  }
  bool seek(uint64_t offset) override { return lseek(fd_, static_cast<off_t>(offset), SEEK_SET) >= 0; }
  uint64_t size() const override { return size_; }

 private:
  int fd_;
  uint64_t size_ = 0;
};

class MemoryBytes final : public Bytes {
 public:
  explicit MemoryBytes(std::string bytes) : bytes_(std::move(bytes)) {}
  ssize_t read(char* to, std::size_t n) override {
    n = std::min(n, bytes_.size() - at_);
    std::memcpy(to, bytes_.data() + at_, n);
    at_ += n;
    return static_cast<ssize_t>(n);
  }
  bool seek(uint64_t offset) override {
    at_ = std::min<uint64_t>(offset, bytes_.size());
    return true;
  }
  uint64_t size() const override { return bytes_.size(); }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

class BinaryReader final : public TraceSource {
 public:
  BinaryReader(std::string name, std::unique_ptr<Bytes> bytes, OpenOptions options, bool trust_checksums)
      : name_(std::move(name)), bytes_(std::move(bytes)), options_(options), trust_checksums_(trust_checksums) {
    batch_.resize(kBatch);
  }

  Result<std::span<const Event>> next() override {
    for (;;) {
      while (decoder_.left() == 0) {
        if (ended_) return std::span<const Event>{};
        const Status read = salvageable(read_block());
        if (!read) return read.error();
      }
      const Result<std::size_t> n = decoder_.next(batch_);
      if (!n) {
        const Status status = salvageable(damaged(n.error().message));
        if (!status) return status.error();
        continue;
      }
      const std::size_t skipped = std::min<uint64_t>(skip_, *n);
      skip_ -= skipped;
      batch_first_ = events_read_ + skipped;
      events_read_ += *n;
      if (skipped != *n) return std::span<const Event>(batch_.data() + skipped, *n - skipped);
    }
  }

  const Dictionary& names() const override { return names_; }
  std::string place(std::size_t in_batch) const override {
    return "event " + std::to_string(batch_first_ + in_batch + 1);
  }
  uint64_t bytes_read() const override { return offset_; }
  uint64_t bytes_total() const override { return bytes_->size(); }
  std::string lost() const override { return lost_; }
  uint64_t nanoseconds() const override { return nanoseconds_; }

  // Reads the tables before the block that holds the event, and goes on from that block.
  Status seek(uint64_t event) override {
    const Result<std::vector<IndexEntry>> index = read_index();
    if (!index && (!options_.salvage || !header_read_)) return index.error();
    if (!index) {
      skip_ = event;
      return go_to(sizeof(FileHeader));
    }
    for (const IndexEntry& entry : *index) {
      if (entry.kind == BlockKind::Events) {
        events_read_ = entry.first_event;
        if (event - std::min(event, events_read_) < entry.events) {
          skip_ = event - std::min(event, events_read_);
          return go_to(entry.offset);
        }
        continue;
      }
      Status status = go_to(entry.offset);
      if (status) status = read_block();
      if (!status) return salvageable(status);
    }
    ended_ = true;
    return Done{};
  }

 private:
  Error at_offset(const std::string& what, uint64_t offset) const {
    return {name_ + ": " + what + " at offset " + std::to_string(offset)};
  }
  Status damaged(const std::string& what) const { return at_offset(what, block_offset_); }

  // With --salvage, damage is the end of the trace and is told of; without, it is the result.
  Status salvageable(Status status) {
    if (status || !options_.salvage || !header_read_) return status;
    lost_ = status.error().message;
    ended_ = true;
    decoder_ = {};
    return Done{};
  }

  Status read_exactly(char* to, std::size_t n) {
    const ssize_t got = bytes_->read(to, n);
    if (got < 0)
      return Error{name_ + ": cannot read at offset " + std::to_string(offset_) + ": " + std::strerror(errno)};
    offset_ += static_cast<uint64_t>(got);
    if (static_cast<std::size_t>(got) < n) return at_offset("trace is truncated", offset_);
    return Done{};
  }

  Status read_header() {
    FileHeader header{};
    const Status read = read_exactly(reinterpret_cast<char*>(&header), sizeof header);
    if (offset_ == 0 && !read) return Error{name_ + ": file is empty, not a trace"};
    if (std::memcmp(header.magic, kMagic.data(), std::min<std::size_t>(offset_, kMagic.size())) != 0) {
      return Error{name_ + ": not a Photofinish trace (wrong magic at offset 0)"};
    }
    if (!read) return read;
    if (header.version != kVersion) {
      return Error{name_ + ": trace format version " + std::to_string(header.version) +
                   " at offset 8, this program reads version " + std::to_string(kVersion)};
    }
    if (header.zero != 0) return at_offset("wrong header", offsetof(FileHeader, zero));
    header_read_ = true;
    return Done{};
  }

  Status read_block() {
    if (!header_read_) return read_header();
    block_offset_ = offset_;
    BlockHeader header{};
    Status status = read_stored(header);
    if (status) status = unpack(header);
    return status ? use_block(header) : status;
  }

  Status read_stored(BlockHeader& header) {
    const Status status = read_exactly(reinterpret_cast<char*>(&header), sizeof header);
    if (!status) return status;
    if (header.magic != kBlockMagic) return damaged("not a block");
    const uint64_t size = bytes_->size();
    if (header.raw_bytes > kMaxBlockBytes || header.stored_bytes > ZSTD_compressBound(kMaxBlockBytes)) {
      return damaged("block of impossible size");
    }
    if (size != 0 && header.stored_bytes > size - std::min(size, offset_)) return at_offset("trace is truncated", size);
    stored_.resize(header.stored_bytes);
    return read_exactly(stored_.data(), stored_.size());
  }

  // Nothing of a block is believed before this.
  Status unpack(BlockHeader header) {
    const uint64_t expected = std::exchange(header.checksum, 0);
    const uint64_t found = XXH3_64bits_withSeed(stored_.data(), stored_.size(), XXH3_64bits(&header, sizeof header));
    if (found != expected && !trust_checksums_) return damaged("block with a wrong checksum");
    raw_.resize(header.raw_bytes + kPadding);
    const std::size_t n = ZSTD_decompress(raw_.data(), header.raw_bytes, stored_.data(), stored_.size());
    if (ZSTD_isError(n) != 0 || n != header.raw_bytes) return damaged("block that does not decompress");
    std::fill(raw_.end() - static_cast<ptrdiff_t>(kPadding), raw_.end(), '\0');
    return Done{};
  }

  Status use_block(const BlockHeader& header) {
    const std::string_view payload(raw_.data(), header.raw_bytes);
    Status status = Done{};
    switch (header.kind) {
      case BlockKind::Tables: status = decode_tables(payload, names_); break;
      case BlockKind::Events:
        if (header.first_event != events_read_) return damaged("events block out of order");
        nanoseconds_ = header.nanoseconds;
        status = decoder_.open(payload, header.events, names_);
        break;
      case BlockKind::Index: return read_trailer();
      default: return damaged("block of unknown kind");
    }
    return status ? status : damaged(status.error().message);
  }

  Status read_trailer() {
    const uint64_t index_offset = block_offset_;
    block_offset_ = offset_;
    Trailer trailer{};
    const Status status = read_exactly(reinterpret_cast<char*>(&trailer), sizeof trailer);
    if (!status) return status;
    const bool good = std::memcmp(trailer.magic, kEndMagic.data(), kEndMagic.size()) == 0 &&
                      trailer.index_offset == index_offset && trailer.events == events_read_;
    if (!good) return damaged("wrong trailer");
    char more = 0;
    if (bytes_->read(&more, 1) != 0) return at_offset("bytes after the end of the trace", offset_);
    ended_ = true;
    return Done{};
  }

  // --- seeking ---

  Status go_to(uint64_t offset) {
    offset_ = offset;
    if (!bytes_->seek(offset)) return Error{name_ + ": cannot seek"};
    return Done{};
  }

  Result<std::vector<IndexEntry>> read_index() {
    Status status = go_to(0);
    if (status) status = read_header();
    if (!status) return status.error();
    const uint64_t size = bytes_->size();
    Trailer trailer{};
    if (size < sizeof(FileHeader) + sizeof trailer) return at_offset("trace is truncated", size);
    status = go_to(size - sizeof trailer);
    if (status) status = read_exactly(reinterpret_cast<char*>(&trailer), sizeof trailer);
    if (!status) return status.error();
    if (std::memcmp(trailer.magic, kEndMagic.data(), kEndMagic.size()) != 0) {
      return at_offset("trace is truncated", size);
    }
    return read_index_block(trailer.index_offset);
  }

  Result<std::vector<IndexEntry>> read_index_block(uint64_t at) {
    BlockHeader header{};
    block_offset_ = at;
    Status status = go_to(at);
    if (status) status = read_stored(header);
    if (status && (header.kind != BlockKind::Index || header.raw_bytes % sizeof(IndexEntry) != 0)) {
      status = damaged("no index");
    }
    if (status) status = unpack(header);
    if (!status) return status.error();
    std::vector<IndexEntry> index(header.raw_bytes / sizeof(IndexEntry));
    if (!index.empty()) std::memcpy(index.data(), raw_.data(), header.raw_bytes);
    return index;
  }

  std::string name_;
  std::unique_ptr<Bytes> bytes_;
  OpenOptions options_;
  bool trust_checksums_;
  Dictionary names_;
  BlockDecoder decoder_;
  std::vector<Event> batch_;
  std::string stored_, raw_, lost_;
  uint64_t offset_ = 0, block_offset_ = 0;
  uint64_t events_read_ = 0, batch_first_ = 0, nanoseconds_ = 0, skip_ = 0;
  bool header_read_ = false, ended_ = false;
};

bool has_magic(int fd) {
  char start[8] = {};
  return pread(fd, start, sizeof start, 0) == sizeof start && std::string_view(start, sizeof start) == kMagic;
}

}  // namespace

Result<std::unique_ptr<TraceSource>> open_binary_trace(const std::string& path, OpenOptions options) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Error{"cannot read " + path + ": " + std::strerror(errno)};
  return std::unique_ptr<TraceSource>(
      std::make_unique<BinaryReader>(path, std::make_unique<FileBytes>(fd), options, false));
}

std::unique_ptr<TraceSource> read_binary_trace(std::string bytes, OpenOptions options, bool trust_checksums) {
  return std::make_unique<BinaryReader>("memory", std::make_unique<MemoryBytes>(std::move(bytes)), options,
                                        trust_checksums);
}

Result<std::unique_ptr<TraceSource>> open_trace(const std::string& path, OpenOptions options) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Error{"cannot read " + path + ": " + std::strerror(errno)};
  struct stat info{};
  const bool folder = fstat(fd, &info) == 0 && S_ISDIR(info.st_mode);
  const bool binary = has_magic(fd);
  close(fd);
  if (folder) return Error{"cannot read " + path + ": it is a folder"};
  const Result<TraceName> name = parse_trace_name(path);
  if (binary || (name && name->format == TraceFormat::Binary)) return open_binary_trace(path, options);
  return open_text_trace(path, name && name->format == TraceFormat::Std);
}

}  // namespace pf
