// SPDX-License-Identifier: Apache-2.0
#pragma once
// Text that fits a terminal.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace weft::usage {

/// Control characters, and those that change the direction of text, replaced by '?': a node's description comes from
/// the fabric and must not steer the terminal.
std::string printable(std::string_view text);
/// Columns of a terminal that UTF-8 text takes: two for a wide East Asian character, none for one that combines. What
/// is not UTF-8 counts a column for each byte.
std::size_t width(std::string_view text);
/// The text in `columns` columns at most: its middle gives way to an ellipsis, for names differ at their ends.
std::string shortened(const std::string& text, std::size_t columns, bool plain);
/// The text in lines of `columns` columns at most, broken at spaces, within a word only when that alone is longer.
std::vector<std::string> wrapped(const std::string& text, std::size_t columns);
/// Columns of the terminal that the open file is; 0 where it is none.
std::size_t terminal_columns(int file);

}  // namespace weft::usage
