// SPDX-License-Identifier: Apache-2.0
#pragma once
// The command line of a program that has a configuration. For mains alone: nothing else knows of CLI11.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "daemon/config/load.hpp"
#include "daemon/config/reference.hpp"
#include "daemon/platform/cli/from_app.hpp"
#include "daemon/platform/cli/help_page.hpp"
#include "daemon/platform/cli/man_page.hpp"
#include "daemon/platform/cli/terminal_text.hpp"
#include "fabric/result.hpp"

namespace weft::config {

/// What the command line and the file gave.
template <typename Config>
struct CommandLine {
  Config config;
  std::optional<int> exit;  ///< all is said and done: end with this
  bool is_valid = false;    ///< --check-config was given, and found nothing wrong
};

/// Opens the files that a configuration names and returns what is wrong with them, but for what depends on a value in
/// doubt.
template <typename Config>
using CheckFiles = std::function<std::vector<Error>(const Config&, const Doubts&)>;

/// What is wrong with the files that `outcome` names, after a word about those that only the unit has. An error that
/// names one of these is none of the configuration's.
template <typename Config>
std::vector<Error> check_but_credentials(const LoadOutcomeOf<Config>& outcome, const CheckFiles<Config>& check_files) {
  std::string keys;
  for (const std::string& key : left_credentials(outcome.config)) keys += (keys.empty() ? "" : ", ") + key;
  if (!keys.empty())
    std::cerr << "warning: not looked at: " << keys
              << ", and what is read together with them. systemd gives these files to the unit alone; to check them "
                 "here, set the environment variable CREDENTIALS_DIRECTORY to a folder with such files\n";
  std::vector<Error> errors = check_files(outcome.config, outcome.doubts);
  std::erase_if(errors, [](const Error& error) { return error.message.find(kCredential) != std::string::npos; });
  return errors;
}

/// Writes `lines` to standard error; of very many the first, and how many more there are.
inline void tell_errors(const std::vector<std::string>& lines) {
  constexpr std::size_t kMost = 100;
  for (std::size_t i = 0; i < std::min(kMost, lines.size()); ++i) std::cerr << lines[i] << '\n';
  if (lines.size() > kMost) std::cerr << "and " << lines.size() - kMost << " more errors\n";
}

/// Adds --config, --check-config, the documents and a flag for each key to `app`, parses, loads file and flags, and
/// says what is wrong with them on standard error (exit code 2). `manual`: what its manual page says beside all that.
/// `check_files` opens the files that the configuration names, and returns what is wrong with them; for --check-config.
/// `only_looks`: set by a flag of the program that needs the configuration to look at something, and starts nothing.
template <typename Config>
CommandLine<Config> read_command_line(CLI::App& app, int argc, char** argv, const usage::ManPage& manual,
                                      const CheckFiles<Config>& check_files, const bool* only_looks = nullptr) {
  const std::string usual_file = "/etc/weft/" + std::string(Config::kNames.file);
  std::string file;
  bool check = false, reference = false, example = false, page = false;
  app.add_option("--config", file, "Configuration file (default: " + usual_file + " if it exists)")->type_name("FILE");
  app.add_flag("--check-config", check,
               "Report all errors in the configuration and in the files that it names, and exit");
  app.add_flag("--config-reference", reference, "Print the reference of all keys as Markdown and exit");
  app.add_flag("--config-example", example, "Print a configuration file with every key at its default and exit");
  app.add_flag("--manual", page, "Print the manual page and exit")->group("");
  std::map<std::string, std::string> given;
  for (const auto& key : describe_keys<Config>()) {
    std::string names;
    for (const std::string& flag : key.flags) names += (names.empty() ? "" : ",") + flag;
    app.add_option_function<std::string>(
           names, [&given, name = key.name](const std::string& text) { given[name] = text; },
           key.help + " (default: " + key.default_text + ")")
        ->type_name(key.type)
        ->group(key.name.find('.') == std::string::npos ? "Options" : key.name.substr(0, key.name.find('.')));
  }
  app.set_help_flag("-h,--help", "Print the options that are used most, and exit");
  app.set_help_all_flag("--help-all", "Print every option, and exit");
  app.formatter_fn([](const CLI::App* of, const std::string&, CLI::AppFormatMode mode) {
    const std::size_t columns = usage::terminal_columns(STDOUT_FILENO);
    usage::Command command = usage::describe(*of);
    command.name = Config::kNames.program;
    return usage::help_page(command, columns == 0 ? 80 : columns,
                            mode == CLI::AppFormatMode::All ? usage::HelpLength::kWhole : usage::HelpLength::kShort);
  });
  CommandLine<Config> result;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    result.exit = app.exit(error) == 0 ? 0 : 2;
    return result;
  }
  if (reference) std::cout << reference_document<Config>();
  if (example) std::cout << example_config<Config>();
  if (page) {
    app.name(std::string(Config::kNames.program));
    app.footer("");
    std::cout << usage::man_page(usage::describe(app), manual);
  }
  if (reference || example || page) {
    result.exit = 0;
    return result;
  }
  std::vector<FlagSetting> flags;
  for (const auto& [key, text] : given) flags.push_back({key, text});
  if (check || (only_looks != nullptr && *only_looks)) leave_credentials();
  std::error_code ignored;
  if (file.empty() && std::filesystem::exists(usual_file, ignored)) file = usual_file;
  auto outcome = load<Config>(file.empty() ? std::nullopt : std::optional<std::filesystem::path>(file), flags);
  std::vector<std::string> errors;
  for (const ConfigError& error : outcome.errors) errors.push_back(to_string(error));
  if (check)
    for (const Error& error : check_but_credentials(outcome, check_files)) errors.push_back(error.message);
  if (!errors.empty()) {
    tell_errors(errors);
    result.exit = 2;
  } else if (check) {
    std::cout << (file.empty() ? "The configuration" : file)
              << (left_credentials(outcome.config).empty() ? " is valid.\n"
                                                           : " is valid, but for what was not looked at.\n");
    result.exit = 0;
    result.is_valid = true;
  }
  result.config = std::move(outcome.config);
  return result;
}

}  // namespace weft::config
