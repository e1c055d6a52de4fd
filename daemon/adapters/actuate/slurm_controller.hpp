// SPDX-License-Identifier: Apache-2.0
#pragma once
// The two ways to Slurm's controller: the command scontrol, and slurmrestd.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/adapters/actuate/slurm.hpp"
#include "daemon/adapters/actuate/slurm_node.hpp"
#include "fabric/clock.hpp"
#include "fabric/result.hpp"

namespace weft::actuate {

/// What to do with a node.
enum class SlurmChange : std::uint8_t { kDrain, kUndrain };

/// Reads and changes nodes of Slurm. All members but user() and describe() block.
class SlurmController {
 public:
  virtual ~SlurmController() = default;
  /// Who sets what we set, as Slurm shows it beside a reason; empty when not known.
  virtual std::string user() const = 0;
  /// All nodes. Fails when the controller does not answer within `timeout`.
  virtual Result<std::vector<SlurmNode>> nodes(Duration timeout) = 0;
  /// kNotFound when there is no such node.
  virtual Result<SlurmNode> node(const std::string& name, Duration timeout) = 0;
  /// Failures as of Actuator::apply(). `reason` is for a drain. `before`: as last_moment().
  virtual Result<void> change(const std::string& name, SlurmChange change, const std::string& reason, Duration timeout,
                              std::optional<Duration> before) = 0;
  /// What change() would send, for people.
  virtual std::string describe(const std::string& name, SlurmChange change, const std::string& reason) const = 0;
};

/// By `scontrol` (Slurm 20.11 and later), run without a shell. kNotFound when it is not installed.
Result<std::unique_ptr<SlurmController>> make_scontrol(const SlurmOptions& options);
/// By slurmrestd, API v0.0.39 and later (slurmrestd of 22.05 and before cannot change nodes).
Result<std::unique_ptr<SlurmController>> make_slurmrestd(const SlurmOptions& options);

}  // namespace weft::actuate
