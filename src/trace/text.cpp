#include "trace/text.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>

namespace pf {
namespace {

constexpr std::size_t kMaxLine = std::size_t{1} << 16;
constexpr std::size_t kBatch = 4096;
constexpr std::string_view kDirective = "#!";

// --- small parsers ---

// Cuts the text at the first separator: what is before it, and leaves what is after. No separator: all of it.
std::string_view cut(std::string_view& text, char separator) {
  const std::size_t at = text.find(separator);
  const std::string_view head = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return head;
}

std::optional<uint64_t> number(std::string_view text) {
  uint64_t n = 0;
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), n, hex ? 16 : 10);
  if (error != std::errc{} || at != text.data() + text.size() || text.empty()) return {};
  return n;
}

template <class T, std::size_t kCount>
std::optional<T> named(std::string_view name, const std::array<std::string_view, kCount>& names) {
  const auto it = std::find(names.begin(), names.end(), name);
  if (it == names.end()) return {};
  return static_cast<T>(it - names.begin());
}

constexpr bool in_std(Op op) {
  switch (op) {
    case Op::Read:
    case Op::Write:
    case Op::Acquire:
    case Op::Release:
    case Op::Fork:
    case Op::Join:
    case Op::Begin:
    case Op::End: return true;
    default: return false;
  }
}

std::string quoted(std::string_view s) {
  constexpr std::size_t kShown = 40;
  return "'" + std::string(s.substr(0, kShown)) + (s.size() > kShown ? "...'" : "'");
}

// --- names in .txt: any bytes; those that mean something there are written \HH ---

constexpr std::string_view kSeparators = "|", kVariableSeparators = "|,+";
constexpr std::string_view kHexDigits = "0123456789abcdef";

void append_escaped(std::string& line, unsigned char c) {
  line += '\\';
  line += kHexDigits[c >> 4];
  line += kHexDigits[c & 15];
}

// `looks_like_more`: what an address or a number also looks like; an escape says that it is a name.
void append_name(std::string& line, std::string_view name, std::string_view separators, bool looks_like_more = false) {
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto c = static_cast<unsigned char>(name[i]);
    const bool means_more = c < ' ' || c == 0x7F || c == '\\' || separators.find(name[i]) != std::string_view::npos ||
                            (i == 0 && (c == '#' || looks_like_more));
    means_more ? append_escaped(line, c) : line.push_back(name[i]);
  }
}

bool is_escaped(std::string_view text) { return text.find('\\') != std::string_view::npos; }

Result<std::string> unescape(std::string_view text) {
  std::string name;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      name += text[i];
      continue;
    }
    const std::string_view digits = text.substr(i + 1, 2);
    const std::size_t high = digits.size() == 2 ? kHexDigits.find(digits[0]) : std::string_view::npos;
    const std::size_t low = digits.size() == 2 ? kHexDigits.find(digits[1]) : std::string_view::npos;
    if (high == std::string_view::npos || low == std::string_view::npos)
      return Error{"wrong escape in " + quoted(text)};
    name += static_cast<char>(high << 4 | low);
    i += 2;
  }
  return name;
}

// --- one event, parsed ---

Result<ThreadId> parse_thread(std::string_view text, Dictionary& names, bool std_only) {
  if (std_only || !is_escaped(text)) return names.thread(text);
  const Result<std::string> name = unescape(text);
  if (!name) return name.error();
  return names.thread(*name);
}

// "#3" is a site that was described before, if one was.
Result<SiteId> parse_location(std::string_view text, Dictionary& names, bool std_only) {
  if (text.empty()) return kNoSite;
  if (std_only) return names.site(text);
  if (const auto site = text[0] == '#' ? names.labelled(text) : std::nullopt) return *site;
  const Result<std::string> name = unescape(text);
  if (!name) return name.error();
  return names.site(*name);
}

// In STD every name is a variable of its own; in .txt "V3+2" is the third byte of V3, and "0x7f00" an address.
Result<uint64_t> parse_object(ObjectKind kind, std::string_view text, Dictionary& names, bool std_only) {
  if (std_only) return text.starts_with("0x") ? names.named(kind, text) : names.object(kind, text);
  uint64_t inside = 0;
  if (kind == ObjectKind::Variable && text.size() > 2 && text[text.size() - 2] == '+' && text.back() > '0' &&
      text.back() < '8') {
    inside = static_cast<uint64_t>(text.back() - '0');
    text.remove_suffix(2);
  }
  if (is_escaped(text)) {
    const Result<std::string> name = unescape(text);
    if (!name) return name.error();
    return names.named(kind, *name) + inside;
  }
  const uint64_t object = names.object(kind, text);
  if (inside != 0 && object < kAbstract) return Error{"'+' after the address " + quoted(text)};
  return object + inside;
}

// What may follow the operand: the bytes of an access or a block, the order of an atomic.
Status parse_argument(Event& e, std::string_view argument) {
  if (const auto order = named<MemoryOrder>(argument, kOrderNames); order && is_atomic(e.op)) {
    e.order = *order;
    return Done{};
  }
  const auto n = number(argument);
  if (!n) return Error{"cannot understand " + quoted(argument)};
  if (has_extent(e.op)) {
    e.value = *n;
    return Done{};
  }
  if (*n == 0 || *n > kMaxAccessSize) {
    return Error{"access of " + std::string(argument) + " bytes (1 to 1048576 are possible)"};
  }
  e.size = static_cast<uint32_t>(*n);
  return Done{};
}

// The arguments between the parentheses: operand, then whatever the operation has.
Status parse_arguments(Event& e, std::string_view arguments, Dictionary& names, bool std_only) {
  if (e.op == Op::Fence) {
    const auto order = named<MemoryOrder>(arguments, kOrderNames);
    if (!order) return Error{"unknown memory order " + quoted(arguments)};
    e.order = *order;
    return Done{};
  }
  if (!has_operand(e.op)) return Done{};
  // Names of other tools may hold commas; only memory operations of .txt have a second argument.
  const bool more = !std_only && (is_access(e.op) || has_extent(e.op));
  std::string_view rest = arguments;
  const std::string_view operand = more ? cut(rest, ',') : arguments;
  if (operand.empty()) return Error{"operation without an operand"};
  if (e.op == Op::Fork || e.op == Op::Join) {
    const Result<ThreadId> other = parse_thread(operand, names, std_only);
    if (!other) return other.error();
    e.target = index(*other);
  } else {
    const Result<uint64_t> object = parse_object(object_kind(e.op), operand, names, std_only);
    if (!object) return object.error();
    e.target = *object;
  }
  if (is_access(e.op)) e.size = kVariableSize;
  while (more && !rest.empty()) {
    const Status argument = parse_argument(e, cut(rest, ','));
    if (!argument) return argument;
  }
  if (e.target > kLastAddress) return Error{"address past the end of memory"};
  return Done{};
}

// --- one event, written ---

void append_thread(std::string& line, ThreadId id, const Dictionary& names, bool std_only) {
  if (std_only) {
    line += names.thread_name(id);
  } else {
    append_name(line, names.thread_name(id), kSeparators);
  }
}

void append_operand(std::string& line, const Event& e, const Dictionary& names, bool std_only) {
  const ObjectKind kind = object_kind(e.op);
  const bool variable = kind == ObjectKind::Variable;
  if (e.op == Op::Fork || e.op == Op::Join) {
    append_thread(line, ThreadId{static_cast<uint32_t>(e.target)}, names, std_only);
  } else if (const std::string* given = std_only ? nullptr : names.given_name(kind, e.target)) {
    append_name(line, *given, variable ? kVariableSeparators : kSeparators,
                Dictionary::told_by_name(kind, *given).has_value());
    if (variable && (e.target & 7) != 0) line += '+' + std::to_string(e.target & 7);
  } else {
    line += names.object_name(kind, e.target);
  }
}

void append_location(std::string& line, SiteId id, const Dictionary& names, bool std_only) {
  const auto& sites = names.sites();
  if (id == kNoSite || index(id) >= sites.size()) return;
  const Site& site = sites[index(id)];
  if (site.structured()) {
    line += '#' + std::to_string(index(id));
  } else if (std_only) {
    line += site.location;
  } else {
    append_name(line, site.location, kSeparators);
  }
}

// What keeps an event out of an STD file; empty if nothing does.
std::string not_in_std(const Event& e, const Dictionary& names) {
  if (!in_std(e.op)) return "operation " + quoted(name(e.op));
  if (e.has_value) return "value of an access";
  if (is_access(e.op) && (e.size != kVariableSize || e.target % kVariableSize != 0)) {
    return "access of " + std::to_string(e.size) + " bytes at " + names.object_name(ObjectKind::Variable, e.target);
  }
  return {};
}

}  // namespace

Result<Event> parse_event(std::string_view line, Dictionary& names, bool std_only) {
  std::string_view rest = line;
  const std::string_view thread = cut(rest, '|');
  // A location never holds '|'; an operand may.
  const std::size_t bar = rest.rfind('|');
  if (thread.empty() || bar == std::string_view::npos) {
    return Error{"expected thread|operation(operand)|location, found " + quoted(line)};
  }
  std::string_view operation = rest.substr(0, bar);
  const std::size_t open = operation.find('('), close = operation.rfind(')');
  const std::string_view name = operation.substr(0, open);
  const auto op = named<Op>(name, kOpNames);
  if (!op || (std_only && !in_std(*op))) return Error{"unknown operation " + quoted(name)};
  Event e;
  e.op = *op;
  const Result<ThreadId> actor = parse_thread(thread, names, std_only);
  if (!actor) return actor.error();
  e.thread = *actor;
  if (open != std::string_view::npos) {
    if (close == std::string_view::npos || close < open) return Error{"missing ')' in " + quoted(operation)};
    const Status arguments = parse_arguments(e, operation.substr(open + 1, close - open - 1), names, std_only);
    if (!arguments) return arguments.error();
    const std::string_view after = operation.substr(close + 1);
    if (!after.empty()) {
      const auto value = after[0] == '=' ? number(after.substr(1)) : std::nullopt;
      if (!value || std_only || !is_access(e.op)) return Error{"cannot understand " + quoted(after)};
      e.value = *value;
      e.has_value = true;
    }
  } else if (has_operand(e.op) || e.op == Op::Fence) {
    return Error{"operation " + quoted(name) + " needs an operand"};
  }
  const Result<SiteId> site = parse_location(rest.substr(bar + 1), names, std_only);
  if (!site) return site.error();
  e.site = *site;
  return e;
}

std::string format_event(const Event& e, const Dictionary& names, bool std_only) {
  std::string line;
  append_thread(line, e.thread, names, std_only);
  line += '|';
  line += name(e.op);
  if (e.op == Op::Fence) {
    line += '(' + std::string(name(e.order)) + ')';
  } else if (has_operand(e.op)) {
    line += '(';
    append_operand(line, e, names, std_only);
    if (is_access(e.op) && e.size != kVariableSize) line += ',' + std::to_string(e.size);
    if (is_atomic(e.op)) line += ',' + std::string(name(e.order));
    if (has_extent(e.op)) line += ',' + std::to_string(e.value);
    line += ')';
    if (e.has_value) line += '=' + std::to_string(e.value);
  }
  line += '|';
  append_location(line, e.site, names, std_only);
  line += '\n';
  return line;
}

Result<TraceName> parse_trace_name(std::string_view path) {
  const bool gzip = path.ends_with(".gz");
  if (gzip) path.remove_suffix(3);
  if (path.ends_with(".pft") && !gzip) return TraceName{TraceFormat::Binary, false};
  if (path.ends_with(".std")) return TraceName{TraceFormat::Std, gzip};
  if (path.ends_with(".txt") || path == "-") return TraceName{TraceFormat::Text, gzip};
  return Error{"cannot tell the trace format from the name " + quoted(path) +
               " (.pft, .std, .txt, .std.gz and .txt.gz are known)"};
}

// --- reading ---

namespace {

class TextReader final : public TraceSource {
 public:
  TextReader(std::string path, gzFile file, bool std_only)
      : path_(std::move(path)), file_(file), std_only_(std_only), buffer_(4 * kMaxLine) {
    gzbuffer(file_, 1U << 17);
  }
  TextReader(const TextReader&) = delete;
  TextReader& operator=(const TextReader&) = delete;
  ~TextReader() override { gzclose(file_); }

  Result<std::span<const Event>> next() override {
    batch_.clear();
    lines_.clear();
    while (batch_.size() < kBatch) {
      const Result<bool> more = read_line();
      if (!more) return more.error();
      if (!*more) break;
    }
    return std::span<const Event>(batch_);
  }

  const Dictionary& names() const override { return names_; }
  std::string place(std::size_t in_batch) const override { return "line " + std::to_string(lines_[in_batch]); }
  uint64_t bytes_read() const override { return static_cast<uint64_t>(std::max<z_off_t>(gzoffset(file_), 0)); }
  uint64_t bytes_total() const override { return 0; }
  uint64_t nanoseconds() const override { return nanoseconds_; }
  Status seek(uint64_t event) override {
    skip_ = event;
    return Done{};
  }

 private:
  Error at_line(const std::string& what) const { return {path_ + ": " + what + " at line " + std::to_string(line_)}; }

  // False at the end of the file.
  Result<bool> read_line() {
    ++line_;
    const char* begin = buffer_.data() + begin_;
    const void* newline = std::memchr(begin, '\n', end_ - begin_);
    while (newline == nullptr && end_ - begin_ <= kMaxLine && !at_end_) {
      const Status more = fill();
      if (!more) return more.error();
      begin = buffer_.data() + begin_;
      newline = std::memchr(begin, '\n', end_ - begin_);
    }
    if (begin_ == end_) return false;
    const std::size_t size =
        newline != nullptr ? static_cast<std::size_t>(static_cast<const char*>(newline) - begin) : end_ - begin_;
    begin_ += size + (newline != nullptr ? 1 : 0);
    if (size > kMaxLine) return at_line("line longer than 65536 characters");
    std::string_view text(begin, size);
    if (text.find('\0') != std::string_view::npos) return at_line("zero byte in the text");
    while (text.ends_with('\r')) text.remove_suffix(1);
    const Status status = use_line(text);
    if (!status) return at_line(status.error().message);
    return true;
  }

  // Moves what is left to the front of the buffer and reads more behind it.
  Status fill() {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= std::exchange(begin_, 0);
    const int n = gzread(file_, buffer_.data() + end_, static_cast<unsigned>(buffer_.size() - end_));
    int code = Z_OK;
    std::string_view message = gzerror(file_, &code);
    if (code == Z_ERRNO) return at_line(std::string("cannot read: ") + std::strerror(errno));
    if (n < 0 || code != Z_OK) {
      if (message.starts_with(path_ + ": ")) message.remove_prefix(path_.size() + 2);
      return at_line("damaged gzip data (" + std::string(message) + ")");
    }
    if (n == 0 && gztell(file_) == 0) return Error{path_ + ": file is empty, not a trace"};
    at_end_ = n == 0;
    end_ += static_cast<std::size_t>(n);
    return Done{};
  }

  Status use_line(std::string_view text) {
    if (text.empty()) return Done{};
    if (text.starts_with(kDirective) && !std_only_) return directive(text.substr(kDirective.size()));
    if (text[0] == '#') return Done{};
    const Result<Event> e = parse_event(text, names_, std_only_);
    if (!e) return e.error();
    if (skip_ != 0) {
      --skip_;
      return Done{};
    }
    batch_.push_back(*e);
    lines_.push_back(line_);
    return Done{};
  }

  // #!site LABEL FUNCTION|FILE|LINE|COLUMN|MODULE|OFFSET, #!symbol ADDRESS|SIZE|NAME, #!time NANOSECONDS
  Status directive(std::string_view text) {
    const std::string_view kind = cut(text, ' ');
    if (kind == "time") {
      const auto time = number(text);
      if (!time) return Error{"wrong time"};
      nanoseconds_ = *time;
      return Done{};
    }
    if (kind == "symbol") return symbol(text);
    if (kind == "site") return site(text);
    return Error{"unknown directive " + quoted(kind)};
  }

  Status symbol(std::string_view text) {
    const auto address = number(cut(text, '|')), size = number(cut(text, '|'));
    Result<std::string> name = unescape(text);
    if (!address || !size || text.empty() || !name) return Error{"wrong symbol"};
    names_.add_symbol({*address, *size, std::move(*name)});
    return Done{};
  }

  Status site(std::string_view text) {
    const std::string_view label = cut(text, ' ');
    Site site;
    bool good = label.starts_with('#');
    const auto cut_name = [&] {
      const Result<std::string> name = unescape(cut(text, '|'));
      good = good && name;
      return name ? *name : std::string();
    };
    const auto cut_number = [&](uint64_t most) {
      const auto n = number(cut(text, '|'));
      good = good && n && *n <= most;
      return n.value_or(0);
    };
    constexpr uint64_t kMost32 = std::numeric_limits<uint32_t>::max(), kMost64 = std::numeric_limits<uint64_t>::max();
    site.function = cut_name();
    site.file = cut_name();
    site.line = static_cast<uint32_t>(cut_number(kMost32));
    site.column = static_cast<uint32_t>(cut_number(kMost32));
    site.module = cut_name();
    site.offset = cut_number(kMost64);
    if (!good || !text.empty() || !site.structured()) return Error{"wrong site"};
    names_.add_site(std::move(site), label);
    return Done{};
  }

  std::string path_;
  gzFile file_;
  bool std_only_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // of what is in the buffer and not used yet
  bool at_end_ = false;
  Dictionary names_;
  std::vector<Event> batch_;
  std::vector<uint64_t> lines_;
  uint64_t line_ = 0, nanoseconds_ = 0, skip_ = 0;
};

// --- writing ---

class TextWriter final : public TraceWriter {
 public:
  TextWriter(OutputFile file, TraceName name) : file_(std::move(file)), name_(name) {
    if (name_.gzip) {
      constexpr int kGzip = 15 + 16;
      deflateInit2(&zip_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY);
    }
  }
  TextWriter(const TextWriter&) = delete;
  TextWriter& operator=(const TextWriter&) = delete;
  ~TextWriter() override {
    if (name_.gzip) deflateEnd(&zip_);
  }

  Status add(std::span<const Event> events, const Dictionary& names) override {
    const bool std_only = name_.format == TraceFormat::Std;
    const Status fit = std_only ? check_std_names(names) : Status(Done{});
    if (!fit) return fit;
    if (!names.repeated().empty()) {
      return refused("text cannot tell two threads or objects of the name " + quoted(names.repeated()) + " apart");
    }
    if (!std_only) write_directives(names);
    for (const Event& e : events) {
      ++events_;
      const std::string lacks = std_only ? not_in_std(e, names) : "";
      if (!lacks.empty()) return refused("STD has no " + lacks + ", .txt has (event " + std::to_string(events_) + ")");
      text_ += format_event(e, names, std_only);
    }
    return text_.size() >= kBuffer ? flush(Z_NO_FLUSH) : Status(Done{});
  }

  Status finish(const Dictionary& names) override {
    if (name_.format == TraceFormat::Text) write_directives(names);
    const Status flushed = flush(Z_FINISH);
    return flushed ? file_.commit() : flushed;
  }

  void set_time(uint64_t nanoseconds) override {
    if (nanoseconds == nanoseconds_ || name_.format != TraceFormat::Text) return;
    nanoseconds_ = nanoseconds;
    text_ += "#!time " + std::to_string(nanoseconds) + "\n";
  }

 private:
  static constexpr std::size_t kBuffer = std::size_t{1} << 18;

  Status refused(const std::string& why) const { return Error{file_.path() + ": " + why}; }

  // Sites that are only a location need none, the events name them; the others get a label.
  void write_directives(const Dictionary& names) {
    for (; sites_done_ < names.sites().size(); ++sites_done_) {
      const Site& s = names.sites()[sites_done_];
      if (!s.structured()) continue;
      text_ += "#!site #" + std::to_string(sites_done_) + " ";
      append_name(text_, s.function, kSeparators);
      text_ += '|';
      append_name(text_, s.file, kSeparators);
      text_ += "|" + std::to_string(s.line) + "|" + std::to_string(s.column) + "|";
      append_name(text_, s.module, kSeparators);
      text_ += "|" + std::to_string(s.offset) + "\n";
    }
    for (; symbols_done_ < names.symbols().size(); ++symbols_done_) {
      const Symbol& s = names.symbols()[symbols_done_];
      text_ += "#!symbol " + std::to_string(s.address) + "|" + std::to_string(s.size) + "|";
      append_name(text_, s.name, {});
      text_ += '\n';
    }
  }

  // STD has no way to write some names: they would be read as something else.
  Status check_std_names(const Dictionary& names) {
    constexpr std::string_view kLineEnds{"\n\r\0", 3}, kFieldEnds{"|\n\r\0", 4};
    const auto check = [&](std::string_view name, std::string_view ends, bool looks_like_more) {
      if (!looks_like_more && name.find_first_of(ends) == std::string_view::npos) return Status(Done{});
      return refused("STD cannot have the name " + quoted(name) + ", .txt can");
    };
    Status fit = Done{};
    for (; fit && threads_checked_ < names.threads().size(); ++threads_checked_) {
      const std::string& name = names.threads()[threads_checked_];
      fit = check(name, kFieldEnds, name.starts_with('#'));
    }
    for (; fit && sites_done_ < names.sites().size(); ++sites_done_) {
      fit = check(names.sites()[sites_done_].location, kFieldEnds, false);
    }
    for (unsigned kind = 0; kind < kObjectKinds; ++kind) {
      const auto& objects = names.objects(static_cast<ObjectKind>(kind));
      for (std::size_t& i = objects_checked_[kind]; fit && i < objects.size(); ++i) {
        const auto told = Dictionary::told_by_name(static_cast<ObjectKind>(kind), objects[i]);
        fit = check(objects[i], kLineEnds, told && *told >= kAbstract);
      }
    }
    return fit;
  }

  Status flush(int mode) {
    if (!name_.gzip) {
      const Status written = file_.write(text_);
      text_.clear();
      return written;
    }
    zip_.next_in = reinterpret_cast<Bytef*>(text_.data());
    zip_.avail_in = static_cast<uInt>(text_.size());
    int code = Z_OK;
    do {
      char out[1 << 14];
      zip_.next_out = reinterpret_cast<Bytef*>(out);
      zip_.avail_out = sizeof out;
      code = deflate(&zip_, mode);
      const Status written = file_.write({out, sizeof out - zip_.avail_out});
      if (!written) return written;
    } while (zip_.avail_out == 0 || (mode == Z_FINISH && code != Z_STREAM_END));
    text_.clear();
    return Done{};
  }

  OutputFile file_;
  TraceName name_;
  z_stream zip_{};
  std::string text_;
  std::size_t sites_done_ = 1, symbols_done_ = 0;
  std::size_t threads_checked_ = 0, objects_checked_[kObjectKinds] = {};
  uint64_t nanoseconds_ = 0, events_ = 0;
};

}  // namespace

std::unique_ptr<TraceWriter> make_text_writer(OutputFile file, TraceName name) {
  return std::make_unique<TextWriter>(std::move(file), name);
}

Result<std::unique_ptr<TraceSource>> open_text_trace(const std::string& path, bool std_only) {
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return Error{"cannot read " + path + ": " + std::strerror(errno)};
  return std::unique_ptr<TraceSource>(std::make_unique<TextReader>(path, file, std_only));
}

}  // namespace pf
