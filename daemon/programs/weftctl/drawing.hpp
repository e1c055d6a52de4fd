// SPDX-License-Identifier: Apache-2.0
#pragma once
// Trees in a terminal.

#include <cstdint>
#include <string>
#include <vector>

namespace weft::ctl {

/// What the lines are made of. Plain: ASCII, for terminals and files that take nothing else.
struct Pen {
  /// `plain`: ASCII only.
  explicit Pen(bool plain);

  std::string fork;    ///< a branch with others after it
  std::string last;    ///< the last branch
  std::string beside;  ///< in front of what hangs from a branch with others after it
  std::string below;   ///< and from the last one
  std::string arrow;   ///< from who sends to who receives
  std::string cut;     ///< a cable that carries nothing
  std::string sick;    ///< a cable that carries badly
  std::string step;    ///< between the ports of a path
  std::string cause;   ///< in front of what is to blame
};

/// One line of a drawing, with what hangs from it. Texts are made printable.
struct Branch {
  std::string text;
  std::string note;  ///< in a column of its own behind the texts; may be empty
  std::vector<Branch> branches{};
};

/// The lines of the tree, without ends of line. At most `most_lines` of it, from the top: "and 37 more" says what was
/// left out, where it was.
std::vector<std::string> draw(const Branch& root, const Pen& pen, std::size_t most_lines);

}  // namespace weft::ctl
