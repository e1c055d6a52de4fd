// SPDX-License-Identifier: Apache-2.0
#pragma once
// How far remedies may go, and why each default is what it is. Each is bound to a config key.

#include <cstdint>

#include "fabric/clock.hpp"

namespace weft::analyzer {

/// What must be left of the fabric when a link is taken out (CorrOpt, SIGCOMM'17, section 5: a share of the ways from
/// each leaf to the spine).
struct CapacityLimits {
  /// Share (0..1) of its ways up that a leaf keeps where jobs run: collectives are as slow as their slowest flow.
  double leaf_share_jobs = 0.9;
  /// … and where none runs.
  double leaf_share_idle = 0.75;
  /// Share (0..1) of their common spines that two leaves of one job keep.
  double job_share = 0.9;
  /// Share (0..1) of its leaves' uplinks that a rail keeps.
  double rail_share = 0.9;
};

/// How many actions there may be, and how much may be out of service at once.
struct BudgetLimits {
  /// Actions that take something out of service in an hour.
  unsigned actions_per_hour = 6;
  /// Links and hosts that automation brings back in an hour.
  unsigned returns_per_hour = 6;
  /// Links and hosts out at once by our plans: this many, or out_share of all links, whichever is more.
  unsigned out_minimum = 10;
  double out_share = 0.005;  ///< 0..1
  unsigned out_per_switch = 2;
  unsigned out_per_rail = 4;
  unsigned out_per_job = 2;
  /// Time between two actions on the same target, unless a person asks: what comes and goes must not be acted on at
  /// its own pace.
  Duration cool_down = std::chrono::minutes(30);
};

/// When the circuit breaker trips. A person resets it.
struct BreakerLimits {
  /// More incidents with a remedy than this share (0..1) of all nodes, begun within `window`, trip it: so much at once
  /// is one cause that no plan of ours knows.
  double share = 0.02;
  unsigned minimum = 5;  ///< fewer never trip it
  Duration window = std::chrono::minutes(5);
  /// More actions than this within a day trip it too: a slow bleed.
  unsigned actions_per_day = 24;
};

/// How a plan is verified after its action.
struct VerificationLimits {
  /// Sweeps in a row that must find everything well before a plan is committed.
  unsigned windows = 10;
  /// It is rolled back when that was not so within this time.
  Duration within = std::chrono::minutes(5);
  /// Sweeps in a row with a neighbour worse off before it is rolled back.
  unsigned worse_windows = 3;
  /// A link or host that came back must stay well so long.
  Duration probation = std::chrono::minutes(15);
  /// Reinstatements that failed within `reinstatement_window` before a target is kept out and a person asked.
  unsigned reinstatements = 2;
  Duration reinstatement_window = std::chrono::hours(7 * 24);
};

/// All limits of remedies.
struct RemedyLimits {
  CapacityLimits capacity;
  BudgetLimits budget;
  BreakerLimits breaker;
  VerificationLimits verification;
  /// An approval is for what was proposed within this time. A proposal that is older is judged and told anew while its
  /// reason lasts, as the same plan.
  Duration expiry = std::chrono::hours(4);
  /// An isolated link is offered for reinstatement after this, if nobody does it before.
  Duration reinstate_after = std::chrono::hours(24);
  /// A host whose trouble is over is offered its undrain after this, and a link that was only made costly its old cost.
  Duration undrain_after = std::chrono::minutes(5);
  /// Readings of the world after a step before it is said not to have taken, and the time between two.
  unsigned readings = 5;
  Duration reading_interval = std::chrono::seconds(2);
  /// Readings that may fail one after the other before a plan is given to a person.
  unsigned failed_readings = 20;
  /// What was not answered and did not take is still read so long: a controller that hung may do it when it comes back.
  Duration late_watch = std::chrono::minutes(30);
  /// What is in force is read again this often: somebody may take it back.
  Duration check_interval = std::chrono::minutes(5);
  /// Plans kept in memory after they are over, and how long. No more than so many are open at once either.
  Duration retention = std::chrono::hours(7 * 24);
  unsigned retained_plans = 2000;
  /// A finding less sure than this (0..1) is no reason to act.
  double confidence = 0.6;
  /// Readings older than this many sweep intervals are no picture to act on.
  unsigned stale_intervals = 3;
  /// Share (0..1) of the nodes that may be unreachable or unread in that picture.
  double missing_share = 0.02;
  /// A node that is unreachable for longer does not count there: it was switched off or taken away.
  Duration missing_for = std::chrono::hours(1);
  /// Share (0..1) of a job's time that it communicates, where nothing tells: what a lost uplink costs it follows from
  /// it.
  double communication_share = 0.2;
  /// What a restart costs a job, for links that go down and up under it.
  Duration restart_cost = std::chrono::minutes(10);
};

}  // namespace weft::analyzer
