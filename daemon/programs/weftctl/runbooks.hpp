// SPDX-License-Identifier: Apache-2.0
#pragma once
// The runbooks as they were built into this program: they are wanted when weftd does not answer, too.

#include <span>
#include <string_view>

namespace weft::ctl {

/// One file of dashboards/runbooks.
struct Runbook {
  std::string_view name;  ///< "LINK_FLAP", "weft-itself"
  std::string_view text;  ///< Markdown; its first line is "# " and the title

  /// What follows the "# ".
  std::string_view title() const { return text.substr(2, text.find('\n') - 2); }
};

/// All of them, sorted by name.
std::span<const Runbook> runbooks();

}  // namespace weft::ctl
