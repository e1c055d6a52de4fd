// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where nodes and ports stand in a fabric, as people speak of it: tier, pod, rail.

#include <cstdint>
#include <string>
#include <vector>

#include "fabric/ids.hpp"

namespace weft {

inline constexpr std::uint8_t kNoTier = 255;

/// Of one topology, by its indices. What is not known, or does not exist in such a fabric, is kNoTier or kNoIndex.
struct Places {
  std::vector<std::uint8_t> tiers;      ///< of each node: 0 adapters and routers, 1 leaf switches, 2 those above, …
  std::vector<std::uint32_t> pods;      ///< of each node: position in pod_names
  std::vector<std::uint32_t> rails;     ///< of each port: position in rail_names; both ends of an access link have one
  std::vector<std::string> pod_names;   ///< sorted as people count: "2" before "10"
  std::vector<std::string> rail_names;  ///< the same

  /// Empty when the node is of no pod, the port of no rail.
  const std::string& pod_of(NodeIndex node) const { return name(pods, pod_names, node); }
  /// Name of the rail of a port; empty when it is of none.
  const std::string& rail_of(PortIndex port) const { return name(rails, rail_names, port); }

 private:
  static const std::string& name(const std::vector<std::uint32_t>& of, const std::vector<std::string>& names,
                                 std::uint32_t index) {
    static const std::string kNone;
    return index < of.size() && of[index] != kNoIndex ? names[of[index]] : kNone;
  }
};

}  // namespace weft
