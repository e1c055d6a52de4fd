// SPDX-License-Identifier: Apache-2.0
#pragma once
// What one sweep of one subnet yields: the graph, the readings and how the asking went.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fabric/clock.hpp"
#include "fabric/found_cabling.hpp"
#include "fabric/routes.hpp"
#include "fabric/samples.hpp"
#include "fabric/topology.hpp"

namespace weft {

class Multipath;  // fabric/graph/multipath.hpp

/// How one management datagram (MAD) ended. The value of the label `result` of weft_sweep_requests_total.
enum class MadResult : std::uint8_t {
  kOk,
  kTimeout,      ///< no answer within the time-out, after all retries
  kRetried,      ///< no answer to one try; another followed
  kBadStatus,    ///< the answer's status was not 0
  kUnsupported,  ///< status said: method or attribute not supported
  kMalformed,    ///< too short, wrong class, attribute or base version; or it says what no graph can be
  kUnexpected,   ///< an answer to nothing outstanding: late, doubled or forged
  kSendFailed,   ///< the kernel did not take the request
  kCount,
};
inline constexpr std::size_t kMadResultCount = static_cast<std::size_t>(MadResult::kCount);
/// "ok", "timeout", "retried", "bad_status", "unsupported", "malformed", "unexpected", "send_failed".
const char* to_string(MadResult result);

/// How the requests of a sweep ended and how long it took.
struct SweepStatistics {
  std::array<std::uint64_t, kMadResultCount> requests{};  ///< by result, since the sweeper started
  /// Questions to the subnet administrator for path records, by result, since the sweeper started; part of `requests`.
  std::array<std::uint64_t, kMadResultCount> path_records{};
  Duration duration{};                     ///< of this sweep, first request to last answer
  std::uint32_t window = 0;                ///< requests kept outstanding at its end
  std::uint32_t nodes_backed_off = 0;      ///< nodes left out because they did not answer before
  std::uint32_t nodes_with_other_key = 0;  ///< nodes that say that our requests' M_Key is not theirs
  std::uint32_t silent_neighbors = 0;      ///< links that are up, behind which nobody ever answered
};

/// One sweep, complete. The tables have one row for each port of `topology`.
struct Sweep {
  std::string fabric;        ///< name of the subnet: unique in one weftd
  std::uint64_t number = 0;  ///< counts from 1 in each epoch
  TimePoint started = kNever;
  TimePoint finished = kNever;
  Duration interval{};  ///< from the start of one sweep to the start of the next, as configured
  PortKey local_port;   ///< the port that we ask through: never to be cut
  /// The port of the master subnet manager, as our own port tells its LID (PortInfo.MasterSMLID, vol. 1, 14.2.5.6).
  /// Nullopt: there is none, or nobody in the graph has that LID.
  std::optional<PortKey> subnet_manager;
  std::shared_ptr<const Topology> topology;
  std::shared_ptr<const SampleTable> counters;  ///< CounterGroup::kEverySweep
  std::shared_ptr<const SampleTable> details;   ///< CounterGroup::kDetail; null until a first one was read
  std::shared_ptr<const Routes> routes;         ///< forwarding tables; null until a first one was read, and on Ethernet
  std::shared_ptr<const Multipath> multipath;   ///< equal-cost ways of an Ethernet fabric; null on InfiniBand
  std::vector<TimePoint> state_read_at;         ///< for each port: when its PortInfo last arrived
  /// For each port of an Ethernet fabric: 1 where nobody reads the port itself, and its state is what the other end of
  /// the cable tells of itself. Empty on InfiniBand.
  std::vector<std::uint8_t> inferred_from_peer;
  /// Of an Ethernet fabric whose cables were found: what a person should know of them. Null: they are planned, or told
  /// by a subnet.
  std::shared_ptr<const FoundCabling> found{};
  SweepStatistics statistics;
};

}  // namespace weft
