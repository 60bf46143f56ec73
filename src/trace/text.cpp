#include "trace/text.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
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

// --- one event ---

// Inside an abstract variable: "V3+2" is its third byte. Names of other tools may look like that and mean nothing.
uint64_t parse_variable(std::string_view name, Dictionary& names, bool std_only) {
  const std::size_t plus = name.rfind('+');
  if (!std_only && plus != std::string_view::npos && plus + 2 == name.size() && name[plus + 1] > '0' &&
      name[plus + 1] < '8') {
    const uint64_t base = names.object(ObjectKind::Variable, name.substr(0, plus));
    if (base >= kAbstract && base < kNamed) return base + static_cast<uint64_t>(name[plus + 1] - '0');
  }
  return names.object(ObjectKind::Variable, name);
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
    e.target = index(names.thread(operand));
  } else if (object_kind(e.op) == ObjectKind::Variable) {
    e.target = parse_variable(operand, names, std_only);
  } else {
    e.target = names.object(object_kind(e.op), operand);
  }
  if (is_access(e.op)) e.size = kVariableSize;
  while (more && !rest.empty()) {
    const std::string_view argument = cut(rest, ',');
    if (const auto order = named<MemoryOrder>(argument, kOrderNames); order && is_atomic(e.op)) {
      e.order = *order;
      continue;
    }
    const auto n = number(argument);
    if (!n) return Error{"cannot understand " + quoted(argument)};
    if (has_extent(e.op)) {
      e.value = *n;
    } else if (*n == 0 || *n > kMaxAccessSize) {
      return Error{"access of " + std::string(argument) + " bytes (1 to 1048576 are possible)"};
    } else {
      e.size = static_cast<uint32_t>(*n);
    }
  }
  if (e.target > kLastAddress) return Error{"address past the end of memory"};
  return Done{};
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
  const std::string_view location = rest.substr(bar + 1);
  const std::size_t open = operation.find('('), close = operation.rfind(')');
  const std::string_view name = operation.substr(0, open);
  const auto op = named<Op>(name, kOpNames);
  if (!op || (std_only && !in_std(*op))) return Error{"unknown operation " + quoted(name)};
  Event e;
  e.op = *op;
  e.thread = names.thread(thread);
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
  if (!location.empty()) e.site = names.site(location);
  return e;
}

std::string format_event(const Event& e, const Dictionary& names) {
  std::string line = names.thread_name(e.thread);
  line += '|';
  line += name(e.op);
  if (e.op == Op::Fence) {
    line += '(' + std::string(name(e.order)) + ')';
  } else if (has_operand(e.op)) {
    const bool thread = e.op == Op::Fork || e.op == Op::Join;
    line += '(';
    line += thread ? names.thread_name(ThreadId{static_cast<uint32_t>(e.target)})
                   : names.object_name(object_kind(e.op), e.target);
    if (is_access(e.op) && e.size != kVariableSize) line += ',' + std::to_string(e.size);
    if (is_atomic(e.op)) line += ',' + std::string(name(e.order));
    if (has_extent(e.op)) line += ',' + std::to_string(e.value);
    line += ')';
    if (e.has_value) line += '=' + std::to_string(e.value);
  }
  line += '|';
  const auto& sites = names.sites();
  if (e.site != kNoSite && index(e.site) < sites.size()) {
    const Site& site = sites[index(e.site)];
    line += site.structured() ? '#' + std::to_string(index(e.site)) : site.location;
  }
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
      : path_(std::move(path)), file_(file), std_only_(std_only), buffer_(kMaxLine + 2) {
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
    if (gzgets(file_, buffer_.data(), static_cast<int>(buffer_.size())) == nullptr) {
      int code = 0;
      const char* message = gzerror(file_, &code);
      if (code == Z_ERRNO) return at_line(std::string("cannot read: ") + std::strerror(errno));
      if (code != Z_OK && code != Z_STREAM_END) return at_line(std::string("damaged gzip data (") + message + ")");
      if (line_ == 1 && gztell(file_) == 0) return Error{path_ + ": file is empty, not a trace"};
      return false;
    }
    // gzgets stops at a newline; a zero byte in the text would hide what follows it.
    std::string_view text(buffer_.data());
    if (text.empty() || (text.back() != '\n' && gzeof(file_) == 0)) {
      return at_line(text.size() > kMaxLine ? "line longer than 65536 characters" : "zero byte in the text");
    }
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
    const Status status = use_line(text);
    if (!status) return at_line(status.error().message);
    return true;
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
    if (kind == "symbol") {
      const auto address = number(cut(text, '|')), size = number(cut(text, '|'));
      if (!address || !size || text.empty()) return Error{"wrong symbol"};
      names_.add_symbol({*address, *size, std::string(text)});
      return Done{};
    }
    if (kind != "site") return Error{"unknown directive " + quoted(kind)};
    const std::string_view label = cut(text, ' ');
    Site site;
    site.function = cut(text, '|');
    site.file = cut(text, '|');
    const auto line = number(cut(text, '|')), column = number(cut(text, '|'));
    site.module = cut(text, '|');
    const auto offset = number(text);
    if (!line || !column || !offset || !site.structured() || label.empty()) return Error{"wrong site"};
    site.line = static_cast<uint32_t>(*line);
    site.column = static_cast<uint32_t>(*column);
    site.offset = *offset;
    names_.add_site(std::move(site), label);
    return Done{};
  }

  std::string path_;
  gzFile file_;
  bool std_only_;
  std::vector<char> buffer_;
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
    if (name_.format == TraceFormat::Text) write_directives(names);
    for (const Event& e : events) {
      if (name_.format == TraceFormat::Std && !in_std(e.op)) {
        return Error{"the STD format has no operation " + quoted(name(e.op)) + " (.txt has them all)"};
      }
      text_ += format_event(e, names);
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

  // Sites that are only a location need none, the events name them; the others get a label.
  void write_directives(const Dictionary& names) {
    for (; sites_done_ < names.sites().size(); ++sites_done_) {
      const Site& s = names.sites()[sites_done_];
      if (!s.structured()) continue;
      text_ += "#!site #" + std::to_string(sites_done_) + " " + s.function + "|" + s.file + "|" +
               std::to_string(s.line) + "|" + std::to_string(s.column) + "|" + s.module + "|" +
               std::to_string(s.offset) + "\n";
    }
    for (; symbols_done_ < names.symbols().size(); ++symbols_done_) {
      const Symbol& s = names.symbols()[symbols_done_];
      text_ += "#!symbol " + std::to_string(s.address) + "|" + std::to_string(s.size) + "|" + s.name + "\n";
    }
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
  uint64_t nanoseconds_ = 0;
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
