// SPDX-License-Identifier: Apache-2.0
#pragma once
// What one look at the world says of a plan that is being verified.

#include "analyzer/remedy/clock_steps.hpp"
#include "analyzer/remedy/plan_runner.hpp"
#include "analyzer/remedy/settings.hpp"

namespace weft::analyzer {

/// `since`: when what the plan did came into force, so long ago as the clock says now: a step of it moves this too.
/// `ages`: as of view.now. Isolated: both ends are down, no route leads over the link, the
/// symptom is not seen any more, and nothing new is wrong beside it. Restored: it is up and nothing is wrong with it.
/// Undrained: the host is well. No data is not good.
Window judge_window(const Plan& plan, const RemedyView& view, TimePoint since, const Ages& ages,
                    const RemedyLimits& limits);

/// Whether the fabric is as before a link was taken out, now that this was undone at `since`: the link is up and those
/// who answered before (Plan::neighbours) do so again.
Window judge_undoing(const Plan& plan, const RemedyView& view, TimePoint since, const RemedyLimits& limits);

/// What the plan did is in force with success, so that its incidents wait for a repair and for nobody's decision: a
/// link is out or avoided, a host is drained and runs no job any more as far as its collector tells. A job that still
/// runs on a drained host suffers as before. A return that did not last holds its target as the plan before did.
bool is_looked_after(const Plan& plan, const RemedyView& view);

/// Ids of the incidents that the plan is of: its own, of an isolation the other trouble of that link that it ends,
/// and of a link's return what has begun on the link since, which is what it failed on. `incidents`: all that are
/// known.
std::vector<std::uint64_t> incidents_of(const Plan& plan, std::span<const std::shared_ptr<const Incident>> incidents);

/// Both ends of the link are up, by the last sweep.
bool is_link_up(const Entity& link, const RemedyView& view);

/// Both ends of the link are trained, by the last sweep: nobody holds one disabled, and the subnet manager may still
/// have to make them active.
bool is_link_trained(const Entity& link, const RemedyView& view);

/// What the last sweep says of the link, if it began after `since`, by those ends that it read.
LinkSight sight_of(const Entity& link, const RemedyView& view, TimePoint since);

/// Some open incident of warning or worse of the link, but that it is down, was seen after `since`.
bool is_link_troubled(const Entity& link, const RemedyView& view, TimePoint since, const Ages& ages);

/// Whether somebody else undid what the plan had done, such as enabled a link again, and no plan for the target has
/// begun since. `plans`: all that are known.
bool is_undone_by_others(const Plan& plan, std::span<const std::shared_ptr<const Plan>> plans);

/// What somebody else did then, in words: "somebody else enabled the link again".
std::string undone_text(const Plan& plan);

/// Who acknowledges an incident that the plan looks after: "weftd (PLAN-2)".
std::string caretaker_text(std::uint64_t plan);

/// Why the plan that acknowledged the incident looks after it no more: "PLAN-2 looks after it no more: PLAN-3 brought
/// its target back". Empty: a person acknowledged it or nobody did, some plan holds the target, or is changing it or
/// watching its return. `plans`: all that are known, ascending by id.
std::string let_go_text(const Incident& incident, std::span<const std::shared_ptr<const Plan>> plans);

/// The cause of an incident is the link, or a port at one of its ends.
bool is_the_link(const Entity& cause, const Entity& link);

/// Trouble of that kind at a link hurts nobody any more when the link is out.
bool ends_with_the_link(IncidentKind kind);

/// The incident was opened, came back or was seen again after `since`.
bool is_newer(const RemedyView& view, const Incident& incident, TimePoint since);

}  // namespace weft::analyzer
