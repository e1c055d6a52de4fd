// SPDX-License-Identifier: Apache-2.0
#include "fabric/plan_acts.hpp"

#include <algorithm>

namespace weft {

bool takes_out(RemedyAction action) {
  return action == RemedyAction::kIsolateLink || action == RemedyAction::kRaiseLinkCost ||
         action == RemedyAction::kDrainNode;
}

RemedyAction inverse_action(const Plan& plan) {
  return plan.inverse == RemedyAction::kNothing ? inverse_of(plan.action) : plan.inverse;
}

RemedyAction outward_action(const Plan& plan) {
  return takes_out(plan.action) ? plan.action : inverse_action(plan);
}

bool is_in_force_after_all(const Plan& plan) {
  return takes_out(plan.action) && plan.in_force && !plan.unresolved &&
         (plan.state == PlanState::kRolledBack || plan.state == PlanState::kFailed);
}

TimePoint given_back_at(const Plan& plan) {
  if (plan.in_force || plan.unresolved || is_left_to_others(own_words(plan))) return kNever;
  if (takes_out(plan.action))
    return plan.state == PlanState::kRolledBack && plan.started != kNever ? plan.finished : kNever;
  const auto probation = std::ranges::find(plan.steps, PlanState::kVerifying, &PlanStep::state);
  return probation == plan.steps.end() ? kNever : probation->at;
}

bool is_given_back_since(const Plan& plan, TimePoint read, TimePoint now) {
  const TimePoint at = given_back_at(plan);
  return at != kNever && read <= at && (at <= now || read > now);
}

}  // namespace weft
