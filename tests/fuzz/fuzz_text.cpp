// Text traces: any bytes are events or an error; what an event is written as is read as the same event.
// The first byte of the input chooses the format: odd is STD, even is .txt.
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "expect.h"
#include "trace/text.h"

namespace pf {
namespace {

void parse_and_write(std::string_view line, Dictionary& names, bool std_only) {
  const Result<Event> e = parse_event(line, names, std_only);
  if (!e) {
    PF_EXPECT(!e.error().message.empty());
    return;
  }
  const std::string written = format_event(*e, names, std_only);
  PF_EXPECT(written.ends_with('\n'));
  const Result<Event> again = parse_event(std::string_view(written).substr(0, written.size() - 1), names, std_only);
  PF_EXPECT(again);
  PF_EXPECT(*again == *e);
}

// The same bytes as a file: lines, directives, gzip.
void read_file(std::string_view bytes, bool std_only) {
  const int fd = memfd_create("trace", MFD_CLOEXEC);
  PF_EXPECT(write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  const Result<std::unique_ptr<TraceSource>> source = open_text_trace("/proc/self/fd/" + std::to_string(fd), std_only);
  PF_EXPECT(source);
  for (;;) {
    const Result<std::span<const Event>> batch = (*source)->next();
    if (!batch || batch->empty()) break;
    PF_EXPECT(!(*source)->place(batch->size() - 1).empty());
    for (const Event& e : *batch) PF_EXPECT(!format_event(e, (*source)->names(), std_only).empty());
  }
  close(fd);
}

}  // namespace
}  // namespace pf

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const bool std_only = data[0] % 2 == 1;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  pf::Dictionary names;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    pf::parse_and_write(rest.substr(0, end), names, std_only);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  pf::read_file(text, std_only);
  return 0;
}
