#include "cli/mistyped.h"

#include <fmt/format.h>

#include "core/nearest.h"

namespace pf::cli {
namespace {

std::vector<const CLI::App*> commands(const CLI::App& verb) {
  return verb.get_subcommands([](const CLI::App*) { return true; });
}

std::string full_name(const CLI::App& verb) {
  return verb.get_parent() == nullptr ? verb.get_name() : full_name(*verb.get_parent()) + " " + verb.get_name();
}

std::string unknown(std::string_view what, std::string_view word, const std::vector<std::string>& known,
                    const CLI::App& verb) {
  const std::string_view best = nearest(word, {known.begin(), known.end()});
  return fmt::format("unknown {} '{}'{} (see {} --help)", what, word,
                     best.empty() ? "" : fmt::format(", did you mean '{}'?", best), full_name(verb));
}

std::string unknown_command(const CLI::App& verb, std::string_view word) {
  std::vector<std::string> known;
  for (const CLI::App* command : commands(verb)) known.push_back(command->get_name());
  return unknown("command", word, known, verb);
}

// Options of the verbs around a verb are its own, too.
std::string unknown_option(const CLI::App& verb, std::string_view word) {
  std::vector<std::string> known;
  for (const CLI::App* v = &verb; v != nullptr; v = v->get_parent()) {
    for (const CLI::Option* option : v->get_options()) {
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    }
  }
  return unknown("option", word, known, verb);
}

}  // namespace

const CLI::Option* find_option(const CLI::App* verb, const std::string& name) {
  for (; verb != nullptr; verb = verb->get_parent()) {
    if (const CLI::Option* option = verb->get_option_no_throw(name)) return option;
  }
  return nullptr;
}

std::string mistyped(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* verb = &app;
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    const std::string& word = words[i];
    if (word.size() > 1 && word[0] == '-') {
      const std::string name = word[1] == '-' ? word.substr(0, word.find('=')) : word.substr(0, 2);
      const CLI::Option* option = find_option(verb, name);
      if (option == nullptr) return unknown_option(*verb, name);
      const bool value_follows = word == name && option->get_items_expected_max() > 0;
      if (value_follows) ++i;
    } else if (const auto known = commands(*verb); !known.empty()) {
      const auto it = std::ranges::find_if(known, [&](const CLI::App* c) { return c->get_name() == word; });
      if (it == known.end()) return unknown_command(*verb, word);
      verb = *it;
    }
  }
  return {};
}

}  // namespace pf::cli
