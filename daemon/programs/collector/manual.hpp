// SPDX-License-Identifier: Apache-2.0
#pragma once
// weft-collector(8).

#include <string>

#include "daemon/platform/cli/man_page.hpp"

namespace weft::collector {

/// What the manual page says beside the command line.
usage::ManPage manual(const std::string& version);

}  // namespace weft::collector
