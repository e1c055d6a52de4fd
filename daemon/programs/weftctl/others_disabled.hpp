// SPDX-License-Identifier: Apache-2.0
#pragma once
// Links that plans hold no more and that are down all the same, because somebody else disabled an end.

#include "daemon/programs/weftctl/plan_report.hpp"
#include "daemon/programs/weftctl/verbs.hpp"
#include "weft/v1/remedy.pb.h"

namespace weft::ctl {

/// Links that were isolated by a plan, and that nobody but whoever disabled their end can bring up; nothing where there
/// are none. Before the first sweep it says that they are not known. `all`: the plans that are known, ascending by id.
/// The links are asked for only if some plan ended so.
void print_others_disabled(const Session& session, const v1::ListPlansResponse& all);

/// How the link of the plan was read last; kUnknown also of what is no link, or is held by a plan.
LinkNow link_now(const Session& session, const v1::Plan& plan);

}  // namespace weft::ctl
