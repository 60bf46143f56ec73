#include "trace/recording.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

namespace pf {

using namespace recording;

namespace {

namespace fs = std::filesystem;

// A window's file, mapped while this lives.
class Window {
 public:
  explicit Window(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    struct stat status{};
    if (fstat(fd, &status) == 0 && status.st_size >= static_cast<off_t>(sizeof(WindowHeader))) {
      bytes_ = static_cast<std::size_t>(status.st_size);
      void* p = mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, fd, 0);
      data_ = p == MAP_FAILED ? nullptr : static_cast<const char*>(p);
    }
    close(fd);
  }
  ~Window() {
    if (data_ != nullptr) munmap(const_cast<char*>(data_), bytes_);
  }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  const WindowHeader* header() const {
    const auto* header = reinterpret_cast<const WindowHeader*>(data_);
    return header != nullptr && header->magic == kMagic ? header : nullptr;
  }
  const uint64_t* begin() const { return reinterpret_cast<const uint64_t*>(data_ + sizeof(WindowHeader)); }
  const uint64_t* end() const { return reinterpret_cast<const uint64_t*>(data_ + bytes_ / 8 * 8); }
  std::size_t bytes() const { return bytes_; }

 private:
  const char* data_ = nullptr;
  std::size_t bytes_ = 0;
};

struct WindowName {
  uint32_t thread, sequence;
};
std::optional<WindowName> parse_window_name(const std::string& name) {
  constexpr std::string_view kPrefix = "window.";
  if (!name.starts_with(kPrefix)) return {};
  WindowName parsed{};
  const char* end = name.data() + name.size();
  const auto thread = std::from_chars(name.data() + kPrefix.size(), end, parsed.thread);
  if (thread.ec != std::errc{} || thread.ptr == end || *thread.ptr != '.') return {};
  const auto sequence = std::from_chars(thread.ptr + 1, end, parsed.sequence);
  return sequence.ec == std::errc{} && sequence.ptr == end ? std::optional(parsed) : std::nullopt;
}

uint32_t size_of(uint64_t code) { return code == 0 || code > 5 ? 0 : 1U << (code - 1); }

// Nothing if these are no words of a record.
std::optional<RecordedEvent> decode(const uint64_t* words) {
  const uint64_t first = words[0], op = (first >> kOpShift & 31) - 1, order = first >> kOrderShift & 7;
  if (op >= kOps || order >= kMemoryOrders) return {};
  RecordedEvent r;
  Event& e = r.event;
  e.op = static_cast<Op>(op);
  e.target = has_operand(e.op) ? first & kTargetMask : 0;
  e.order = has_order(e.op) ? static_cast<MemoryOrder>(order) : MemoryOrder::SeqCst;
  r.pc = words[1] & kTargetMask;
  const uint64_t* more = words + 2;
  const uint64_t extent = (first & kHasExtent) != 0 ? *more++ : size_of(first >> kSizeShift & 7);
  if (is_access(e.op)) e.size = static_cast<uint32_t>(std::min<uint64_t>(extent, UINT32_MAX));
  if (has_extent(e.op)) {
    e.value = extent;
  } else if ((first & kHasValue) != 0) {
    e.has_value = true;
    e.value = *more;
  }
  return r;
}

}  // namespace

// The windows of a thread, one after the other.
class Recording::Reader {
 public:
  Reader(std::string stem, uint32_t thread) : stem_(std::move(stem)), thread_(thread) {}

  void add(uint32_t sequence) { sequences_.push_back(sequence); }
  uint32_t thread() const { return thread_; }

  // From the first one after which none is missing. All that happened up to the result is not complete.
  uint64_t settle_beginning() {
    std::ranges::sort(sequences_);
    auto first = sequences_.end();
    while (first != sequences_.begin() && (first == sequences_.end() || *std::prev(first) + 1 == *first)) --first;
    sequences_.erase(sequences_.begin(), first);
    if (sequences_.empty() || sequences_.front() == 0) return 0;
    const Window window(path(sequences_.front()));
    return window.header() != nullptr ? window.header()->previous : 0;
  }

  void rewind() {
    next_ = 0;
    window_.reset();
    at_ = end_ = nullptr;
  }

  // Goes to the next record; false at the end.
  bool advance(Recording& all) {
    for (;;) {
      if (at_ == end_ || *at_ == 0) {
        if (!open_next(all)) return false;
        continue;
      }
      if (*at_ == kIsStamp && end_ - at_ >= 2) {
        stamp_ = at_[1];
        at_ += 2;
        continue;
      }
      const auto length = static_cast<std::ptrdiff_t>(words(*at_));
      const std::optional<RecordedEvent> decoded = length <= end_ - at_ ? decode(at_) : std::nullopt;
      if (!decoded) {
        ++all.damaged_;
        at_ = end_;
        next_ = sequences_.size();
        continue;
      }
      current_ = *decoded;
      current_.event.thread = ThreadId{thread_};
      stamp_ += at_[1] >> kStepShift;
      at_ += length;
      return true;
    }
  }
  uint64_t stamp() const { return stamp_; }
  const RecordedEvent& current() const { return current_; }

 private:
  std::string path(uint32_t sequence) const { return stem_ + std::to_string(sequence); }

  bool open_next(Recording& all) {
    window_.reset();
    at_ = end_ = nullptr;
    if (next_ == sequences_.size()) return false;
    window_ = std::make_unique<Window>(path(sequences_[next_++]));
    all.read_ += window_->bytes();
    if (window_->header() == nullptr) return true;  // the process ended just then
    stamp_ = window_->header()->stamp;
    at_ = window_->begin();
    end_ = window_->end();
    return true;
  }

  std::string stem_;
  uint32_t thread_;
  std::vector<uint32_t> sequences_;
  std::size_t next_ = 0;
  std::unique_ptr<Window> window_;
  const uint64_t* at_ = nullptr;
  const uint64_t* end_ = nullptr;
  uint64_t stamp_ = 0;
  RecordedEvent current_;
};

Recording::Recording() = default;
Recording::Recording(Recording&&) noexcept = default;
Recording::~Recording() = default;

Result<Recording> Recording::open(const std::string& directory) {
  Recording recording;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
    const std::optional<WindowName> name = parse_window_name(entry.path().filename());
    if (!name) continue;
    std::unique_ptr<Reader>& reader = recording.readers_[name->thread];
    if (!reader) {
      const std::string stem = directory + "/window." + std::to_string(name->thread) + ".";
      reader = std::make_unique<Reader>(stem, name->thread);
    }
    reader->add(name->sequence);
    recording.total_ += entry.file_size(error);
  }
  if (error) return Error{directory + ": " + error.message()};
  for (const auto& [thread, reader] : recording.readers_)
    recording.cut_ = std::max(recording.cut_, reader->settle_beginning());
  recording.rewind();
  return recording;
}

void Recording::rewind() {
  turns_ = {};
  read_ = damaged_ = 0;
  for (const auto& [thread, reader] : readers_) {
    reader->rewind();
    enqueue(*reader);
  }
}

void Recording::enqueue(Reader& reader) {
  while (reader.advance(*this)) {
    if (reader.stamp() <= cut_) continue;
    turns_.push({reader.stamp(), reader.thread(), &reader});
    return;
  }
}

bool Recording::next(RecordedEvent& out) {
  if (turns_.empty()) return false;
  Reader& reader = *turns_.top().reader;
  out = reader.current();
  const uint64_t stamp = reader.stamp();
  if (reader.advance(*this)) {
    if (reader.stamp() == stamp) return true;  // it stays first
    turns_.pop();
    turns_.push({reader.stamp(), reader.thread(), &reader});
  } else {
    turns_.pop();
  }
  return true;
}

// --- a cut recording ---

std::vector<Event> begun_before(Recording& recording) {
  std::vector<Event> locks, waits;
  std::map<std::tuple<ThreadId, Op, uint64_t>, uint64_t> open;  // what began after the cut, by what began it
  const auto end = [&](const Event& e, Op beginning) {
    const auto found = open.find({e.thread, beginning, e.target});
    if (found != open.end() && found->second != 0) {
      --found->second;
      return;
    }
    Event event;
    event.op = beginning;
    event.thread = e.thread;
    event.target = e.target;
    (beginning == Op::Wait || beginning == Op::BarrierEnter ? waits : locks).push_back(event);
    if (beginning != Op::MissingBegin) return;
    event.op = Op::Reach;  // of such a call nobody knows what it may touch
    event.target = 0;
    event.value = uint64_t{1} << 47;
    locks.push_back(event);
  };
  for (RecordedEvent r; recording.next(r);) {
    switch (r.event.op) {
      case Op::Acquire:
      case Op::ReadAcquire:
      case Op::Wait:
      case Op::BarrierEnter: ++open[{r.event.thread, r.event.op, r.event.target}]; break;
      case Op::MissingBegin: ++open[{r.event.thread, r.event.op, 0}]; break;
      case Op::MissingEnd: end(r.event, Op::MissingBegin); break;
      case Op::Release: end(r.event, Op::Acquire); break;
      case Op::ReadRelease: end(r.event, Op::ReadAcquire); break;
      case Op::Wake: end(r.event, Op::Wait); break;
      case Op::BarrierLeave: end(r.event, Op::BarrierEnter); break;
      default: break;
    }
  }
  locks.insert(locks.end(), waits.begin(), waits.end());  // a thread that waits does nothing more
  return locks;
}

// --- tidying ---

void Tidier::add(const Event& event, std::vector<Event>& out) {
  if (event.op == Op::Alloc) return begin_block(event, out);
  if (event.op == Op::Free) return end_block(event, out);
  Event part = event;
  if (is_access(event.op) && event.size > kMaxAccessSize) {
    for (uint64_t done = 0; done < event.size; done += kMaxAccessSize) {
      part.target = event.target + done;
      part.size = static_cast<uint32_t>(std::min<uint64_t>(kMaxAccessSize, event.size - done));
      out.push_back(part);
    }
    return;
  }
  out.push_back(part);
}

// The first live block that ends beyond `begin`.
Tidier::Blocks::iterator Tidier::first_over(uint64_t begin) {
  auto it = live_.upper_bound(begin);
  if (it != live_.begin() && std::prev(it)->second > begin) --it;
  return it;
}

// Live blocks that it meets are over, and what is left of them begins anew with it: better a history less than one too many.
void Tidier::begin_block(const Event& event, std::vector<Event>& out) {
  uint64_t begin = event.target, end = begin + event.value;
  for (auto it = first_over(begin); it != live_.end() && it->first < end; it = live_.erase(it)) {
    begin = std::min(begin, it->first);
    end = std::max(end, it->second);
  }
  live_.emplace(begin, end);
  out.push_back(event);
  out.back().target = begin;
  out.back().value = end - begin;
}

// Of several blocks, or of one that is not known, all that is inside. Of a part of a block nothing: the rest lives on.
void Tidier::end_block(const Event& event, std::vector<Event>& out) {
  const uint64_t end = event.target + event.value;
  auto it = first_over(event.target);
  if (it == live_.end() || it->first >= end) return out.push_back(event);
  while (it != live_.end() && it->first < end) {
    if (it->first < event.target || it->second > end) {
      ++it;
      continue;
    }
    out.push_back(event);
    out.back().target = it->first;
    out.back().value = it->second - it->first;
    it = live_.erase(it);
  }
}

}  // namespace pf
