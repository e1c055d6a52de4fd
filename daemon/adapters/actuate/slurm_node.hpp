// SPDX-License-Identifier: Apache-2.0
#pragma once
// A node as Slurm tells of it, and what that means for us. Pure: texts in, values out.

#include <string>
#include <string_view>
#include <vector>

#include "daemon/adapters/actuate/actuator.hpp"
#include "fabric/result.hpp"

namespace weft::actuate {

/// What Slurm says of one node.
struct SlurmNode {
  std::string name;                 ///< NodeName: what Slurm calls it
  std::string hostname;             ///< NodeHostName: what the host calls itself; may be empty
  std::vector<std::string> states;  ///< base state and flags as Slurm spells them: "MIXED", "DRAIN", "NOT_RESPONDING"
  std::string reason;
  std::string reason_user;  ///< who set the reason; empty when not told

  /// True when `state` is one of the states, in Slurm's spelling.
  bool has(std::string_view state) const;
  /// That user set the reason, as far as is known: true where either is not.
  bool may_be_by(std::string_view user) const;
};

/// What `scontrol show node` prints, in its form of several lines a node: each field that a person may have written
/// stands on a line of its own there, so that a reason cannot pass for a state. kProtocol when a node lacks its name or
/// its state.
Result<std::vector<SlurmNode>> parse_scontrol_nodes(std::string_view text);

/// The hosts of those nodes that are drained, each by NodeName and, where it is told, NodeHostName.
std::vector<std::vector<std::string>> drained_slurm_hosts(const std::vector<SlurmNode>& nodes);

/// The nodes of a slurmrestd answer (`nodes[]` of GET /slurm/v0.0.39/nodes and /node/{name}); kProtocol.
Result<std::vector<SlurmNode>> parse_slurmrestd_nodes(std::string_view json);

/// The one node that runs on `host`, which may be short or qualified. NodeHostName decides, where it says nothing of
/// that host NodeName does. kNotFound; kFailedPrecondition when several nodes answer to it: draining one of them would
/// not drain the host.
Result<SlurmNode> find_slurm_node(const std::vector<SlurmNode>& nodes, std::string_view host);

/// The marks on all drained nodes: TargetReading::others, and `epoch` of those reasons that `our_user` may have set.
void add_slurm_marks(const std::vector<SlurmNode>& nodes, std::string_view our_user, const MarkOwner& owner,
                     TargetReading& seen);

/// How it stands. Drained with a mark of `owner`, set by `our_user` (not compared when either is empty): ours. Drained
/// otherwise, failing, down, in a maintenance reservation or not yet there: foreign. All else takes jobs, or will.
TargetReading judge_slurm_node(const SlurmNode& node, std::string_view our_user, const MarkOwner& owner);

}  // namespace weft::actuate
