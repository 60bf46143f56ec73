// Where the runtimes are: lib/<detector>/ next to bin/ in the build tree, lib/photofinish/<detector>/ when installed.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pf::cli {

// The folders that may hold them, by the place of this executable.
std::vector<std::filesystem::path> runtime_roots();
// <root>/<detector>, if a runtime is in it.
std::optional<std::filesystem::path> find_runtime(const std::string& detector);
// A file next to them.
std::optional<std::filesystem::path> find_beside_runtimes(std::string_view name);
// No detector's: of programs that are not instrumented, and of those that are recorded.
inline constexpr std::string_view kSampler = "sampler", kRecorder = "record";
// The same detector where calls into code without instrumentation order.
inline constexpr std::string_view kWithLibraries = "-libs";
// The detectors that have one.
std::vector<std::string> available_runtimes();

}  // namespace pf::cli
