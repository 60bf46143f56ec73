// Command lines that hold another one: where our words end and those of the program begin.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace pf::cli {

// `run`, `record`, `sample` and, after its race, `confirm` end at the first word that is neither an option nor its value, or at "--". Takes the program and its arguments
// off `words`, and returns them; nothing for another verb.
std::vector<std::string> split_command(const CLI::App& app, std::vector<std::string>& words);

}  // namespace pf::cli
