// SPDX-License-Identifier: Apache-2.0
#pragma once
// From CLI11's picture of a command line to ours. For mains alone: nothing else knows of CLI11.

#include <CLI/CLI.hpp>
#include <string>

#include "daemon/platform/cli/command.hpp"

namespace weft::usage {

/// What a validator "{on,off}" within CLI11's type name allows; empty when there is none.
inline std::vector<std::string> choices_in(const std::string& type) {
  std::vector<std::string> choices;
  const std::size_t begin = type.find('{'), end = type.find('}');
  if (begin == std::string::npos || end == std::string::npos || end < begin) return choices;
  for (std::size_t at = begin + 1; at < end;) {
    const std::size_t comma = std::min(type.find(',', at), end);
    choices.push_back(type.substr(at, comma - at));
    at = comma + 1;
  }
  return choices;
}

/// One option or argument as the manual page and completion need it.
inline Option describe(const CLI::Option& from) {
  Option option;
  for (const std::string& name : from.get_lnames()) option.names.push_back("--" + name);
  for (const std::string& name : from.get_snames()) option.names.push_back("-" + name);
  if (option.names.empty()) option.names.push_back(from.get_name(true));
  const std::string type = from.get_type_name();
  if (from.get_items_expected_max() > 0) option.value = type.substr(0, type.find(":{"));
  option.choices = choices_in(type);
  option.help = from.get_description();
  option.standard = from.get_default_str();
  option.variable = from.get_envname();
  option.group = from.get_group() == "Options" ? "" : from.get_group();
  option.required = from.get_required();
  option.many = from.get_items_expected_max() > 1;
  return option;
}

/// Options and verbs without a group are hidden, from help and from here.
inline Command describe(const CLI::App& app) {
  Command command{.name = app.get_name(),
                  .help = app.get_description(),
                  .footer = app.get_footer(),
                  .options = {},
                  .arguments = {},
                  .verbs = {}};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    (option->nonpositional() ? command.options : command.arguments).push_back(describe(*option));
  }
  for (const CLI::App* verb : app.get_subcommands(nullptr))
    if (!verb->get_group().empty()) command.verbs.push_back(describe(*verb));
  return command;
}

}  // namespace weft::usage
