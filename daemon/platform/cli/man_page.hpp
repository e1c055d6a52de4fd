// SPDX-License-Identifier: Apache-2.0
#pragma once
// Manual pages made from a command line's own description, so that they say what the program does.

#include <string>
#include <utility>
#include <vector>

#include "daemon/platform/cli/command.hpp"

namespace weft::usage {

/// What a page says beside what the command line says of itself.
struct ManPage {
  int section = 1;        ///< 1: commands; 8: of the system's administration
  std::string version;    ///< "0.4.0"
  std::string one_line;   ///< for NAME: what whatis(1) finds
  std::string describes;  ///< for DESCRIPTION, after the command's own help; paragraphs parted by empty lines
  std::vector<std::pair<std::string, std::string>> more{};  ///< sections of its own: heading, text as in `describes`
  std::vector<std::string> see_also{};                      ///< "weftd(8)"
};

/// The page in the macros of man(7). Text is escaped: whatever it holds, it is shown as it is.
std::string man_page(const Command& command, const ManPage& about);

/// `text` for the middle of a line of roff: backslashes, hyphens and quotes are shown as they are.
std::string roff(std::string_view text);

}  // namespace weft::usage
