// SPDX-License-Identifier: Apache-2.0
#pragma once
// What --help prints of a program whose configuration has hundreds of keys.

#include <cstddef>
#include <string>

#include "daemon/platform/cli/command.hpp"

namespace weft::usage {

/// The short page fits two screens of a terminal of 80 columns and 24 lines: of the options in a group it has those
/// with a second, shorter name, and of each help the first sentence. The others are counted by group.
enum class HelpLength { kShort, kWhole };

/// The page in lines of `columns` columns at most, but for words that are longer; `columns` at least 40.
std::string help_page(const Command& command, std::size_t columns, HelpLength length);

/// What a program with verbs says first: each verb in a line of `columns` columns, at least 40, with as much of its
/// help as fits; of the options the names alone. `footer` comes last; the command's own is left out.
std::string overview_page(const Command& program, const std::string& footer, std::size_t columns);

}  // namespace weft::usage
