// SPDX-License-Identifier: Apache-2.0
#pragma once
// A whole site as a snapshot, to count what /metrics makes of it.

#include <memory>

#include "fabric/snapshot.hpp"

namespace weft::bench {

/// Hosts with eight NDR adapters each, in a fat tree of three stages of 64-port switches without oversubscription;
/// every port was read, optional counters with 16 virtual lanes and 12 lanes included, and a collector on each host
/// reads 18 counters of RDMA errors and an optical module of four lanes for each adapter. As in a fabric that has
/// worked for weeks: all ports carried data and corrected symbols on four lanes, and waited on virtual lane 0; a fifth
/// of the links went down once, and of every 50 ports one has moved any given other error counter.
struct SizedFabric {
  std::shared_ptr<Snapshot> snapshot;
  std::size_t ports = 0;  ///< of adapters and switches, without ports 0
};

/// Makes it for so many hosts. With `leaves_out`, counters that never moved have no series.
SizedFabric sized_fabric(unsigned hosts, TimePoint now, bool leaves_out);

}  // namespace weft::bench
