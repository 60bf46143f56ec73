// Binary traces: any bytes are events or an error, and whatever events come out, a detector takes them.
//
// Compression and column lengths hide what is inside from a fuzzer, so the input is a recipe by which valid parts are
// put together, or is the file itself:
//
//   flags     1 byte: 1 = the file itself follows, 2 = salvage, 4 = seek, 8 = no index and trailer
//   engine    1 byte: which of the catalog
//   blocks    each a kind byte, then
//     0  tables        length (2 bytes), payload
//     1  columns       events (1 byte), ops, control, as many target and site bytes as control announces,
//                      then threads and extras, each with a length of 1 byte
//     2  events        events (1 byte), length (2 bytes), payload
//     3  index         length (2 bytes), payload
//     4  not zstd      length (2 bytes), the stored bytes
#include <zstd.h>

#include <algorithm>

#include "expect.h"
#include "offline/catalog.h"
#include "trace/check.h"
#include "trace/codec.h"
#include "trace/reader.h"
#include "trace/text.h"

namespace pf {
namespace {

using namespace format;

constexpr uint8_t kFileFlag = 1, kSalvageFlag = 2, kSeekFlag = 4, kUnfinishedFlag = 8;

// One run must be quick: how many events, and bytes that they touch, it may take.
constexpr std::size_t kMaxEvents = 3000, kMaxBytes = std::size_t{1} << 18;

class Recipe {
 public:
  explicit Recipe(std::string_view bytes) : rest_(bytes) {}
  bool more() const { return !rest_.empty(); }
  // Zeros once the input is used up.
  uint8_t byte() { return static_cast<uint8_t>(take(1)[0]); }
  std::size_t length() { return byte() | std::size_t{byte()} << 8; }
  std::string take(std::size_t n) {
    std::string part(rest_.substr(0, n));
    rest_.remove_prefix(part.size());
    part.resize(n);
    return part;
  }
  std::string rest() { return take(rest_.size()); }

 private:
  std::string_view rest_;
};

template <class T>
void append(std::string& out, const T& object) {
  out.append(reinterpret_cast<const char*>(&object), sizeof object);
}

std::string columns(Recipe& recipe, uint8_t events) {
  std::string column[kColumns];
  column[Ops] = recipe.take(events);
  column[Control] = recipe.take(events);
  std::size_t targets = 0, sites = 0;
  for (const char c : column[Control]) {
    targets += kTargetBytes[static_cast<uint8_t>(c) & 7];
    sites += kSiteBytes[static_cast<uint8_t>(c) >> 3 & 3];
  }
  column[Targets] = recipe.take(targets);
  column[Sites] = recipe.take(sites);
  column[Threads] = recipe.take(recipe.byte());
  column[Extras] = recipe.take(recipe.byte());
  std::string payload;
  for (const std::string& c : column) append(payload, static_cast<uint32_t>(c.size()));
  for (const std::string& c : column) payload += c;
  return payload;
}

class FileBuilder {
 public:
  FileBuilder() {
    FileHeader header{{}, kVersion, 0};
    std::memcpy(header.magic, kMagic.data(), kMagic.size());
    append(file_, header);
  }

  void add(Recipe& recipe) {
    const unsigned way = recipe.byte() % 5;
    const uint8_t events = way == 1 || way == 2 ? recipe.byte() : 0;
    const std::string payload = way == 1 ? columns(recipe, events) : recipe.take(recipe.length());
    switch (way) {
      case 0: add_block(BlockKind::Tables, payload, 0); break;
      case 1:
      case 2: add_block(BlockKind::Events, payload, events); break;
      case 3: add_block(BlockKind::Index, payload, 0); break;
      default: add_stored(BlockKind::Tables, payload, 64, 0);
    }
  }

  std::string finish() {
    Trailer trailer{file_.size(), events_, {}};
    std::string entries;
    for (const IndexEntry& e : index_) append(entries, e);
    add_block(BlockKind::Index, entries, 0);
    std::memcpy(trailer.magic, kEndMagic.data(), kEndMagic.size());
    append(file_, trailer);
    return file_;
  }

  const std::string& unfinished() const { return file_; }

 private:
  void add_block(BlockKind kind, const std::string& payload, uint32_t events) {
    std::string stored(ZSTD_compressBound(payload.size()), '\0');
    stored.resize(ZSTD_compress(stored.data(), stored.size(), payload.data(), payload.size(), 1));
    add_stored(kind, stored, payload.size(), events);
  }

  void add_stored(BlockKind kind, const std::string& stored, std::size_t raw_bytes, uint32_t events) {
    if (kind != BlockKind::Index) index_.push_back({file_.size(), events_, 0, events, kind});
    append(file_, BlockHeader{kBlockMagic, kind, static_cast<uint32_t>(raw_bytes), static_cast<uint32_t>(stored.size()),
                              events_, events, 0, 0, 0});
    file_ += stored;
    events_ += events;
  }

  std::string file_;
  std::vector<IndexEntry> index_;
  uint64_t events_ = 0;
};

// A file that claims to be much larger than it is costs memory and time, and shows nothing new.
bool is_modest(const std::string& file) {
  for (std::size_t at = sizeof(FileHeader); at + sizeof(BlockHeader) <= file.size();) {
    BlockHeader header{};
    std::memcpy(&header, file.data() + at, sizeof header);
    if (header.raw_bytes > std::size_t{1} << 16) return false;
    at += sizeof header + header.stored_bytes;
  }
  return true;
}

std::size_t touched_bytes(std::span<const Event> events) {
  std::size_t bytes = 0;
  for (const Event& e : events) bytes += e.size;
  return bytes;
}

// A detector, or a filter with one behind it.
struct Stages {
  explicit Stages(const EngineInfo* info) {
    if (info->kind == StageKind::Filter) filter = make_filter({info, {}});
    Options options;
    if (info->kind == StageKind::Predictor) options = {{"jobs", "1"}, {"window", "50"}};
    detector = make_detector({filter != nullptr || !info->offline ? offline_catalog().front() : info, options});
  }
  void process(std::span<const Event> batch) const {
    detector->process(filter != nullptr ? filter->pass(batch) : batch);
  }

  std::unique_ptr<FilterStage> filter;
  std::unique_ptr<DetectorStage> detector;
};

void read(TraceSource& source, Stages& stages) {
  Checker checker;
  std::size_t events = 0, bytes = 0;
  for (;;) {
    const Result<std::span<const Event>> batch = source.next();
    if (!batch) {
      PF_EXPECT(!batch.error().message.empty());
      return;
    }
    if (batch->empty()) break;
    for (const Event& e : *batch) {
      PF_EXPECT(!format_event(e, source.names()).empty());
      if (const auto fault = checker.next(e)) PF_EXPECT(!fault->empty());
    }
    events += batch->size();
    bytes += touched_bytes(*batch);
    if (events > kMaxEvents || bytes > kMaxBytes) return;
    stages.process(*batch);
  }
  const Findings findings = stages.detector->findings();
  PF_EXPECT(findings.dynamic_races >= findings.races.size());
}

}  // namespace
}  // namespace pf

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  using namespace pf;
  Recipe recipe({reinterpret_cast<const char*>(data), size});
  const uint8_t flags = recipe.byte();
  const Catalog catalog = offline_catalog();
  Stages stages(catalog[recipe.byte() % catalog.size()]);
  std::string file;
  if ((flags & kFileFlag) != 0) {
    file = recipe.rest();
  } else {
    FileBuilder builder;
    while (recipe.more()) builder.add(recipe);
    file = (flags & kUnfinishedFlag) != 0 ? builder.unfinished() : builder.finish();
  }
  if (!is_modest(file)) return 0;
  const auto source = read_binary_trace(std::move(file), {.salvage = (flags & kSalvageFlag) != 0}, true);
  if ((flags & kSeekFlag) != 0 && !source->seek(flags >> 4)) return 0;
  read(*source, stages);
  return 0;
}
