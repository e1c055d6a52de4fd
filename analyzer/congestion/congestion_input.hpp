// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is known of a moment, by port, and what follows from it for one link.

#include <cstdint>
#include <memory>
#include <span>

#include "analyzer/congestion/port_marks.hpp"
#include "fabric/graph/multipath.hpp"
#include "fabric/routes.hpp"
#include "fabric/snapshot.hpp"
#include "fabric/topology.hpp"

namespace weft::analyzer {

/// What a moment is judged by. The vectors have one entry for each port.
struct CongestionInput {
  std::shared_ptr<const Topology> topology;
  std::shared_ptr<const Routes> routes;        ///< null where they are not known, and on Ethernet
  std::shared_ptr<const Multipath> multipath;  ///< equal-cost ways of an Ethernet fabric; null on InfiniBand
  std::span<const PortRates> rates;
  std::span<const float> elapsed;          ///< seconds between the last two readings; 0: nothing new was read
  std::span<const float> line_rates;       ///< bits per second after line coding; 0 while down
  std::span<const std::uint8_t> suspects;  ///< Suspect bits; may be empty
  std::span<const PortMarks> marks;        ///< may be empty
  std::span<const PortIndex> known;        ///< root links that were told of before, ascending; may be empty
  std::span<const PortIndex> recent{};     ///< root links of the last moments, ascending; may be empty
};

/// What other rules know of a port.
enum Suspect : std::uint8_t {
  kFaultyLink = 1,      ///< a fault of the link itself is known, other than that it is down
  kBrokenCounters = 2,  ///< its counters are not to be believed
  kUnsteady = 4         ///< the link comes and goes
};

/// Is that known of the port?
bool is_suspect(const CongestionInput& input, PortIndex port, Suspect what);
/// What a port sends, of its rate (0..1), which must not be 0; from the other end's receive counter where its own is
/// not known. Negative where neither is.
float utilization_of(const CongestionInput& input, PortIndex egress);
/// Share of the time (0..1) in which congestion notifications keep a host's port from sending more; `utilization` is
/// its own. 0 where there are none, or where that is not known.
float slowed_share(const CongestionInput& input, PortIndex egress, float utilization);
/// The link at a port that has a peer runs narrower or slower than both ends could.
bool below_design(const Topology& topology, PortIndex port);
/// The link at a port that has a peer is down, comes and goes, or is below design.
bool is_lost(const CongestionInput& input, PortIndex port);

}  // namespace weft::analyzer
