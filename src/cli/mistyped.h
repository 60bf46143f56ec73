// A mistyped command or option is the likeliest mistake on a command line, and CLI11's own message for it helps little.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace pf::cli {

// The first word that no verb knows, with the nearest one that it does; empty if the mistake is another one.
std::string mistyped(const CLI::App& app, const std::vector<std::string>& words);

// The option of that name, of the verb or of one around it.
const CLI::Option* find_option(const CLI::App* verb, const std::string& name);

}  // namespace pf::cli
