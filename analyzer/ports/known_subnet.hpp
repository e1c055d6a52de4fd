// SPDX-License-Identifier: Apache-2.0
#pragma once
// InfiniBand subnets that are shown, with the links of hosts that the ledger knows there.

#include <memory>
#include <string>
#include <vector>

#include "fabric/analyzer_state.hpp"

namespace weft::analyzer {

/// One of them.
struct KnownSubnet {
  std::string name;
  /// With an adapter at one end at least, as of the start; not null.
  std::shared_ptr<const std::vector<KnownLink>> host_links;
  bool is_swept = false;  ///< now, or it is to be soon: of what is not found there any more its sweeps tell
};

}  // namespace weft::analyzer
