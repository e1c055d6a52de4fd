// SPDX-License-Identifier: Apache-2.0
#pragma once
// What plans do to their targets.

#include "fabric/plan.hpp"

namespace weft {

/// True for actions that take something out of service (or make it be avoided), false for those that bring it back.
bool takes_out(RemedyAction action);

/// What takes back what the plan does (Plan::inverse).
RemedyAction inverse_action(const Plan& plan);
/// By which action the plan's target is out, or would be: its own, or that which it takes back.
RemedyAction outward_action(const Plan& plan);

/// It was undone, or ended while nobody knew how its target was, and holds that all the same: what was sent for it
/// landed late.
bool is_in_force_after_all(const Plan& plan);

/// When it was known that what the plan gave back is back: a return's probation begins then, and an action that was
/// undone ends. What was read before that says nothing of the target now. kNever: the plan gave back nothing, or
/// somebody else, or nobody knows who, has its target.
TimePoint given_back_at(const Plan& plan);

/// What was read of the plan's target at `read` is older than that the plan gave it back. All times by a clock that may
/// have been set back since one of them: what lies ahead of `now` was before that.
bool is_given_back_since(const Plan& plan, TimePoint read, TimePoint now);

}  // namespace weft
