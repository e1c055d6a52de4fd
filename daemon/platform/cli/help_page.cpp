// SPDX-License-Identifier: Apache-2.0
#include "daemon/platform/cli/help_page.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/platform/cli/terminal_text.hpp"

namespace weft::usage {
namespace {

constexpr std::size_t kMargin = 24;  // columns before the help of an option

/// Up to the first full stop that a capital letter follows.
std::string first_sentence(const std::string& text) {
  for (std::size_t at = text.find(". "); at != std::string::npos; at = text.find(". ", at + 1))
    if (at + 2 < text.size() && std::isupper(static_cast<unsigned char>(text[at + 2])) != 0) return text.substr(0, at);
  return text.ends_with('.') ? text.substr(0, text.size() - 1) : text;
}

/// The help without "(default: ...)" at its end, and that part.
std::pair<std::string, std::string> without_default(const std::string& help) {
  const std::size_t at = help.rfind(" (default: ");
  if (at == std::string::npos) return {help, ""};
  return {help.substr(0, at), help.substr(at)};
}

void append_wrapped(std::string& page, const std::string& text, std::size_t columns, std::size_t margin) {
  for (const std::string& line : wrapped(text, columns - margin)) page += std::string(margin, ' ') + line + '\n';
}

void append_option(std::string& page, const Option& option, std::size_t columns, HelpLength length) {
  std::string names = "  ";
  const auto name = [](const std::string& one) { return one.starts_with("--") ? std::size_t{1} : std::size_t{0}; };
  std::vector<std::string> sorted = option.names;
  std::ranges::stable_sort(sorted, {}, name);  // "-h, --help"
  for (const std::string& one : sorted) names += (one == sorted.front() ? "" : ", ") + one;
  if (!option.value.empty()) names += ' ' + option.value;
  const auto [help, standard] = without_default(option.help);
  const std::string text = (length == HelpLength::kShort ? first_sentence(help) : help) + standard;
  std::string told;
  append_wrapped(told, text, columns, kMargin);
  if (names.size() + 2 > kMargin)
    page += names + '\n' + told;
  else
    page += names + told.substr(names.size());
}

/// In `columns` columns at most: the first sentence, else its begin up to ';' or ':', else the words that fit.
std::string brief(const std::string& help, std::size_t columns) {
  std::string text = first_sentence(help);
  if (text.size() > columns) text = text.substr(0, std::min(text.find("; "), text.find(": ")));
  if (text.size() > columns) text = wrapped(text, columns - 4).front() + " ...";
  return text;
}

std::vector<std::string> groups_of(const Command& command) {
  std::vector<std::string> groups;
  for (const Option& option : command.options)
    if (std::ranges::find(groups, option.group) == groups.end()) groups.push_back(option.group);
  return groups;
}

bool on_short_page(const Option& option) {
  return option.group.empty() || option.names.size() > 1;
}

}  // namespace

std::string help_page(const Command& command, std::size_t columns, HelpLength length) {
  columns = std::max<std::size_t>(columns, 40);
  std::string page;
  append_wrapped(page, command.help, columns, 0);
  page += "\nUsage: " + command.name + " [OPTION]...\n";
  std::string others;
  for (const std::string& group : groups_of(command)) {
    const auto is_in = [&group](const Option& option) { return option.group == group; };
    if (length == HelpLength::kWhole || group.empty())
      page += '\n' + (group.empty() ? std::string("Options") : group) + ":\n";
    for (const Option& option : command.options)
      if (is_in(option) && (length == HelpLength::kWhole || on_short_page(option)))
        append_option(page, option, columns, length);
    const auto more = std::ranges::count_if(
        command.options, [&](const Option& option) { return is_in(option) && !on_short_page(option); });
    if (more > 0) others += (others.empty() ? "" : ", ") + group + ' ' + std::to_string(more);
  }
  if (length == HelpLength::kShort && !others.empty()) {
    page += '\n';
    append_wrapped(page, "More keys of the configuration, each also a flag; --help-all tells them: " + others + ".",
                   columns, 0);
  }
  if (!command.footer.empty()) {
    page += '\n';
    append_wrapped(page, command.footer, columns, 0);
  }
  return page;
}

std::string overview_page(const Command& program, const std::string& footer, std::size_t columns) {
  columns = std::max<std::size_t>(columns, 40);
  std::string page;
  append_wrapped(page, program.help, columns, 0);
  page += "Usage: " + program.name + " [OPTION]... VERB ...\n\nSubcommands:\n";
  std::size_t longest = 0;
  for (const Command& verb : program.verbs) longest = std::max(longest, verb.name.size());
  const std::size_t margin = longest + 4;
  for (const Command& verb : program.verbs)
    page +=
        "  " + verb.name + std::string(margin - 2 - verb.name.size(), ' ') + brief(verb.help, columns - margin) + '\n';
  std::string options;
  for (const Option& option : program.options) options += (options.empty() ? " " : ", ") + option.names.front();
  page += '\n';
  append_wrapped(page, "Options, also after a verb; --help-all explains them:" + options + ".", columns, 0);
  append_wrapped(page, footer, columns, 0);
  return page;
}

}  // namespace weft::usage
