#include "cli/command.h"

#include <algorithm>
#include <utility>

#include "cli/mistyped.h"

namespace pf::cli {
namespace {

// Whether the next word is this option's value.
bool value_follows(const CLI::App& verb, const std::string& word) {
  const std::string name = word.starts_with("--") ? word : word.substr(0, 2);
  const CLI::Option* option = find_option(&verb, name);
  return option != nullptr && word == name && option->get_items_expected_max() > 0;
}

std::vector<std::string> take_from(std::vector<std::string>& words, std::size_t ours, std::size_t theirs) {
  std::vector<std::string> command(words.begin() + static_cast<std::ptrdiff_t>(theirs), words.end());
  words.resize(ours);
  return command;
}

}  // namespace

std::vector<std::string> split_command(const CLI::App& app, std::vector<std::string>& words) {
  const CLI::App* verb = nullptr;
  bool has_race = false;  // of confirm, the one word that is its own
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (verb != nullptr && words[i] == "--") return take_from(words, i, i + 1);
    if (words[i].starts_with('-')) {
      if (value_follows(verb == nullptr ? app : *verb, words[i])) ++i;
    } else if (verb != nullptr) {
      if (verb->get_name() != "confirm" || std::exchange(has_race, true)) return take_from(words, i, i);
    } else if (words[i] == "run" || words[i] == "sample" || words[i] == "record" || words[i] == "confirm") {
      verb = app.get_subcommand(words[i]);
    } else {
      return {};
    }
  }
  return {};
}

}  // namespace pf::cli
