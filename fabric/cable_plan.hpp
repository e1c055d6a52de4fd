// SPDX-License-Identifier: Apache-2.0
#pragma once
// How a fabric is cabled, as people have planned it in names.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace weft {

/// One end of a cable.
struct CableEnd {
  std::uint32_t node = 0;  ///< position in CablePlan::nodes
  std::string port;        ///< name of the interface there: "swp1", "eth2"; on InfiniBand its number, "1" to "254"
  bool operator==(const CableEnd&) const = default;
};

/// Switches and hosts, and the cables between them. A value; whoever makes one sees to it that names are printable
/// ASCII, that no node comes twice, and that no end has two cables.
struct CablePlan {
  /// A switch or a host of the plan.
  struct Node {
    /// "leaf01", "gpu-01": the name that its collector tells, where it has one; on InfiniBand that of the node,
    /// "gpu-01 mlx5_0"
    std::string name;
    bool is_switch = false;  ///< on InfiniBand the fabric tells it
    bool operator==(const Node&) const = default;
  };
  /// A cable between two planned ends; the order of the ends has no meaning.
  struct Cable {
    CableEnd a, b;
    std::size_t line = 0;  ///< of the file; 0: not known
    /// The ends count, not where they are written.
    bool operator==(const Cable& other) const { return a == other.a && b == other.b; }
  };
  std::vector<Node> nodes;  ///< those with a cable
  std::vector<Cable> cables;
  bool operator==(const CablePlan&) const = default;
};

}  // namespace weft
