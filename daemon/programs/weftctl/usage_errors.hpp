// SPDX-License-Identifier: Apache-2.0
#pragma once
// What was wrong with a command line.

#include <string>
#include <vector>

#include "daemon/platform/cli/command.hpp"

namespace weft::ctl {

/// One sentence on the first of the words that were not understood, with what may have been meant. `verbs`: those that
/// were, outermost first. Empty where the parser's own message says it better.
std::string complaint(const usage::Command& program, const std::vector<std::string>& verbs,
                      const std::vector<std::string>& unknown);

}  // namespace weft::ctl
