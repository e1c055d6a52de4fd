// SPDX-License-Identifier: Apache-2.0
#pragma once
// weftd(8).

#include <string>

#include "daemon/platform/cli/man_page.hpp"

namespace weft::daemon {

/// What the manual page says beside the command line.
usage::ManPage manual(const std::string& version);

}  // namespace weft::daemon
