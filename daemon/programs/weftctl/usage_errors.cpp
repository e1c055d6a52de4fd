// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftctl/usage_errors.hpp"

#include <algorithm>

#include "daemon/platform/cli/spelling.hpp"

namespace weft::ctl {
namespace {

/// `otherwise` when nothing is near.
std::string meant(const std::string& word, const std::vector<std::string>& known, const std::string& otherwise) {
  const std::string near = usage::nearest(word, known);
  return near.empty() ? otherwise : "did you mean \"" + near + "\"?";
}

}  // namespace

std::string complaint(const usage::Command& program, const std::vector<std::string>& verbs,
                      const std::vector<std::string>& unknown) {
  if (unknown.empty()) return {};
  const std::string& word = unknown.front();
  std::vector<std::string> known;
  if (verbs.empty() && !word.starts_with('-')) {
    for (const usage::Command& verb : program.verbs) known.push_back(verb.name);
    return "unknown verb \"" + word + "\"; " + meant(word, known, "weftctl --help lists all");
  }
  if (!word.starts_with("--")) return {};
  const usage::Command* here = &program;
  std::string name = program.name;
  const auto add_options = [&] {
    for (const usage::Option& option : here->options)
      known.insert(known.end(), option.names.begin(), option.names.end());
  };
  add_options();
  for (const std::string& verb : verbs) {
    const auto below = std::ranges::find(here->verbs, verb, &usage::Command::name);
    if (below == here->verbs.end()) break;
    here = &*below;
    name += ' ' + verb;
    add_options();
  }
  const std::string option = word.substr(0, word.find('='));
  if (std::ranges::find(known, option) != known.end())
    return option + " stands behind its verb: " + name + ' ' + option;
  return name + " has no option " + option + "; " + meant(option, known, name + " --help lists all");
}

}  // namespace weft::ctl
