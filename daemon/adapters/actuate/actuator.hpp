// SPDX-License-Identifier: Apache-2.0
#pragma once
// What changes the world. One small interface; the InfiniBand port, subnet managers, Slurm, Kubernetes and a webhook
// stand behind it.

#include <optional>
#include <string>
#include <vector>

#include "fabric/plan.hpp"
#include "fabric/result.hpp"

namespace weft::actuate {

/// What a partner has out of service.
struct OutOfService {
  std::vector<std::vector<std::string>> hosts;  ///< drained or cordoned, each by all its names there
  std::vector<PortKey> ports;  ///< of links that a subnet manager avoids or does without; one end will do
};

/// All members block, within a bound of at most 30 s of their own, and are called on one lane. None retries, none
/// waits for an effect that takes longer than its bound: who calls reads again.
class Actuator {
 public:
  virtual ~Actuator() = default;
  /// "slurm", "infiniband_port", …: as Plan::actuator names it.
  virtual std::string name() const = 0;
  /// Reads how the target stands. Changes nothing. kNotFound when nobody there knows the target.
  virtual Result<TargetReading> observe(const RemedyOrder& order) = 0;
  /// Does it, once. Success: it was taken; observe() tells whether it is so. kTimeout and kUnavailable: it may or may
  /// not have been taken, and a partner that hung may still take it minutes later. Any other failure: it was refused
  /// and nothing changed; kNotFound: because the target could not be seen to be the one that is meant, which may pass.
  /// What is so already is not sent: a success where it is known to be our own work, as by a mark, or is to be brought
  /// back; kAlreadyExists where it is to be taken out, and nothing tells who did that. What somebody else did is never
  /// touched (kFailedPrecondition).
  virtual Result<void> apply(const RemedyOrder& order) = 0;
  /// How long after its call what apply() sent may still land at most; nullopt: nobody knows.
  virtual std::optional<Duration> latest_landing() const { return std::nullopt; }
  /// It can do nothing with a link before the sweep of an order (RemedyOrder::sweep) tells the way to it.
  virtual bool needs_sweep() const { return true; }
  /// Of what out_of_service() tells: kHost or kLink; nullopt: it cannot tell.
  virtual std::optional<EntityKind> tells_out_of_service() const { return std::nullopt; }
  /// All that is out of service there now, by whomever. Fails as observe().
  virtual Result<OutOfService> out_of_service() { return OutOfService{}; }
  /// What apply() would do, in one sentence, as the command or request that it would send. Changes nothing.
  virtual Result<std::string> dry_run(const RemedyOrder& order) = 0;
};

}  // namespace weft::actuate
