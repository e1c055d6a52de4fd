// SPDX-License-Identifier: Apache-2.0
#pragma once
// Topology files: what ibnetdiscover(8) prints and ibsim reads. Used as the expected topology and in demonstrations.

#include <string_view>

#include "fabric/result.hpp"
#include "fabric/topology.hpp"

namespace weft::infiniband {

/// Bounds of what is accepted, so that a wrong file costs little.
struct TopologyFileLimits {
  static constexpr std::size_t kLongestLine = 4096;
  static constexpr std::size_t kMostNodes = 131'072;
  static constexpr std::size_t kMostPorts = 4'000'000;
};

/// Whether the first line that is neither empty nor a comment has the form of one of these files, be it right or wrong:
/// a node, a port, a property ("vendid=0x2c9"), a heading of --grouping, or a line of --ports. True where there is
/// none.
bool is_topology_file(std::string_view text);

/// Reads one of two formats, told apart by the first line that is neither empty nor a comment:
///  - ibnetdiscover's own output (rdma-core 44; also with --full and --grouping), and what people write by hand in that
///    form for ibsim: names in place of GUIDs, then the GUID is that of the switchguid=, caguid= or rtguid= line, or
///    the hexadecimal digits behind "S-", "H-" or "R-";
///  - its --ports report ("CA 134 1 0x… 4x EDR - SW …"). That report has the GUIDs of ports only: each adapter's port
///    becomes a node under its port's GUID, and a node has as many ports as the highest one named.
///
/// A port that the file lists with a peer is Active and LinkUp, with the width and speed of the file where it has them;
/// every other port is Down. A cable listed from one end only is taken for both. The epoch is 1.
///
/// Fails with kInvalidArgument and one "line N: reason" on each line of the message, twenty at most: text that is no
/// such line, a port or GUID that makes no sense, a peer that the file does not describe, ends that contradict each
/// other, a node described twice, a bound exceeded, no node at all.
Result<Topology> parse_topology_file(std::string_view text);

}  // namespace weft::infiniband
