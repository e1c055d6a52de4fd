// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/schema.hpp"

// Every number of analyzer/remedy/limits.hpp as a key of its own name.

namespace weft::config {
namespace {

constexpr double kWeek = 7 * kDay;

}  // namespace

std::vector<Key> remedy_limits_schema() {
  return {
      {"remedy.limits.capacity.leaf_share_jobs",
       [](WeftdConfig& c) -> Field { return &c.remedy.limits.capacity.leaf_share_jobs; }, kShare, "share",
       "Minimum share of its designed paths to the highest tier that a leaf with jobs keeps. Collectives are as slow "
       "as their slowest flow, hence 0.9; with fewer than ten uplinks none can be isolated."},
      {"remedy.limits.capacity.leaf_share_idle",
       [](WeftdConfig& c) -> Field { return &c.remedy.limits.capacity.leaf_share_idle; }, kShare, "share",
       "The same for a leaf without jobs: operators of CorrOpt found 0.75 harmless."},
      {"remedy.limits.capacity.job_share", [](WeftdConfig& c) -> Field { return &c.remedy.limits.capacity.job_share; },
       kShare, "share", "Minimum share of their common spines that two leaves of one job keep."},
      {"remedy.limits.capacity.rail_share",
       [](WeftdConfig& c) -> Field { return &c.remedy.limits.capacity.rail_share; }, kShare, "share",
       "Minimum share of its leaves' uplinks that a rail keeps, if leaves serve rails."},
      {"remedy.limits.budget.actions_per_hour",
       [](WeftdConfig& c) -> Field { return &c.remedy.limits.budget.actions_per_hour; }, Bounds{1, 1000}, "actions",
       "Maximum of actions that isolate a link, raise a cost or drain a host in an hour, by anyone. More is a change "
       "of "
       "the fabric, not a repair, and needs manual planning."},
      {"remedy.limits.budget.returns_per_hour",
       [](WeftdConfig& c) -> Field { return &c.remedy.limits.budget.returns_per_hour; }, Bounds{1, 1000}, "actions",
       "Maximum of links and hosts that automation brings back in an hour. What a person restores is not limited."},
      {"remedy.limits.budget.out_minimum", [](WeftdConfig& c) -> Field { return &c.remedy.limits.budget.out_minimum; },
       Bounds{1, 1e6}, "links or hosts",
       "Maximum of targets that plans hold isolated, avoided or drained at once, or out_share of all links if that is "
       "more. For a drain, hosts that others drained count too."},
      {"remedy.limits.budget.out_share", [](WeftdConfig& c) -> Field { return &c.remedy.limits.budget.out_share; },
       kShare, "share", "The same as a share of all links, for large fabrics."},
      {"remedy.limits.budget.out_per_switch",
       [](WeftdConfig& c) -> Field { return &c.remedy.limits.budget.out_per_switch; }, Bounds{1, 255}, "links",
       "Maximum of links of one switch out at once: more bad links mean a fault of the switch."},
      {"remedy.limits.budget.out_per_rail",
       [](WeftdConfig& c) -> Field { return &c.remedy.limits.budget.out_per_rail; }, Bounds{1, 1e6}, "links",
       "Maximum of links of one rail out at once."},
      {"remedy.limits.budget.out_per_job", [](WeftdConfig& c) -> Field { return &c.remedy.limits.budget.out_per_job; },
       Bounds{1, 1e6}, "links or hosts", "Maximum of links and hosts of one job out at once."},
      {"remedy.limits.budget.cool_down", [](WeftdConfig& c) -> Field { return &c.remedy.limits.budget.cool_down; },
       Bounds{0, kDay}, "",
       "Minimum time between two of Weft's actions on the same target, so that actions do not follow an intermittent "
       "fault."},
      {"remedy.limits.breaker.share", [](WeftdConfig& c) -> Field { return &c.remedy.limits.breaker.share; }, kShare,
       "share",
       "The circuit breaker trips if more targets than this share of all nodes need a remedy within breaker.window: "
       "so many at once have a common cause outside any plan. It is reset only by hand."},
      {"remedy.limits.breaker.minimum", [](WeftdConfig& c) -> Field { return &c.remedy.limits.breaker.minimum; },
       Bounds{1, 1e6}, "", "So many targets, or fewer, never trip the circuit breaker."},
      {"remedy.limits.breaker.window", [](WeftdConfig& c) -> Field { return &c.remedy.limits.breaker.window; },
       Bounds{1, kDay}, "", "Time window of the circuit breaker."},
      {"remedy.limits.breaker.actions_per_day",
       [](WeftdConfig& c) -> Field { return &c.remedy.limits.breaker.actions_per_day; }, Bounds{1, 1e6}, "actions",
       "More actions than this within a day also trip the circuit breaker."},
      {"remedy.limits.verification.windows",
       [](WeftdConfig& c) -> Field { return &c.remedy.limits.verification.windows; }, Bounds{1, 1000}, "sweeps",
       "Consecutive sweeps with the symptom gone, the routes as predicted and the neighbours no worse, before a plan "
       "is committed."},
      {"remedy.limits.verification.within",
       [](WeftdConfig& c) -> Field { return &c.remedy.limits.verification.within; }, Bounds{1, kDay}, "",
       "Time limit for the verification, after which the plan is rolled back. A subnet manager reroutes 10,000 hosts "
       "in ten seconds."},
      {"remedy.limits.verification.worse_windows",
       [](WeftdConfig& c) -> Field { return &c.remedy.limits.verification.worse_windows; }, Bounds{1, 1000}, "sweeps",
       "Consecutive sweeps with a worse neighbour before the plan is rolled back: one may be chance."},
      {"remedy.limits.verification.probation",
       [](WeftdConfig& c) -> Field { return &c.remedy.limits.verification.probation; }, Bounds{0, kWeek}, "",
       "Probation time of a returned link or host. A flap's penalty halves in a quarter of an hour."},
      {"remedy.limits.verification.reinstatements",
       [](WeftdConfig& c) -> Field { return &c.remedy.limits.verification.reinstatements; }, Bounds{1, 100}, "times",
       "Returns to service that may fail within reinstatement_window before the target stays out and needs manual "
       "work."},
      {"remedy.limits.verification.reinstatement_window",
       [](WeftdConfig& c) -> Field { return &c.remedy.limits.verification.reinstatement_window; },
       Bounds{60, 4 * kWeek}, "", "Time window of reinstatements."},
      {"remedy.limits.expiry", [](WeftdConfig& c) -> Field { return &c.remedy.limits.expiry; }, Bounds{60, kWeek}, "",
       "Lifetime of a proposal. While its reason lasts, a new proposal with current figures follows."},
      {"remedy.limits.reinstate_after", [](WeftdConfig& c) -> Field { return &c.remedy.limits.reinstate_after; },
       Bounds{0, 52 * kWeek}, "",
       "Time after which the return of an isolated link is proposed, since an isolated link shows no symptoms. A day "
       "is enough for a technician. A link that a person isolated is never returned by automation."},
      {"remedy.limits.undrain_after", [](WeftdConfig& c) -> Field { return &c.remedy.limits.undrain_after; },
       Bounds{0, kDay}, "",
       "Time without the fault before a drained host is proposed for return, or a raised link cost is reverted."},
      {"remedy.limits.readings", [](WeftdConfig& c) -> Field { return &c.remedy.limits.readings; }, Bounds{1, 100}, "",
       "Readings after a step before it counts as without effect. A subnet manager or scheduler may be slow; nothing "
       "is sent twice."},
      {"remedy.limits.reading_interval", [](WeftdConfig& c) -> Field { return &c.remedy.limits.reading_interval; },
       Bounds{0.1, 60}, "",
       "Time between these readings, and between the two that must agree before a plan lets go of what somebody else "
       "changed."},
      {"remedy.limits.failed_readings", [](WeftdConfig& c) -> Field { return &c.remedy.limits.failed_readings; },
       Bounds{1, 1000}, "", "Consecutive failed readings, at growing intervals, before the plan needs manual work."},
      {"remedy.limits.late_watch", [](WeftdConfig& c) -> Field { return &c.remedy.limits.late_watch; }, Bounds{0, kDay},
       "",
       "Time for which an unanswered step without effect is still observed: a controller may execute it after it "
       "recovers. At most 2 min of a port that weftd sets itself."},
      {"remedy.limits.check_interval", [](WeftdConfig& c) -> Field { return &c.remedy.limits.check_interval; },
       Bounds{1, kDay}, "", "Interval for checking whether actions are still in force: somebody may revert them."},
      {"remedy.limits.retention", [](WeftdConfig& c) -> Field { return &c.remedy.limits.retention; },
       Bounds{kDay, 52 * kWeek}, "",
       "Time that finished plans stay in memory and in lists. Those that a budget or another limit counts stay "
       "longer."},
      {"remedy.limits.retained_plans", [](WeftdConfig& c) -> Field { return &c.remedy.limits.retained_plans; },
       Bounds{10, 1e6}, "plans", "Maximum number of finished plans in memory, besides those that a limit counts."},
      {"remedy.limits.confidence", [](WeftdConfig& c) -> Field { return &c.remedy.limits.confidence; }, kShare, "0..1",
       "Minimum confidence of a finding for an action."},
      {"remedy.limits.stale_intervals", [](WeftdConfig& c) -> Field { return &c.remedy.limits.stale_intervals; },
       Bounds{1, 100}, "intervals", "Maximum age of the last sweep for an action, in sweep intervals."},
      {"remedy.limits.missing_share", [](WeftdConfig& c) -> Field { return &c.remedy.limits.missing_share; }, kShare,
       "share",
       "Maximum share of nodes missing in that sweep, and of adapters whose counters cannot be read, to take a link "
       "out."},
      {"remedy.limits.missing_for", [](WeftdConfig& c) -> Field { return &c.remedy.limits.missing_for; },
       Bounds{1, 7 * kDay}, "",
       "A node that is missing for longer was switched off or removed, and does not count there any more."},
      {"remedy.limits.communication_share",
       [](WeftdConfig& c) -> Field { return &c.remedy.limits.communication_share; }, kShare, "share",
       "Share of a job's time that is communication, for the cost of a lost uplink or a slow link. 0.2 is usual in "
       "training; measure yours."},
      {"remedy.limits.restart_cost", [](WeftdConfig& c) -> Field { return &c.remedy.limits.restart_cost; },
       Bounds{1, kDay}, "",
       "Cost of a job's restart, for links that go down under it: from its last checkpoint, ten minutes."},
  };
}

}  // namespace weft::config
