// SPDX-License-Identifier: Apache-2.0
#pragma once
// InfiniBand subnets of the process before, as the ledger knows them.

#include <memory>
#include <string>
#include <vector>

#include "fabric/analyzer_state.hpp"

namespace weft::analyzer {

/// One of them.
struct KnownSubnet {
  std::string name;
  std::shared_ptr<const std::vector<KnownLink>> host_links;  ///< with an adapter at one end at least; not null
  bool is_swept = false;  ///< now, or it is to be soon: of what is not found there any more its sweeps tell
};

}  // namespace weft::analyzer
