// Reads a binary trace: streaming, checking every block before any of its events is believed.
#pragma once
#include "trace/source.h"

namespace pf {

Result<std::unique_ptr<TraceSource>> open_binary_trace(const std::string& path, OpenOptions options);

// The same over bytes in memory, for tests and fuzzing. With `trust_checksums` a wrong checksum is no error,
// so that a fuzzer reaches what is behind it.
std::unique_ptr<TraceSource> read_binary_trace(std::string bytes, OpenOptions options, bool trust_checksums);

}  // namespace pf
