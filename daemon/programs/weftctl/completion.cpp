// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftctl/completion.hpp"

#include <algorithm>
#include <array>

#include "daemon/programs/weftctl/value_format.hpp"

namespace weft::ctl {
namespace {

constexpr const char* kBash = R"sh(# weftctl completion bash > /etc/bash_completion.d/weftctl
_weftctl() {
  local -a lines
  mapfile -t lines < <("${COMP_WORDS[0]}" __complete bash "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
  COMPREPLY=("${lines[@]:1}")
  case ${lines[0]} in
    files) compopt -o default 2>/dev/null ;;
    open) compopt -o nospace 2>/dev/null ;;
  esac
}
complete -F _weftctl weftctl
)sh";

constexpr const char* kZsh = R"sh(#compdef weftctl
# weftctl completion zsh > "${fpath[1]}/_weftctl"
_weftctl() {
  local -a lines names shown
  local line
  lines=("${(@f)$("${words[1]}" __complete zsh "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  for line in "${(@)lines[2,-1]}"; do
    names+=("${line%%$'\t'*}")
    shown+=("${line/$'\t'/  -- }")
  done
  case ${lines[1]} in
    files) _files ;;
    open) compadd -S '' -l -d shown -a names ;;
    *) (( $#names )) && compadd -l -d shown -a names ;;
  esac
}
if [[ $funcstack[1] == _weftctl ]]; then
  _weftctl "$@"
else
  compdef _weftctl weftctl
fi
)sh";

constexpr const char* kFish = R"sh(# weftctl completion fish > ~/.config/fish/completions/weftctl.fish
function __weftctl_complete
  set -l before (commandline -opc)
  set -l lines ($before[1] __complete fish $before[2..-1] (commandline -ct) 2>/dev/null)
  if test "$lines[1]" = files
    __fish_complete_path (commandline -ct)
  end
  if test (count $lines) -gt 1
    printf '%s\n' $lines[2..-1]
  end
end
complete -c weftctl -f -a '(__weftctl_complete)'
)sh";

// Where a verb's argument, or an option's value, is a name that the server knows.
struct Source {
  std::string_view verb;  ///< "": of every verb
  std::string_view argument;
  Names names;
};
constexpr std::array kSources{
    // Of one verb first.
    Source{"drain", "NODE", Names::kHosts},
    Source{"enroll", "NODE", Names::kHosts},
    Source{"enroll --revoke", "NODE", Names::kEnrollTokens},
    Source{"undrain", "NODE", Names::kDrainedHosts},
    Source{"restore", "LINK", Names::kHeldLinks},
    Source{"lower-cost", "LINK", Names::kCostlyLinks},
    Source{"", "--fabric", Names::kFabrics},
    Source{"", "NODE", Names::kNodes},
    Source{"", "FROM", Names::kNodes},
    Source{"", "TO", Names::kNodes},
    Source{"", "WHAT", Names::kNodes},
    Source{"", "LINK", Names::kLinkEnds},
    Source{"", "HOST", Names::kCollectors},
    Source{"", "RUNBOOK", Names::kRunbooks},
    Source{"", "--job", Names::kJobs},
    Source{"", "--entity", Names::kNodes},
    Source{"incident", "ID", Names::kIncidents},
    Source{"evidence", "ABOUT", Names::kIncidents},
    Source{"acknowledge", "ID", Names::kIncidents},
    Source{"silence", "ID", Names::kIncidents},
    Source{"timeline", "ID", Names::kIncidents},
    Source{"plan", "ID", Names::kAllPlans},
    Source{"approve", "ID", Names::kApprovable},
    Source{"reject", "ID", Names::kRejectable},
    Source{"abort", "ID", Names::kPlans},
    Source{"maintenance end", "ID", Names::kWindows},
    Source{"accept show", "ID", Names::kAcceptances},
    Source{"accept end", "ID", Names::kRunningAcceptances},
    Source{"accept", "--hosts", Names::kHosts},
    Source{"accept list", "--host", Names::kHosts},
    Source{"accept", "--switches", Names::kNodes},
    Source{"accept", "--links", Names::kLinkEnds},
};

/// Up to the first full stop, colon or semicolon.
std::string short_help(const std::string& help) {
  std::size_t end = help.size();
  for (const char* stop : {". ", ": ", "; "}) end = std::min(end, help.find(stop));
  std::string text = help.substr(0, end);
  if (!text.empty() && text.back() == '.') text.pop_back();
  return text;
}

const usage::Option* option_of(const std::vector<const usage::Command*>& commands, std::string_view name) {
  for (const usage::Command* command : commands)
    for (const usage::Option& option : command->options)
      if (std::ranges::find(option.names, name) != option.names.end()) return &option;
  return nullptr;
}

/// What the words before the last one say of where we are.
struct Place {
  std::vector<const usage::Command*> commands;  ///< the program, its verb, the verb's verb
  std::string verb;                             ///< "maintenance add"
  std::size_t arguments = 0;                    ///< words of the verb that are no options
  const usage::Option* awaits = nullptr;        ///< an option whose value comes next
  bool options_are_over = false;                ///< "--" was said
  std::vector<std::string> given;               ///< options
};

Place place_of(const usage::Command& program, const std::vector<std::string>& words) {
  Place place{.commands = {&program}, .verb = {}, .given = {}};
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (std::exchange(place.awaits, nullptr) != nullptr) continue;
    if (place.options_are_over || !word.starts_with('-')) {
      const auto& verbs = place.commands.back()->verbs;
      const auto verb = std::ranges::find(verbs, word, &usage::Command::name);
      if (place.arguments == 0 && verb != verbs.end()) {
        place.commands.push_back(&*verb);
        place.verb += (place.verb.empty() ? "" : " ") + word;
      } else {
        ++place.arguments;
      }
      continue;
    }
    place.options_are_over = word == "--";
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    place.given.push_back(name);
    const usage::Option* option = option_of(place.commands, name);
    // What stands in brackets may be left out, and then the next word is another one.
    if (option && equals == std::string::npos && !option->value.empty() && !option->value.starts_with('['))
      place.awaits = option;
  }
  return place;
}

/// What an option that was given makes of them comes first: "enroll --revoke".
std::optional<Names> names_at(const Place& place, std::string_view argument) {
  for (const std::string& option : place.given)
    for (const Source& source : kSources)
      if (source.argument == argument && source.verb == place.verb + ' ' + option) return source.names;
  return names_for(place.verb, argument);
}

void add_values(Candidates& found, const Place& place, const usage::Option& option, const std::string& before,
                const std::string& begun, const AskNames& ask) {
  const auto add = [&](const std::string& word, const std::string& help) {
    if (word.starts_with(begun)) found.words.push_back({before + word, help});
  };
  for (const std::string& choice : option.choices) add(choice, "");
  if (const auto names = names_at(place, option.names.front())) {
    for (const Candidate& name : ask(*names, begun)) add(name.word, name.help);
    // A port follows.
    found.open = names == Names::kLinkEnds && begun.find(':') == std::string::npos;
    // What announced work is on may be all of it.
    if (option.names.front() == "WHAT" && place.arguments == 0) add("fabric", "all of it");
  }
  found.files = option.value == "FILE" || option.value == "DIR" || option.names.front() == "FILE";
}

}  // namespace

std::optional<std::string> completion_script(std::string_view shell) {
  if (shell == "bash") return kBash;
  if (shell == "zsh") return kZsh;
  if (shell == "fish") return kFish;
  return std::nullopt;
}

std::optional<Names> names_for(std::string_view verb, std::string_view argument) {
  for (const Source& source : kSources)
    if (source.argument == argument && (source.verb.empty() || source.verb == verb)) return source.names;
  return std::nullopt;
}

Candidates complete(const usage::Command& program, const std::vector<std::string>& words, const AskNames& ask) {
  Candidates found;
  const std::string begun = words.empty() ? "" : words.back();
  const Place place = place_of(program, words);
  if (place.awaits != nullptr) {
    add_values(found, place, *place.awaits, "", begun, ask);
    return found;
  }
  if (begun.starts_with('-') && !place.options_are_over) {
    if (const std::size_t equals = begun.find('='); equals != std::string::npos) {
      const usage::Option* option = option_of(place.commands, begun.substr(0, equals));
      if (option) add_values(found, place, *option, begun.substr(0, equals + 1), begun.substr(equals + 1), ask);
      return found;
    }
    // The innermost first, for its own options are what one looks for.
    for (auto command = place.commands.rbegin(); command != place.commands.rend(); ++command)
      for (const usage::Option& option : (*command)->options) {
        const std::string& name = option.names.front();
        const bool known = std::ranges::find(found.words, name, &Candidate::word) != found.words.end();
        const bool again = std::ranges::find(place.given, name) != place.given.end();
        if (name.starts_with(begun) && !known && (!again || option.many))
          found.words.push_back({name, short_help(option.help)});
      }
    return found;
  }
  const usage::Command& here = *place.commands.back();
  if (place.arguments == 0)
    for (const usage::Command& verb : here.verbs)
      if (verb.name.starts_with(begun)) found.words.push_back({verb.name, short_help(verb.help)});
  const bool more = !here.arguments.empty() && (place.arguments < here.arguments.size() || here.arguments.back().many);
  if (more)
    add_values(found, place, here.arguments[std::min(place.arguments, here.arguments.size() - 1)], "", begun, ask);
  return found;
}

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  char quote = 0;
  bool inside = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '\\' && quote != '\'' && i + 1 < line.size()) {
      word += line[++i];
      inside = true;
    } else if (quote != 0 ? c == quote : c == '"' || c == '\'') {
      quote = quote == 0 ? c : '\0';
      inside = true;
    } else if (quote == 0 && (c == ' ' || c == '\t')) {
      if (inside) words.push_back(std::exchange(word, {}));
      inside = false;
    } else {
      word += c;
      inside = true;
    }
  }
  words.push_back(word);
  return words;
}

std::string completion_text(std::string_view shell, const Candidates& candidates, std::string_view word) {
  std::string text = candidates.files ? "files\n" : candidates.open ? "open\n" : "words\n";
  const bool bash = shell == "bash";
  // Readline takes a colon and an equals sign for the end of a word.
  const std::size_t broken = bash ? word.find_last_of(":=") : std::string_view::npos;
  for (const Candidate& candidate : candidates.words) {
    std::string shown = printable(candidate.word);
    if (broken != std::string_view::npos && shown.size() > broken) shown.erase(0, broken + 1);
    if (bash) {
      for (const char c : shown) {
        const bool safe = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                          std::string_view("-_.:/=,@%+").find(c) != std::string_view::npos ||
                          (static_cast<unsigned char>(c) & 0x80) != 0;
        text += (safe ? "" : "\\") + std::string(1, c);
      }
    } else {
      text += shown;
      if (!candidate.help.empty()) text += '\t' + printable(candidate.help);
    }
    text += '\n';
  }
  return text;
}

}  // namespace weft::ctl
