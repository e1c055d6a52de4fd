// SPDX-License-Identifier: Apache-2.0
#include "daemon/platform/cli/man_page.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace weft::usage {
namespace {

/// One line: a dot or an apostrophe at its beginning would be a request.
std::string line(std::string_view text) {
  const std::string escaped = roff(text);
  const bool request = escaped.starts_with('.') || escaped.starts_with('\'');
  return (request ? "\\&" : "") + escaped + '\n';
}

/// Paragraphs that a blank line parts; lines within one flow together.
std::string paragraphs(std::string_view text) {
  std::string page;
  bool parted = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view one = text.substr(0, end);
    if (one.find_first_not_of(' ') == std::string_view::npos) {
      parted = !page.empty();
    } else {
      if (parted) page += ".PP\n";
      parted = false;
      page += line(one.substr(one.find_first_not_of(' ')));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return page;
}

/// Lines as they are, indented, in the font of a terminal.
std::string verbatim(std::string_view text) {
  std::string page = ".RS 4\n.nf\n";
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    page += line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return page + ".fi\n.RE\n";
}

/// With a full stop at its end.
std::string sentence(const std::string& text) {
  const bool whole = text.empty() || std::string_view(".?!)").find(text.back()) != std::string_view::npos;
  return whole ? text : text + '.';
}

std::string value_of(const Option& option) {
  if (option.choices.empty()) return "\\fI" + roff(option.value) + "\\fR";
  std::string text;
  for (const std::string& choice : option.choices) text += (text.empty() ? "" : "|") + roff(choice);
  return text;
}

std::string usage_of(const Option& argument) {
  const std::string name = "\\fI" + roff(argument.names.front()) + "\\fR" + (argument.many ? "\\&..." : "");
  return argument.required ? name : "[" + name + "]";
}

std::string entry(const Option& option, bool named) {
  std::string page = ".TP\n";
  for (std::size_t i = 0; i < option.names.size(); ++i)
    page += (i == 0 ? "" : ", ") + std::string(named ? "\\fB" : "\\fI") + roff(option.names[i]) + "\\fR";
  if (named && !option.value.empty()) page += ' ' + value_of(option);
  page += '\n' + paragraphs(sentence(option.help));
  if (!named && !option.choices.empty()) page += "One of " + value_of(option) + ".\n";
  if (named && option.required) page += "Required.\n";
  // Keys of a configuration name their default in the help.
  if (!option.standard.empty() && option.help.find("(default: ") == std::string::npos)
    page += line("Default: " + option.standard + ".");
  if (!option.variable.empty()) page += line("Environment variable: " + option.variable + ".");
  return page;
}

std::string capital(std::string text) {
  for (char& letter : text) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  return text;
}

std::string options_of(const Command& command) {
  std::vector<std::string> groups;
  for (const Option& option : command.options)
    if (std::ranges::find(groups, option.group) == groups.end()) groups.push_back(option.group);
  std::string page;
  for (const std::string& group : groups) {
    if (!group.empty()) page += ".SS " + roff(group) + '\n';
    for (const Option& option : command.options)
      if (option.group == group) page += entry(option, true);
  }
  return page;
}

/// The verb and those below it: "maintenance", "maintenance add".
void append_verb(std::string& page, const Command& verb, const std::string& before) {
  const std::string name = before + verb.name;
  page += ".SS \"" + roff(name) + "\"\n\\fB" + roff(name) + "\\fR";
  if (!verb.options.empty()) page += " [\\fIoption\\fR\\&...]";
  for (const Option& argument : verb.arguments) page += ' ' + usage_of(argument);
  page += "\n.PP\n" + paragraphs(sentence(verb.help));
  for (const Option& argument : verb.arguments) page += entry(argument, false);
  for (const Option& option : verb.options)
    if (option.names.front() != "--help") page += entry(option, true);
  if (!verb.footer.empty()) page += ".sp\n" + verbatim(verb.footer);
  for (const Command& below : verb.verbs) append_verb(page, below, name + ' ');
}

}  // namespace

std::string roff(std::string_view text) {
  std::string escaped;
  for (const char letter : text) {
    switch (letter) {
      case '\\':
        escaped += "\\e";
        break;
      case '-':
        escaped += "\\-";
        break;
      case '\'':
        escaped += "\\(aq";
        break;
      case '"':
        escaped += "\\(dq";
        break;
      case '`':
        escaped += "\\(ga";
        break;
      case '^':
        escaped += "\\(ha";
        break;
      case '~':
        escaped += "\\(ti";
        break;
      default:
        escaped += letter;
    }
  }
  return escaped;
}

std::string man_page(const Command& command, const ManPage& about) {
  std::string page = ".\\\" Made from the program's own command line; do not edit.\n.TH " + capital(command.name) +
                     ' ' + std::to_string(about.section) + " \"\" \"Weft " + about.version + "\" \"Weft\"\n";
  page += ".SH NAME\n" + roff(command.name) + " \\- " + roff(about.one_line) + '\n';
  page += ".SH SYNOPSIS\n\\fB" + roff(command.name) + "\\fR [\\fIoption\\fR\\&...]";
  if (!command.verbs.empty()) page += " \\fIverb\\fR [\\fIargument\\fR\\&...]";
  for (const Option& argument : command.arguments) page += ' ' + usage_of(argument);
  page += "\n.SH DESCRIPTION\n" + paragraphs(command.help);
  if (!about.describes.empty()) page += ".PP\n" + paragraphs(about.describes);
  page += ".SH OPTIONS\n" + options_of(command);
  if (!command.verbs.empty()) page += ".SH VERBS\n";
  for (const Command& verb : command.verbs) append_verb(page, verb, "");
  for (const auto& [heading, text] : about.more)
    page += ".SH \"" + roff(heading) + "\"\n" + (text.starts_with("  ") ? verbatim(text) : paragraphs(text));
  if (!about.see_also.empty()) {
    page += ".SH SEE ALSO\n";
    for (const std::string& other : about.see_also) {
      const std::size_t bracket = std::min(other.find('('), other.size());
      page += ".BR " + roff(other.substr(0, bracket)) + " " + other.substr(bracket) +
              (&other == &about.see_also.back() ? "\n" : " ,\n");
    }
  }
  return page;
}

}  // namespace weft::usage
