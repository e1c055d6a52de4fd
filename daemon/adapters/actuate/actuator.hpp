#pragma once
// What changes the world. One small interface; the InfiniBand port, subnet managers, Slurm, Kubernetes and a webhook
// stand behind it.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "fabric/plan.hpp"
#include "fabric/result.hpp"
#include "fabric/sweep.hpp"

namespace weft::actuate {

/// How the world stands towards an order's target.
enum class WorldState : std::uint8_t {
  kClear,    ///< the link is in service, the node takes jobs
  kOurs,     ///< out of service, and it was us: our mark is on it, or nobody else could have done it
  kForeign,  ///< out of service by somebody else: hands off
};
const char* to_string(WorldState state);  ///< "clear", "ours", "foreign"

/// The state of a target, as it was read.
struct Observation {
  WorldState state = WorldState::kClear;
  std::string detail;  ///< what was read, in its own words: "DRAIN, reason 'disk' set by root"
};

/// One thing to be done, with everything that it takes.
struct Order {
  std::uint64_t plan = 0;
  std::uint64_t incident = 0;
  RemedyAction action = RemedyAction::kNothing;  ///< isolate, restore, raise cost, drain or undrain
  Entity target;
  std::string reason;  ///< one sentence for people, without our mark
  /// The fabric as last swept; null for hosts. Ways to ports are worked out from it.
  std::shared_ptr<const Sweep> sweep;

  /// "weft PLAN-7 INC-17: " and the reason: what a scheduler shows, and by which we know our own work again.
  std::string marked_reason() const;
};
/// True when the text was made by Order::marked_reason(), of whatever plan.
bool is_our_mark(std::string_view text);

/// All members block, within a bound of at most 30 s of their own, and are called on one lane. None retries, none
/// waits for an effect that takes longer than its bound: who calls reads again.
class Actuator {
 public:
  virtual ~Actuator() = default;
  /// "slurm", "infiniband_port", …: as Plan::actuator names it.
  virtual std::string name() const = 0;
  /// Reads how the target stands. Changes nothing. kNotFound when nobody there knows the target.
  virtual Result<Observation> observe(const Order& order) = 0;
  /// Does it, once. Success: it was taken; observe() tells whether it is so. kTimeout and kUnavailable: it may or may
  /// not have been taken, and a partner that hung may still take it minutes later. Any other failure: it was refused
  /// and nothing changed. Doing what is so already is a success and changes nothing; what somebody else did is never
  /// touched (kFailedPrecondition).
  virtual Result<void> apply(const Order& order) = 0;
  /// What apply() would do, in one sentence, as the command or request that it would send. Changes nothing.
  virtual Result<std::string> dry_run(const Order& order) = 0;
};

}  // namespace weft::actuate
