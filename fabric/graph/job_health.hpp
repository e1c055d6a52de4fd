// SPDX-License-Identifier: Apache-2.0
#pragma once
// Is all that a job uses well: its nodes, and the links and switches between them? Pure functions of one snapshot.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/graph/traffic.hpp"
#include "fabric/snapshot.hpp"

namespace weft {

/// The worse of two verdicts: HEALTHY, DEGRADED, UNKNOWN, UNHEALTHY in this order, for what nobody knows may be worse
/// than what is known to be poor.
HealthVerdict worse_of(HealthVerdict one, HealthVerdict other);

/// Hosts whose collectors last said, before a restart too, that this job holds them; and those that are the cause
/// of an open incident which names the job, where no collector says what holds them. Sorted. `job` as HostReading::jobs
/// has it, or only what stands behind its first colon: "1234" for "slurm:1234".
std::vector<std::string> hosts_of_job(const Snapshot& snapshot, std::string_view job);

/// Hosts whose jobs are not known: their collectors told them an older weftd that did not keep them, and have not
/// reported since. Sorted.
std::vector<std::string> hosts_of_unknown_jobs(const Snapshot& snapshot);

/// The result of assess_job(). It points into the snapshot that it was made from.
struct JobHealth {
  /// A link on the job's ways that open incidents blame.
  struct Link {
    const FabricView* fabric = nullptr;
    PortIndex sender = kNoIndex;  ///< of the directions that are used, the one with the smaller index
    HealthVerdict verdict = HealthVerdict::kHealthy;
    RecommendedAction action = RecommendedAction::kNone;
    std::vector<std::shared_ptr<const Incident>> incidents;  ///< by id
  };
  /// Two ports of the job between which packets do not arrive.
  struct BrokenPath {
    const FabricView* fabric = nullptr;
    Traffic::Pair pair;
  };

  HealthVerdict verdict = HealthVerdict::kHealthy;
  RecommendedAction action = RecommendedAction::kNone;
  std::vector<Link> links;                  ///< the worst first
  std::vector<const NodeHealth*> switches;  ///< on the way, not healthy; of the snapshot
  std::vector<BrokenPath> broken_paths;     ///< some
  std::uint64_t broken = 0;                 ///< paths that do not arrive
  std::uint64_t paths = 0;                  ///< that were looked at
  std::uint32_t links_used = 0;             ///< cables
  std::vector<std::string> not_followed;    ///< a sentence for each subnet whose ways are not known
};

/// Steps of one question, about a second of one core. Those of a job on 10,000 adapters of three levels take a third.
inline constexpr std::uint64_t kMostJobSteps = 32'000'000;

/// `hosts`: the health of the job's hosts, entries of `snapshot`; null for a host that was never seen, which is
/// UNKNOWN. Adapters talk to those of other hosts that have the same name (rails, "mlx5_3"); those whose name no other
/// host has, or where each host has but one, all to each other. An incident of planned work makes no verdict worse, but
/// is a reason to place no new job. What `snapshot` holds must outlive the result.
JobHealth assess_job(const Snapshot& snapshot, std::span<const NodeHealth* const> hosts);

}  // namespace weft
