// SPDX-License-Identifier: Apache-2.0
#pragma once
// What people expect of the cabling of a subnet, or of an Ethernet fabric: all of it, or of a part.

#include <algorithm>
#include <cstddef>
#include <memory>

#include "fabric/cable_plan.hpp"
#include "fabric/topology.hpp"

namespace weft {

/// One of the two, or none where nothing is expected.
struct ExpectedCabling {
  std::shared_ptr<const Topology> by_guid;   ///< its nodes are known by their GUIDs
  std::shared_ptr<const CablePlan> by_name;  ///< by names; its ports are numbers, on Ethernet names of interfaces

  /// False: nothing is expected.
  explicit operator bool() const { return by_guid || by_name; }
  /// How many cables are planned.
  std::size_t links() const {
    if (by_name) return by_name->cables.size();
    if (!by_guid) return 0;
    return static_cast<std::size_t>(
               std::ranges::count_if(by_guid->ports(), [](const Port& port) { return port.peer != kNoIndex; })) /
           2;
  }
};

}  // namespace weft
