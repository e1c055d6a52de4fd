// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a DOT text may hold before libcgraph reads it.

#include <string_view>

#include "fabric/result.hpp"

namespace weft::cabling {

/// Looks at the words of a DOT text (graphviz.org/doc/info/lang.html), so that libcgraph takes memory and time in
/// proportion to its length. Refused is
///  - what stands for the square of its length: an edge from or to a subgraph, a list of nodes, as in "a, b -- c, d";
///  - more nodes and edges than CablingLimits, and many attributes or subgraphs: each node has a place for each
///    attribute, and is noted in each subgraph around it;
///  - a name in pieces, "a" + "b", outside of an attribute's value;
///  - a node's name that begins with %: libcgraph takes it for a number of its own, and gives another one back.
/// Fails with kInvalidArgument and "line N: reason". What else is wrong with the text is left to libcgraph.
Result<void> check_dot_bounds(std::string_view text);

}  // namespace weft::cabling
