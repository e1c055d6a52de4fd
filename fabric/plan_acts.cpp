// SPDX-License-Identifier: Apache-2.0
#include "fabric/plan_acts.hpp"

#include <algorithm>

namespace weft {

bool takes_out(RemedyAction action) {
  return action == RemedyAction::kIsolateLink || action == RemedyAction::kRaiseLinkCost ||
         action == RemedyAction::kDrainNode;
}

TimePoint given_back_at(const Plan& plan) {
  if (plan.in_force || plan.unresolved || is_left_to_others(plan.outcome)) return kNever;
  if (takes_out(plan.action))
    return plan.state == PlanState::kRolledBack && plan.started != kNever ? plan.finished : kNever;
  const auto probation = std::ranges::find(plan.steps, PlanState::kVerifying, &PlanStep::state);
  return probation == plan.steps.end() ? kNever : probation->at;
}

}  // namespace weft
