#pragma once
// Completion scripts for shells.

#include <optional>
#include <string>
#include <string_view>

namespace weft::ctl {

/// The script for "bash", "zsh" or "fish"; nullopt for another shell. Verbs and options are in it; names of nodes and
/// ids of incidents are asked of the server as one types.
std::optional<std::string> completion_script(std::string_view shell);

}  // namespace weft::ctl
