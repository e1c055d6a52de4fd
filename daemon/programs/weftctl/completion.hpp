// SPDX-License-Identifier: Apache-2.0
#pragma once
// What may come next on a command line of weftctl, and the scripts by which shells ask for it. Everything that is known
// of verbs and options comes from the program's own command line: no script names one.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/platform/cli/command.hpp"

namespace weft::ctl {

/// The script for "bash", "zsh" or "fish"; nullopt for another shell. It calls `weftctl __complete`.
std::optional<std::string> completion_script(std::string_view shell);

/// Names that only the server knows.
enum class Names {
  kNodes,
  kCollectors,
  kIncidents,
  kRunbooks,  ///< these this program knows itself
  kPlans,     ///< not over
  kAllPlans,
  kApprovable,   ///< plans that wait for an approval, and that no guard refuses
  kRejectable,   ///< plans that nothing was sent for
  kLinkEnds,     ///< NODE:PORT of links between switches: first the switches, and their ports once a colon was typed
  kHeldLinks,    ///< NODE:PORT of links that plans isolated, or whose cost they raised
  kCostlyLinks,  ///< of the second alone
  kHosts,
  kDrainedHosts,  ///< by plans
  kWindows,
  kAcceptances,
  kRunningAcceptances,
  kFabrics,
  kJobs,
  kEnrollTokens  ///< nodes with a token that was not used
};

/// One word that may come next.
struct Candidate {
  std::string word;
  std::string help;  ///< a few words; may be empty
};

/// All words that may come next.
struct Candidates {
  std::vector<Candidate> words;
  bool files = false;  ///< names of files fit as well
  bool open = false;   ///< the words go on: no space behind them
};

/// Asks the server for names that begin with a text, and perhaps others; empty when it does not answer in time. What it
/// throws is thrown on.
using AskNames = std::function<std::vector<Candidate>(Names, const std::string& begun)>;

/// What may stand in place of the last of `words`, which is empty or begun. The words before it are complete, the
/// program's name is not among them.
Candidates complete(const usage::Command& program, const std::vector<std::string>& words, const AskNames& ask);

/// The names that an argument or an option's value is one of; nullopt where the server knows none. `verb`:
/// "maintenance add".
std::optional<Names> names_for(std::string_view verb, std::string_view argument);

/// Words of a line as bash parts them, up to the cursor at its end: quotes and backslashes, no expansion. The last one
/// is what is being written; empty after a space.
std::vector<std::string> words_of(std::string_view line);

/// The candidates as lines for that shell's script: first "words", "files" or "open", then the words, each with its
/// help behind a tab but for bash. `word` is what is being written: bash replaces only what is behind its last colon or
/// equals sign.
std::string completion_text(std::string_view shell, const Candidates& candidates, std::string_view word);

}  // namespace weft::ctl
