#include "trace/codec.h"

#include <algorithm>
#include <limits>

namespace pf {

using namespace format;

namespace {

void put_number(std::string& out, uint64_t n) {
  for (; n >= 0x80; n >>= 7) out.push_back(static_cast<char>(n | 0x80));
  out.push_back(static_cast<char>(n));
}

bool get_number(const uint8_t*& at, const uint8_t* end, uint64_t& n) {
  n = 0;
  for (unsigned shift = 0; shift < 64 && at != end; shift += 7) {
    const uint8_t byte = *at++;
    n |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

void put_bytes(std::string& out, uint64_t n, std::size_t bytes) {
  char raw[8];
  std::memcpy(raw, &n, 8);
  out.append(raw, bytes);
}

template <class T = uint64_t>
T load(const uint8_t* at) {
  T n = 0;
  std::memcpy(&n, at, sizeof n);
  return n;
}

constexpr unsigned target_code(uint64_t z) {
  unsigned code = 0;
  while (code < 7 && z >> (8 * kTargetBytes[code]) != 0) ++code;
  return code;
}
constexpr unsigned site_code(uint64_t z) {
  unsigned code = 0;
  while (code < 3 && z >> (8 * kSiteBytes[code]) != 0) ++code;
  return code;
}

constexpr std::size_t kTablesBytes = kMaxBlockBytes / 4;  // when to end a tables block; the last name may exceed it

constexpr bool targets_memory(Op op) { return op <= Op::Free || op == Op::Reach; }
constexpr uint8_t usual_size(Op op) { return is_access(op) ? kVariableSize : 0; }

// What the low five bits of a control byte say, by those bits.
struct Widths {
  uint64_t target_mask;
  uint32_t site_mask;
  uint8_t target_bytes, site_bytes;
};
constexpr auto kWidths = [] {
  std::array<Widths, 32> widths{};
  for (unsigned c = 0; c < widths.size(); ++c) {
    const uint8_t target = kTargetBytes[c & 7], site = kSiteBytes[c >> 3];
    widths[c] = {target == 0 ? 0 : ~uint64_t{0} >> (64 - 8 * target),
                 static_cast<uint32_t>((uint64_t{1} << 8 * site) - 1), target, site};
  }
  return widths;
}();

// What an operation says, by its code.
struct Shape {
  uint8_t memory;  // 1 if its target is memory, else 0
  uint8_t size;
  bool unusual;  // there is more to check
};
constexpr auto kShapes = [] {
  std::array<Shape, kOpMask + 1> shapes{};
  for (unsigned i = 0; i < shapes.size(); ++i) {
    const auto op = static_cast<Op>(i);
    shapes[i] = {targets_memory(op), usual_size(op), i >= kOps || op == Op::Fork || op == Op::Join};
  }
  return shapes;
}();

// kTargetBytes and kSiteBytes without a table, for vector instructions.
constexpr unsigned target_bytes(unsigned c) { return (c & 7) + ((c & 7) == 7 ? 1 : 0); }
constexpr unsigned site_bytes(unsigned c) { return (c >> 3 & 3) + ((c >> 3 & 3) == 3 ? 1 : 0); }
static_assert([] {
  for (unsigned c = 0; c < 256; ++c) {
    if (target_bytes(c) != kTargetBytes[c & 7] || site_bytes(c) != kSiteBytes[c >> 3 & 3]) return false;
  }
  return true;
}());

// Bytes of all target and site deltas that a control column announces.
std::pair<uint64_t, uint64_t> announced(const uint8_t* at, const uint8_t* end) {
  uint64_t targets = 0, sites = 0;
  while (at != end) {
    const uint8_t* stop = at + std::min<std::ptrdiff_t>(end - at, 4096);
    uint16_t t = 0, s = 0;  // up to 4096 * 8
    for (; at != stop; ++at) {
      t = static_cast<uint16_t>(t + target_bytes(*at));
      s = static_cast<uint16_t>(s + site_bytes(*at));
    }
    targets += t;
    sites += s;
  }
  return {targets, sites};
}

}  // namespace

// --- events ---

void BlockEncoder::add(const Event& e) {
  auto op = static_cast<uint8_t>(e.op);
  const uint32_t thread = index(e.thread);
  if (thread != thread_) {
    op |= kNewThread;
    put_number(columns_[Threads], thread);
    thread_ = thread;
    if (thread >= last_.size()) last_.resize(std::max<std::size_t>(thread + 1, last_.size() * 2));
  }
  if ((is_access(e.op) && e.has_value) || (has_extent(e.op) && e.value != 0)) op |= kHasValue;
  if (is_access(e.op) && e.size != kVariableSize) op |= kHasSize;
  Last& last = last_[thread];
  uint64_t& last_target = targets_memory(e.op) ? last.memory : last.object;
  const uint64_t target = zigzag(e.target - last_target);
  const uint64_t site = zigzag(static_cast<uint64_t>(static_cast<int64_t>(index(e.site)) - last.site));
  const unsigned target_bits = target_code(target), site_bits = site_code(site);
  put_bytes(columns_[Targets], target, kTargetBytes[target_bits]);
  put_bytes(columns_[Sites], site & 0xFFFFFFFF, kSiteBytes[site_bits]);
  columns_[Control].push_back(static_cast<char>(target_bits | site_bits << 3 | static_cast<unsigned>(e.order) << 5));
  columns_[Ops].push_back(static_cast<char>(op));
  if ((op & (kHasValue | kHasSize)) != 0) put_extras(e, op);
  last_target = e.target;
  last.site = index(e.site);
}

void BlockEncoder::put_extras(const Event& e, uint8_t op) {
  if ((op & kHasSize) != 0) put_number(columns_[Extras], e.size);
  if ((op & kHasValue) != 0) put_bytes(columns_[Extras], e.value, 8);
}

std::string BlockEncoder::take() {
  std::string payload;
  for (const std::string& c : columns_) put_bytes(payload, c.size(), 4);
  for (std::string& c : columns_) {
    payload += c;
    c.clear();
  }
  std::ranges::fill(last_, Last{});
  thread_ = ~0U;
  return payload;
}

Status BlockDecoder::open(std::string_view payload, uint32_t events, const Dictionary& names) {
  const auto* at = reinterpret_cast<const uint8_t*>(payload.data());
  const uint8_t* end = at + payload.size();
  constexpr std::size_t kLengths = std::size_t{kColumns} * 4;
  if (payload.size() < kLengths) return Error{"events block is too short"};
  const uint8_t* column = at + kLengths;
  for (unsigned c = 0; c < kColumns; ++c, at += 4) {
    const uint64_t bytes = load(at) & 0xFFFFFFFF;
    if (bytes > static_cast<uint64_t>(end - column)) return Error{"column " + std::to_string(c) + " exceeds its block"};
    at_[c] = column;
    end_[c] = column += bytes;
  }
  if (column != end) return Error{"events block has bytes after its columns"};
  const auto size = [&](Column c) { return static_cast<uint64_t>(end_[c] - at_[c]); };
  if (size(Ops) != events || size(Control) != events) return Error{"events block has a wrong number of events"};
  // With these two sums right, the loop over events needs no check of the two columns.
  const auto [targets, sites] = announced(at_[Control], end_[Control]);
  if (size(Targets) != targets || size(Sites) != sites) return Error{"events block has columns of wrong length"};
  if (events != 0 && (*at_[Ops] & kNewThread) == 0) return Error{"events block begins without a thread"};
  const auto wrong_order = [](uint8_t c) { return c >> 5 >= kMemoryOrders; };
  if (std::any_of(at_[Control], end_[Control], wrong_order)) return Error{"unknown memory order"};
  last_.assign(names.threads().size(), Last{});
  sites_ = static_cast<uint32_t>(names.sites().size());
  left_ = events;
  thread_ = 0;
  return Done{};
}

// Hot: about 70 instructions an event, and no branch but for a new thread and for what is rare.
Result<std::size_t> BlockDecoder::next(std::span<Event> out) {
  const std::size_t n = std::min<std::size_t>(left_, out.size());
  const uint8_t *ops = at_[Ops], *control = at_[Control], *targets = at_[Targets], *sites = at_[Sites];
  uint64_t highest_target = 0;
  uint32_t highest_site = 0;
  Last* last = last_.data() + thread_;
  for (Event& e : out.first(n)) {
    const uint8_t op = *ops++, c = *control++;
    if ((op & kNewThread) != 0) {
      last = next_thread();
      if (last == nullptr) return Error{"event of a thread that is not in the tables"};
    }
    const Shape shape = kShapes[op & kOpMask];
    const Widths& widths = kWidths[c & 31];
    const uint64_t target = last->target[shape.memory] += unzigzag(load(targets) & widths.target_mask);
    const uint32_t site_delta = load<uint32_t>(sites) & widths.site_mask;
    const uint32_t site = last->site += site_delta >> 1 ^ (0 - (site_delta & 1));
    targets += widths.target_bytes;
    sites += widths.site_bytes;
    highest_target = std::max(highest_target, target);
    highest_site = std::max(highest_site, site);
    e.target = target;
    e.value = 0;
    e.size = shape.size;
    e.thread = last->thread;
    e.site = SiteId{site};
    e.op = static_cast<Op>(op & kOpMask);
    e.order = static_cast<MemoryOrder>(c >> 5);
    e.has_value = false;
    if ((op & (kHasValue | kHasSize)) != 0 || shape.unusual) [[unlikely]] {
      const Status extras = get_extras(e, op);
      if (!extras) return extras.error();
    }
  }
  if (highest_target > kLastAddress) return Error{"address past the end of memory"};
  if (highest_site >= sites_) return Error{"event at a site that is not in the tables"};
  at_[Ops] = ops;
  at_[Control] = control;
  at_[Targets] = targets;
  at_[Sites] = sites;
  left_ -= static_cast<uint32_t>(n);
  return n;
}

// Null if the tables have no such thread.
[[gnu::noinline]] BlockDecoder::Last* BlockDecoder::next_thread() {
  uint64_t thread = 0;
  if (!get_number(at_[Threads], end_[Threads], thread) || thread >= last_.size()) return nullptr;
  thread_ = static_cast<uint32_t>(thread);
  last_[thread_].thread = ThreadId{thread_};
  return &last_[thread_];
}

[[gnu::noinline]] Status BlockDecoder::get_extras(Event& e, uint8_t op) {
  if (static_cast<unsigned>(e.op) >= kOps) return Error{"unknown operation " + std::to_string(op & kOpMask)};
  if ((e.op == Op::Fork || e.op == Op::Join) && e.target >= last_.size()) {
    return Error{"fork or join of a thread that is not in the tables"};
  }
  if ((op & kHasSize) != 0) {
    uint64_t size = 0;
    if (!get_number(at_[Extras], end_[Extras], size) || size > kMaxAccessSize || size == 0 || !is_access(e.op)) {
      return Error{"event of a wrong size"};
    }
    e.size = static_cast<uint32_t>(size);
  }
  if ((op & kHasValue) != 0) {
    if (!is_access(e.op) && !has_extent(e.op)) return Error{"value of an event that has none"};
    if (end_[Extras] - at_[Extras] < 8) return Error{"event's value is cut off"};
    e.value = load(at_[Extras]);
    e.has_value = !has_extent(e.op);
    at_[Extras] += 8;
  }
  return Done{};
}

// --- tables ---

namespace {

void put_string(std::string& out, std::string_view s) {
  put_number(out, s.size());
  out += s;
}

class TableReader {
 public:
  explicit TableReader(std::string_view payload)
      : at_(reinterpret_cast<const uint8_t*>(payload.data())), end_(at_ + payload.size()) {}

  bool more() const { return ok_ && at_ != end_; }
  bool ok() const { return ok_; }
  uint8_t byte() { return at_ != end_ ? *at_++ : fail(); }
  uint64_t number() {
    uint64_t n = 0;
    if (!get_number(at_, end_, n)) return fail();
    return n;
  }
  std::string string() {
    const uint64_t length = number();
    if (!ok_ || length > static_cast<uint64_t>(end_ - at_)) return std::string(fail(), ' ');
    const auto* begin = reinterpret_cast<const char*>(at_);
    at_ += length;
    return {begin, length};
  }
  // Of a thread or an object: never empty.
  std::string name() {
    std::string s = string();
    if (s.empty()) fail();
    return s;
  }
  uint32_t number32() {
    const uint64_t n = number();
    return n <= std::numeric_limits<uint32_t>::max() ? static_cast<uint32_t>(n) : fail();
  }
  uint8_t fail() {
    ok_ = false;
    return 0;
  }

 private:
  const uint8_t* at_;
  const uint8_t* end_;
  bool ok_ = true;
};

void decode_record(TableReader& in, Dictionary& names) {
  switch (static_cast<TableRecord>(in.byte())) {
    case TableRecord::Thread: names.add_thread(in.name()); return;
    case TableRecord::Site: {
      Site s;
      s.location = in.string();
      s.function = in.string();
      s.file = in.string();
      s.module = in.string();
      s.line = in.number32();
      s.column = in.number32();
      s.offset = in.number();
      names.add_site(std::move(s));
      return;
    }
    case TableRecord::Object: {
      const uint8_t kind = in.byte();
      if (kind >= kObjectKinds) {
        in.fail();
        return;
      }
      names.add_object(static_cast<ObjectKind>(kind), in.name());
      return;
    }
    case TableRecord::Symbol: {
      Symbol s;
      s.address = in.number();
      s.size = in.number();
      s.name = in.string();
      names.add_symbol(std::move(s));
      return;
    }
  }
  in.fail();
}

void put_record(std::string& out, TableRecord kind) { out.push_back(static_cast<char>(kind)); }

}  // namespace

std::string encode_tables(const Dictionary& names, TableCounts& done) {
  std::string out;
  for (std::size_t& i = done.threads; i < names.threads().size() && out.size() < kTablesBytes; ++i) {
    put_record(out, TableRecord::Thread);
    put_string(out, names.threads()[i]);
  }
  for (std::size_t& i = done.sites; i < names.sites().size() && out.size() < kTablesBytes; ++i) {
    const Site& s = names.sites()[i];
    put_record(out, TableRecord::Site);
    for (const std::string* text : {&s.location, &s.function, &s.file, &s.module}) put_string(out, *text);
    for (const uint64_t number : {uint64_t{s.line}, uint64_t{s.column}, s.offset}) put_number(out, number);
  }
  for (unsigned kind = 0; kind < kObjectKinds; ++kind) {
    const auto& objects = names.objects(static_cast<ObjectKind>(kind));
    for (std::size_t& i = done.objects[kind]; i < objects.size() && out.size() < kTablesBytes; ++i) {
      put_record(out, TableRecord::Object);
      out.push_back(static_cast<char>(kind));
      put_string(out, objects[i]);
    }
  }
  for (std::size_t& i = done.symbols; i < names.symbols().size() && out.size() < kTablesBytes; ++i) {
    put_record(out, TableRecord::Symbol);
    put_number(out, names.symbols()[i].address);
    put_number(out, names.symbols()[i].size);
    put_string(out, names.symbols()[i].name);
  }
  return out;
}

Status decode_tables(std::string_view payload, Dictionary& names) {
  TableReader in(payload);
  while (in.more()) decode_record(in, names);
  if (!in.ok()) return Error{"tables block is malformed"};
  return Done{};
}

}  // namespace pf
