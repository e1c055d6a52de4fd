// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cables that a discovery cannot see, because their ports were down before it.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "fabric/analyzer_state.hpp"
#include "fabric/topology.hpp"

namespace weft {

/// Adds to the graphs of one fabric the cables that were known before its last discovery.
class KnownCables {
 public:
  /// The graph with a cable for each link of `known()` that has both ports there, neither of them up and neither with a
  /// cable; a port of several such links stays without one. The same pointer where nothing is added, and for a graph
  /// that was given before. `known` is called only after a discovery. O(ports) then and when the graph changes.
  std::shared_ptr<const Topology> complete(std::shared_ptr<const Topology> topology,
                                           const std::function<std::vector<KnownLink>()>& known);

 private:
  // Of the discovery that `missing_` is of.
  std::uint64_t epoch_ = 0;
  std::size_t nodes_ = 0;
  std::vector<LinkKey> missing_;  // that the discovery did not see
  std::shared_ptr<const Topology> given_, completed_;
};

}  // namespace weft
