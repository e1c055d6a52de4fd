// SPDX-License-Identifier: Apache-2.0
#pragma once
// What plans do to their targets.

#include "fabric/plan.hpp"

namespace weft {

/// True for actions that take something out of service (or make it be avoided), false for those that bring it back.
bool takes_out(RemedyAction action);

/// When it was known that what the plan gave back is back: a return's probation begins then, and an action that was
/// undone ends. What was read before that says nothing of the target now. kNever: the plan gave back nothing, or
/// somebody else, or nobody knows who, has its target.
TimePoint given_back_at(const Plan& plan);

}  // namespace weft
