// SPDX-License-Identifier: Apache-2.0
#pragma once
// Plans, how automation stands and the audit trail as messages, and the questions that are asked of a snapshot about
// them. Pure: no I/O.

#include <string_view>
#include <vector>

#include "fabric/plan.hpp"
#include "fabric/result.hpp"
#include "fabric/snapshot.hpp"
#include "weft/v1/remedy.pb.h"

namespace weft::api {

/// The value of the same name in the API.
v1::Plan::Action to_proto(RemedyAction action);
v1::Plan::State to_proto(PlanState state);
/// Fills in the message of a plan.
void to_proto(const Plan& from, v1::Plan& to);
/// Fills in the message about automation as a whole.
void to_proto(const RemedyStatus& from, v1::RemedyStatus& to);
/// Fills in the message of one audit record.
void to_proto(const AuditRecord& from, v1::AuditRecord& to);
/// As many of the newest records as a page holds, and the token of the page before them.
void to_proto(const std::vector<AuditRecord>& from, v1::ListAuditResponse& to);

/// Ascending by id. kInvalidArgument for a negative page size or a token that is none.
Result<v1::ListPlansResponse> list_plans(const Snapshot& snapshot, const v1::ListPlansRequest& request);
/// `id` as a person writes it: "PLAN-7", "7". kInvalidArgument when it is none, kNotFound.
Result<v1::Plan> get_plan(const Snapshot& snapshot, std::string_view id);
/// The state of automation as a message.
v1::RemedyStatus remedy_status(const Snapshot& snapshot);

/// What a ListAuditRequest asks of the trail.
struct AuditRange {
  std::uint64_t before = 0;  ///< 0: from the newest
  std::size_t limit = 0;
};
/// kInvalidArgument for a negative page size or a token that is none.
Result<AuditRange> parse_audit_request(const v1::ListAuditRequest& request);

}  // namespace weft::api
