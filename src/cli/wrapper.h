// The compiler wrappers `photofinish c++` and `photofinish cc`, also called pf-c++ and pf-cc: the user's command line
// with instrumentation and, where it links a program, the runtime.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace pf::cli {

enum class CompilerKind { Clang, Gcc };

struct Compiler {
  CompilerKind kind;
  std::vector<std::string> command;  // one word, or with a launcher in front, as in "ccache g++"
};

struct RuntimeFiles {
  std::optional<std::filesystem::path> runtime;    // the folder of fasttrack's
  std::optional<std::filesystem::path> gcc_calls;  // gcc_calls.h
  std::optional<std::filesystem::path> near;       // of runtime/abi/linked_calls.S
};

// Pure: what is to be executed.
Result<std::vector<std::string>> wrapped_command(const Compiler& compiler, const std::vector<std::string>& arguments,
                                                 const RuntimeFiles& files);

// "c++" or "cc" if this program was called as pf-c++ or pf-cc.
std::optional<std::string> wrapper_name(std::string_view argv0);

// Becomes the compiler; returns only if it cannot, or when it was asked for help.
Result<int> run_wrapper(const std::string& language, const std::vector<std::string>& arguments);

}  // namespace pf::cli
