// SPDX-License-Identifier: Apache-2.0
#pragma once
// How the cabling of a subnet differs from what is expected of it.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "fabric/ids.hpp"

namespace weft {

/// A port with the name of its node: the plan knows nodes that the fabric does not.
struct NamedPort {
  PortKey key;
  std::string node;
  std::string name{};  ///< of the interface on Ethernet, "swp3"; empty where ports have numbers only
  bool operator==(const NamedPort&) const = default;
};

/// A link by its two ends.
struct NamedLink {
  NamedPort a, b;
  bool operator==(const NamedLink&) const = default;
};

/// A link that is up, and at one end at least the plan has another port, or none.
struct MisledLink {
  NamedLink found;
  std::optional<NamedPort> a_expects, b_expects;  ///< the port that the plan has at found.a and at found.b
  bool operator==(const MisledLink&) const = default;
};

/// A cable of the plan that nothing is compared with, because it is not clear which ports it means.
struct IgnoredCable {
  std::size_t line = 0;  ///< of the plan's file; 0: not known, as in a DOT graph
  std::string cable;     ///< both ends: "gpu-1:1 -- leaf-1:3"
  std::string why;       ///< one sentence without a full stop
  bool operator==(const IgnoredCable&) const = default;
};

/// All differences. Of nodes and ports that are not planned nothing is expected.
struct CablingDifferences {
  std::size_t planned_links = 0;
  std::size_t compared_links = 0;         ///< of the fabric: up, with an end that is planned, or both nodes
  std::vector<NamedLink> missing;         ///< planned, and not seen; nothing is up at either end
  std::vector<NamedLink> down;            ///< planned and cabled so, and neither end is up
  std::vector<NamedLink> unplanned;       ///< up between planned nodes, at ports for which nothing is planned
  std::vector<MisledLink> misled;         ///< leads elsewhere
  std::vector<std::string> absent_nodes;  ///< planned, and not in the fabric; sorted
  std::vector<IgnoredCable> ignored;      ///< of the plan, not compared
  std::vector<PortKey> agreed{};          ///< both ends of each cable that is up and as planned, ascending
  bool operator==(const CablingDifferences&) const = default;

  /// The cabling is as planned.
  bool empty() const {
    return missing.empty() && down.empty() && unplanned.empty() && misled.empty() && absent_nodes.empty() &&
           ignored.empty();
  }
};

}  // namespace weft
