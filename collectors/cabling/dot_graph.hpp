// SPDX-License-Identifier: Apache-2.0
#pragma once
// A DOT text as values: what libcgraph makes of it, and nothing of its own types.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/result.hpp"

namespace weft::cabling {

/// A node statement of the text.
struct DotNode {
  std::string name;
  std::string function;  ///< value of the attribute of that name; empty without one
};

/// An edge between two nodes, with the ports that the text names.
struct DotEdge {
  std::uint32_t tail = 0, head = 0;  ///< positions in DotGraph::nodes
  std::string tail_port, head_port;  ///< as written behind the colon; empty without one
};

/// A whole graph, in the order of the text.
struct DotGraph {
  bool is_strict = false;
  std::vector<DotNode> nodes;  ///< in the order of the text
  std::vector<DotEdge> edges;  ///< the same
};

/// Fails with kInvalidArgument and "line N: reason" for a text that is no DOT, holds no graph, or more than one, and as
/// check_dot_bounds().
Result<DotGraph> parse_dot(std::string_view text);

}  // namespace weft::cabling
