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
       "Share of its designed ways to the highest tier that a leaf keeps where jobs run. Collectives are as slow as "
       "their slowest flow, so 0.9; with fewer than ten uplinks that spares none."},
      {"remedy.limits.capacity.leaf_share_idle",
       [](WeftdConfig& c) -> Field { return &c.remedy.limits.capacity.leaf_share_idle; }, kShare, "share",
       "The same where no job runs: CorrOpt's operators found 0.75 to cost nobody anything."},
      {"remedy.limits.capacity.job_share", [](WeftdConfig& c) -> Field { return &c.remedy.limits.capacity.job_share; },
       kShare, "share", "Share of their common spines that two leaves of one job keep."},
      {"remedy.limits.capacity.rail_share",
       [](WeftdConfig& c) -> Field { return &c.remedy.limits.capacity.rail_share; }, kShare, "share",
       "Share of its leaves' uplinks that a rail keeps, where leaves serve rails."},
      {"remedy.limits.budget.actions_per_hour",
       [](WeftdConfig& c) -> Field { return &c.remedy.limits.budget.actions_per_hour; }, Bounds{1, 1000}, "actions",
       "What may be taken out of service in an hour, by whomever: more is no repair but a change of the fabric, and "
       "wants a person's plan."},
      {"remedy.limits.budget.out_minimum", [](WeftdConfig& c) -> Field { return &c.remedy.limits.budget.out_minimum; },
       Bounds{1, 1e6}, "links or hosts",
       "What our plans may hold out at once, or out_share of all links if that is more."},
      {"remedy.limits.budget.out_share", [](WeftdConfig& c) -> Field { return &c.remedy.limits.budget.out_share; },
       kShare, "share", "The same as a share of all links, for large fabrics."},
      {"remedy.limits.budget.out_per_switch",
       [](WeftdConfig& c) -> Field { return &c.remedy.limits.budget.out_per_switch; }, Bounds{1, 255}, "links",
       "Links of one switch that may be out at once: more bad ones are the switch's own trouble."},
      {"remedy.limits.budget.out_per_rail",
       [](WeftdConfig& c) -> Field { return &c.remedy.limits.budget.out_per_rail; }, Bounds{1, 1e6}, "links",
       "Links of one rail that may be out at once."},
      {"remedy.limits.budget.out_per_job", [](WeftdConfig& c) -> Field { return &c.remedy.limits.budget.out_per_job; },
       Bounds{1, 1e6}, "links or hosts", "What one job may lose at once."},
      {"remedy.limits.budget.cool_down", [](WeftdConfig& c) -> Field { return &c.remedy.limits.budget.cool_down; },
       Bounds{0, kDay}, "",
       "Time between two actions of ours on the same target: what comes and goes must not be acted on at its own "
       "pace."},
      {"remedy.limits.breaker.share", [](WeftdConfig& c) -> Field { return &c.remedy.limits.breaker.share; }, kShare,
       "share",
       "When more things than this share of all nodes ask for a remedy within breaker.window, the breaker trips: so "
       "much at once is one cause that no plan knows. Only a person resets it."},
      {"remedy.limits.breaker.minimum", [](WeftdConfig& c) -> Field { return &c.remedy.limits.breaker.minimum; },
       Bounds{1, 1e6}, "", "Fewer than so many never trip it."},
      {"remedy.limits.breaker.window", [](WeftdConfig& c) -> Field { return &c.remedy.limits.breaker.window; },
       Bounds{1, kDay}, "", "Within which they count."},
      {"remedy.limits.breaker.actions_per_day",
       [](WeftdConfig& c) -> Field { return &c.remedy.limits.breaker.actions_per_day; }, Bounds{1, 1e6}, "actions",
       "More actions than this within a day trip it as well: a slow bleed."},
      {"remedy.limits.verification.windows",
       [](WeftdConfig& c) -> Field { return &c.remedy.limits.verification.windows; }, Bounds{1, 1000}, "sweeps",
       "Sweeps in a row that must find the symptom gone, the routes as predicted and the neighbours no worse, before a "
       "plan is committed."},
      {"remedy.limits.verification.within",
       [](WeftdConfig& c) -> Field { return &c.remedy.limits.verification.within; }, Bounds{1, kDay}, "",
       "Time for that; afterwards it is rolled back. A subnet manager routes 10,000 hosts anew in ten seconds."},
      {"remedy.limits.verification.worse_windows",
       [](WeftdConfig& c) -> Field { return &c.remedy.limits.verification.worse_windows; }, Bounds{1, 1000}, "sweeps",
       "Sweeps in a row with a neighbour worse off before it is rolled back: one may be chance."},
      {"remedy.limits.verification.probation",
       [](WeftdConfig& c) -> Field { return &c.remedy.limits.verification.probation; }, Bounds{0, kWeek}, "",
       "How long what came back must stay well. A flap's penalty halves in a quarter of an hour."},
      {"remedy.limits.verification.reinstatements",
       [](WeftdConfig& c) -> Field { return &c.remedy.limits.verification.reinstatements; }, Bounds{1, 100}, "times",
       "Times that something may come back and fail again within reinstatement_window before it stays out and a person "
       "is asked."},
      {"remedy.limits.verification.reinstatement_window",
       [](WeftdConfig& c) -> Field { return &c.remedy.limits.verification.reinstatement_window; },
       Bounds{60, 4 * kWeek}, "", "See reinstatements."},
      {"remedy.limits.expiry", [](WeftdConfig& c) -> Field { return &c.remedy.limits.expiry; }, Bounds{60, kWeek}, "",
       "A proposal that nobody took up goes away after this; while its reason lasts a new one follows, with fresh "
       "figures."},
      {"remedy.limits.reinstate_after", [](WeftdConfig& c) -> Field { return &c.remedy.limits.reinstate_after; },
       Bounds{0, 52 * kWeek}, "",
       "An isolated link shows no symptoms: after this time its return is proposed, if nobody asked for it before. A "
       "day is what a technician takes."},
      {"remedy.limits.undrain_after", [](WeftdConfig& c) -> Field { return &c.remedy.limits.undrain_after; },
       Bounds{0, kDay}, "",
       "How long a drained host's trouble must be over before its return is proposed, and that of a link whose cost "
       "was "
       "raised before it is used as before."},
      {"remedy.limits.readings", [](WeftdConfig& c) -> Field { return &c.remedy.limits.readings; }, Bounds{1, 100}, "",
       "Readings after a step before it is said not to have taken. A subnet manager or scheduler may be slow; nothing "
       "is sent twice."},
      {"remedy.limits.reading_interval", [](WeftdConfig& c) -> Field { return &c.remedy.limits.reading_interval; },
       Bounds{0.1, 60}, "", "Time between them."},
      {"remedy.limits.failed_readings", [](WeftdConfig& c) -> Field { return &c.remedy.limits.failed_readings; },
       Bounds{1, 1000}, "",
       "Readings that may fail one after the other, at growing intervals, before a person is asked."},
      {"remedy.limits.late_watch", [](WeftdConfig& c) -> Field { return &c.remedy.limits.late_watch; }, Bounds{0, kDay},
       "",
       "What was not answered and did not take is still watched so long: a controller that hung may do it when it "
       "comes back."},
      {"remedy.limits.check_interval", [](WeftdConfig& c) -> Field { return &c.remedy.limits.check_interval; },
       Bounds{1, kDay}, "", "How often what is in force is read again: somebody may take it back."},
      {"remedy.limits.retention", [](WeftdConfig& c) -> Field { return &c.remedy.limits.retention; },
       Bounds{kDay, 52 * kWeek}, "",
       "How long plans that are over are kept in memory and shown. Budgets and reinstatements look back at them."},
      {"remedy.limits.retained_plans", [](WeftdConfig& c) -> Field { return &c.remedy.limits.retained_plans; },
       Bounds{10, 1e6}, "plans", "And at most so many."},
      {"remedy.limits.confidence", [](WeftdConfig& c) -> Field { return &c.remedy.limits.confidence; }, kShare, "0..1",
       "A finding less sure than this is no reason to act."},
      {"remedy.limits.stale_intervals", [](WeftdConfig& c) -> Field { return &c.remedy.limits.stale_intervals; },
       Bounds{1, 100}, "intervals", "A picture older than so many sweep intervals is none to act on."},
      {"remedy.limits.missing_share", [](WeftdConfig& c) -> Field { return &c.remedy.limits.missing_share; }, kShare,
       "share", "Share of the nodes that may be missing in it."},
      {"remedy.limits.communication_share",
       [](WeftdConfig& c) -> Field { return &c.remedy.limits.communication_share; }, kShare, "share",
       "Share of a job's time that it communicates: what a lost uplink or a slow link costs it follows from it. 0.2 is "
       "usual in training; measure yours."},
      {"remedy.limits.restart_cost", [](WeftdConfig& c) -> Field { return &c.remedy.limits.restart_cost; },
       Bounds{1, kDay}, "",
       "What starting anew costs a job, for links that go down under it: from its last checkpoint, ten minutes."},
  };
}

}  // namespace weft::config
