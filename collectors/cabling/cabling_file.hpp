// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files that say how a fabric is cabled: DOT, in the form that the Prescriptive Topology Manager of Cumulus Linux reads
// (ptmd(8), /etc/ptm.d/topology.dot) and NVIDIA Air exports, or a table with one cable a line.

#include <cstddef>
#include <string>
#include <string_view>

#include "fabric/cable_plan.hpp"
#include "fabric/result.hpp"

namespace weft::cabling {

/// Bounds of what is accepted, so that a wrong file costs little.
struct CablingLimits {
  static constexpr std::size_t kMostBytes = 64UL << 20;
  static constexpr std::size_t kMostNodes = 131'072;
  static constexpr std::size_t kMostCables = 1'000'000;
  static constexpr std::size_t kLongestName = 255;
};

/// The text of a file that a spreadsheet or an editor wrote: without a byte order mark, its lines with a newline at the
/// end also where they had carriage returns only. Fails with kInvalidArgument and "line 1: reason" for a zero byte
/// among the first 4,096, as UTF-16 has them.
Result<std::string> plan_text(std::string raw);

/// Whether the first lines are those of DOT, or of a table, see read_cable_table(): neither the name of a file nor its
/// later lines count.
bool is_cabling(std::string_view text);

/// Reads the cables of an Ethernet fabric between named ports, in one of two formats:
///  - a DOT graph whose edges are cables:
///
///      graph "fabric" {
///        "leaf01" [function="leaf"]
///        "leaf01":"swp1" -- "gpu-01":"eth2"
///      }
///
///    Attributes but `function` are left alone, and so are nodes without a cable. Graphviz' libcgraph does the reading,
///    one text at a time, within the bounds of check_dot_bounds();
///  - a table, where is_cabling() finds one that is not DOT; a cable may be listed from both ends.
///
/// A node with the attribute `function` is a host where that is "host" or "server", else a switch. Without it, it is a
/// switch when the name of one of its ports matches `switch_ports`, a regular expression of ECMAScript.
///
/// Fails with kInvalidArgument and one "line N: reason" on each line of the message, in the order of the lines, twenty
/// at most: text that is neither, a second graph, a name that is empty, too long, not printable ASCII or begins with %,
/// a cable without a port's name, from a node to itself, or at a port that has one already, no cable at all, a bound
/// exceeded, a `switch_ports` that is no regular expression. libcgraph does not tell where an edge stands: its lines
/// are those that name its port.
Result<CablePlan> parse_cabling(std::string_view text, std::string_view switch_ports);

/// The same for an InfiniBand subnet: a node is named by its name, description or GUID, and of the plan each port is a
/// number, each adapter of a host a node, as subnet_end() reads them. No node is said to be a switch. Fails as
/// parse_cabling(), and for a port that subnet_end() does not know.
Result<CablePlan> parse_subnet_cabling(std::string_view text);

}  // namespace weft::cabling
