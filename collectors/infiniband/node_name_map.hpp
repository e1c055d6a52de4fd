// SPDX-License-Identifier: Apache-2.0
#pragma once
// The node name map of opensm and infiniband-diags (ibnetdiscover(8), "NODE NAME MAP FILE FORMAT"): lines of
//   <guid> "<name>"
// with # comments. Names are for people; GUIDs stay the identity.

#include <string>
#include <string_view>
#include <unordered_map>

#include "fabric/ids.hpp"
#include "fabric/result.hpp"

namespace weft::infiniband {

/// Names for people by node GUID.
using NodeNameMap = std::unordered_map<NodeGuid, std::string>;

/// Reads a whole map. Fails with kInvalidArgument and one "line N: reason" for each of the first twenty faults: no
/// GUID, no name in quotes, something behind it, a GUID that was named otherwise before, more than a million entries.
Result<NodeNameMap> parse_node_name_map(std::string_view text);

}  // namespace weft::infiniband
