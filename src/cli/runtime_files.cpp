#include "cli/runtime_files.h"

#include <algorithm>

namespace pf::cli {

namespace fs = std::filesystem;

namespace {

bool holds_runtime(const fs::path& folder) {
  std::error_code error;
  return fs::exists(folder / "libphotofinish.so", error) || fs::exists(folder / "libphotofinish.a", error);
}

}  // namespace

std::vector<fs::path> runtime_roots() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const fs::path prefix = self.parent_path().parent_path();
  return {prefix / "lib", prefix / "lib" / "photofinish"};
}

std::optional<fs::path> find_runtime(const std::string& detector) {
  for (const fs::path& root : runtime_roots()) {
    if (holds_runtime(root / detector)) return root / detector;
  }
  return std::nullopt;
}

std::optional<fs::path> find_beside_runtimes(std::string_view name) {
  for (const fs::path& root : runtime_roots()) {
    std::error_code error;
    if (fs::exists(root / name, error)) return root / name;
  }
  return std::nullopt;
}

std::vector<std::string> available_runtimes() {
  std::vector<std::string> names;
  for (const fs::path& root : runtime_roots()) {
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(root, error)) {
      const std::string name = entry.path().filename();
      if (holds_runtime(entry.path()) && name != kSampler && name != kRecorder && !name.ends_with(kWithLibraries))
        names.push_back(name);
    }
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace pf::cli
