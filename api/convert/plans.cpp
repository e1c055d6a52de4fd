// SPDX-License-Identifier: Apache-2.0
#include "api/convert/plans.hpp"

#include <algorithm>
#include <charconv>
#include <string>

#include "api/convert/incidents.hpp"
#include "api/convert/pages.hpp"
#include "api/convert/times.hpp"
#include "api/publication/utf8.hpp"

namespace weft::api {
namespace {

constexpr std::int32_t kUsualAuditPage = 100;
constexpr std::int32_t kLongestAuditPage = 1000;
constexpr std::string_view kLabelGap = " - ";

// The messages' enums are ours moved up by one, for their "unspecified" zero.
static_assert(v1::Plan::NOTHING == static_cast<int>(RemedyAction::kNothing) + 1);
static_assert(v1::Plan::RAISE_LINK_COST == static_cast<int>(RemedyAction::kRaiseLinkCost) + 1);
static_assert(v1::Plan::UNDRAIN_NODE == static_cast<int>(RemedyAction::kUndrainNode) + 1);
static_assert(v1::Plan::Action_MAX == static_cast<int>(RemedyAction::kCount));
static_assert(v1::Plan::COMMITTED == static_cast<int>(PlanState::kCommitted) + 1);
static_assert(v1::Plan::EXPIRED == static_cast<int>(PlanState::kExpired) + 1);
static_assert(v1::Plan::State_MAX == static_cast<int>(PlanState::kCount));
static_assert(v1::Plan::UNDO == static_cast<int>(PlanIntent::kUndo) + 1);
static_assert(v1::Plan::Intent_MAX == static_cast<int>(PlanIntent::kCount));
static_assert(v1::GuardVerdict::Guard_MAX == static_cast<int>(Guard::kCount));
static_assert(v1::GuardVerdict::REFUSED == static_cast<int>(GuardResult::kRefused) + 1);
static_assert(v1::GuardVerdict::NEEDS_PERSON == static_cast<int>(GuardResult::kNeedsPerson) + 1);

/// By its word: guards stand in the order of their checks here, and in the order of their coming in the message.
v1::GuardVerdict::Guard to_proto(Guard guard) {
  auto found = v1::GuardVerdict::GUARD_UNSPECIFIED;
  v1::GuardVerdict::Guard_Parse(to_string(guard), &found);
  return found;
}

void set_time(google::protobuf::Timestamp* (v1::Plan::*field)(), v1::Plan& to, TimePoint from) {
  if (from != kNever) set_timestamp(*(to.*field)(), from);
}

/// By the label of the link, "leaf-1 port 7 - spine-2 port 1", whose first end is Entity::port.
std::string end_label(const Plan& plan) {
  const std::string& label = plan.target.label;
  const std::size_t gap = label.find(kLabelGap);
  // A name may have such a dash in it as well.
  if (!plan.end || gap == std::string::npos || gap != label.rfind(kLabelGap)) return {};
  return *plan.end == plan.target.port ? label.substr(0, gap) : label.substr(gap + kLabelGap.size());
}

}  // namespace

v1::Plan::Action to_proto(RemedyAction action) {
  return static_cast<v1::Plan::Action>(static_cast<int>(action) + 1);
}
v1::Plan::State to_proto(PlanState state) {
  return static_cast<v1::Plan::State>(static_cast<int>(state) + 1);
}

void to_proto(const Plan& from, v1::Plan& to) {
  if (from.id != 0) to.set_id(plan_name(from.id));
  to.set_revision(from.revision);
  to.set_state(to_proto(from.state));
  to.set_action(to_proto(from.action));
  to_proto(from.target, *to.mutable_target());
  to.set_actuator(valid_utf8(from.actuator));
  if (from.incident != 0) to.set_incident_id(incident_name(from.incident));
  if (from.undoes != 0) to.set_undoes(plan_name(from.undoes));
  to.set_reason(valid_utf8(from.reason));
  to.set_requested_by(valid_utf8(from.requested_by));
  to.set_approved_by(valid_utf8(from.approved_by));
  for (const std::string& job : from.jobs) to.add_jobs(valid_utf8(job));
  for (const Candidate& could : from.candidates) {
    v1::Candidate& candidate = *to.add_candidates();
    candidate.set_action(to_proto(could.action));
    to_proto(could.target, *candidate.mutable_target());
    candidate.set_cost_ratio(could.cost_ratio);
    candidate.set_harm_ratio(could.harm_ratio);
    candidate.set_allowed(could.allowed);
    candidate.set_explanation(valid_utf8(could.explanation));
  }
  for (const GuardVerdict& verdict : from.guards) {
    v1::GuardVerdict& guard = *to.add_guards();
    guard.set_guard(to_proto(verdict.guard));
    guard.set_result(static_cast<v1::GuardVerdict::Result>(static_cast<int>(verdict.result) + 1));
    guard.set_explanation(valid_utf8(verdict.explanation));
  }
  for (const PlanStep& happened : from.steps) {
    v1::PlanStep& step = *to.add_steps();
    if (happened.at != kNever) set_timestamp(*step.mutable_at(), happened.at);
    step.set_state(to_proto(happened.state));
    step.set_who(valid_utf8(happened.who));
    step.set_what(valid_utf8(happened.what));
  }
  set_time(&v1::Plan::mutable_created, to, from.created);
  set_time(&v1::Plan::mutable_updated, to, from.updated);
  set_time(&v1::Plan::mutable_expires, to, from.expires);
  set_time(&v1::Plan::mutable_started, to, from.started);
  set_time(&v1::Plan::mutable_finished, to, from.finished);
  set_time(&v1::Plan::mutable_return_after, to, from.return_after);
  set_time(&v1::Plan::mutable_held_since, to, from.held_since);
  set_time(&v1::Plan::mutable_unresolved_until, to, from.unresolved_until);
  if (from.state == PlanState::kVerifying) set_time(&v1::Plan::mutable_probation_until, to, from.probation_until);
  if (!is_over(from.state)) to.set_waits_for(valid_utf8(from.waits_for));
  to.set_end(valid_utf8(end_label(from)));
  to.set_intent(static_cast<v1::Plan::Intent>(static_cast<int>(from.intent) + 1));
  to.set_in_force(from.in_force);
  if (from.in_force) to.set_kept_out(valid_utf8(from.kept_out));
  to.set_only_by_hand(from.in_force && from.only_by_hand);
  to.set_unresolved(from.unresolved);
  to.set_windows_good(from.windows_good);
  to.set_windows_needed(from.windows_needed);
  to.set_outcome(valid_utf8(from.outcome));
  to.set_refused(from.refused());
  if (from.action == RemedyAction::kRestoreLink || from.action == RemedyAction::kUndrainNode)
    to.set_reverted_action(to_proto(from.inverse == RemedyAction::kNothing ? inverse_of(from.action) : from.inverse));
}

void to_proto(const RemedyStatus& from, v1::RemedyStatus& to) {
  to.set_hands_off(from.is_stopped());
  to.set_hands_off_reason(valid_utf8(from.stop_reason()));
  if (from.hands_off) to.set_hands_off_by_person(valid_utf8(from.hands_off_reason));
  to.set_hands_off_by_file(valid_utf8(from.file_brake));
  for (const OrderUnderWay& order : from.under_way) {
    v1::OrderUnderWay& out = *to.add_under_way();
    out.set_plan_id(plan_name(order.plan));
    out.set_action(to_proto(order.action));
    out.set_target(valid_utf8(order.target));
    if (order.since != kNever) set_timestamp(*out.mutable_since(), order.since);
  }
  to.set_breaker_tripped(from.breaker_tripped);
  to.set_breaker_reason(valid_utf8(from.breaker_reason));
  if (from.breaker_tripped && from.breaker_since != kNever)
    set_timestamp(*to.mutable_breaker_since(), from.breaker_since);
  to.set_actions_last_hour(from.actions_last_hour);
  to.set_actions_per_hour(from.actions_per_hour);
  to.set_out_of_service(from.out_of_service);
  to.set_undone_by_others(from.undone_by_others);
  to.set_out_by_others(from.out_by_others);
  for (const std::string& label : from.links_out_by_others) to.add_links_out_by_others(valid_utf8(label));
  for (const SilentManager& silent : from.silent_managers) {
    to.add_silent_managers(valid_utf8(silent.fabric));
    set_timestamp(*to.add_silent_since(), silent.since);
  }
  if (from.orders_from != kNever) set_timestamp(*to.mutable_orders_from(), from.orders_from);
  to.set_on_probation(from.on_probation);
  to.set_unresolved(from.unresolved);
  to.set_without_plan(from.without_plan);
  for (const RemedyAction action : from.automatic) to.add_automatic(to_proto(action));
  for (const RemedyAction action : from.proposed) to.add_proposed(to_proto(action));
}

void to_proto(const AuditRecord& from, v1::AuditRecord& to) {
  to.set_sequence(from.sequence);
  if (from.at != kNever) set_timestamp(*to.mutable_at(), from.at);
  to.set_who(valid_utf8(from.who));
  to.set_what(valid_utf8(from.what));
  if (from.plan != 0) to.set_plan_id(plan_name(from.plan));
  if (from.incident != 0) to.set_incident_id(incident_name(from.incident));
  to.set_detail(valid_utf8(from.detail));
  to.set_hash(valid_utf8(from.hash));
}

void to_proto(const std::vector<AuditRecord>& from, v1::ListAuditResponse& to) {
  // From the newest backwards, so that what does not fit is what the next page begins with.
  PageBudget budget(0);
  for (auto record = from.rbegin(); record != from.rend() && !budget.full(); ++record) {
    v1::AuditRecord& added = *to.add_records();
    to_proto(*record, added);
    budget.spend(added.ByteSizeLong());
  }
  std::reverse(to.mutable_records()->pointer_begin(), to.mutable_records()->pointer_end());
  if (!to.records().empty() && to.records(0).sequence() > 1)
    to.set_next_page_token(std::to_string(to.records(0).sequence()));
}

Result<v1::ListPlansResponse> list_plans(const Snapshot& snapshot, const v1::ListPlansRequest& request) {
  if (request.page_size() < 0) return fail(ErrorCode::kInvalidArgument, "the page size must not be negative");
  // The token is the id of the last plan of the page before: it stays right whatever comes or goes meanwhile.
  std::uint64_t after = 0;
  if (!request.page_token().empty()) {
    const auto id = parse_plan_name(request.page_token());
    if (!id) return fail(ErrorCode::kInvalidArgument, "invalid page token");
    after = *id;
  }
  v1::ListPlansResponse response;
  if (!snapshot.plans) return response;
  PageBudget budget(request.page_size());
  std::uint64_t last = after;
  for (const auto& plan : *snapshot.plans) {
    if (plan->id <= after || !wanted(request.states(), to_proto(plan->state)) ||
        !wanted(request.actions(), to_proto(plan->action)))
      continue;
    if (budget.full()) {
      response.set_next_page_token(plan_name(last));
      break;
    }
    v1::Plan& added = *response.add_plans();
    to_proto(*plan, added);
    budget.spend(added.ByteSizeLong());
    last = plan->id;
  }
  return response;
}

Result<v1::Plan> get_plan(const Snapshot& snapshot, std::string_view id) {
  const auto number = parse_plan_name(id);
  if (!number) return fail(ErrorCode::kInvalidArgument, "a plan's id must be like PLAN-7, not " + valid_utf8(id));
  if (snapshot.plans)
    for (const auto& plan : *snapshot.plans)
      if (plan->id == *number) {
        v1::Plan message;
        to_proto(*plan, message);
        return message;
      }
  return fail(ErrorCode::kNotFound,
              "no plan " + plan_name(*number) + ": weftctl plans --all lists those that are known");
}

v1::RemedyStatus remedy_status(const Snapshot& snapshot) {
  v1::RemedyStatus message;
  to_proto(snapshot.remedy, message);
  return message;
}

Result<AuditRange> parse_audit_request(const v1::ListAuditRequest& request) {
  if (request.page_size() < 0) return fail(ErrorCode::kInvalidArgument, "the page size must not be negative");
  const std::int32_t size =
      request.page_size() == 0 ? kUsualAuditPage : std::min(request.page_size(), kLongestAuditPage);
  AuditRange range{0, static_cast<std::size_t>(size)};
  if (const std::string& token = request.page_token(); !token.empty()) {
    const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), range.before);
    if (error != std::errc{} || end != token.data() + token.size() || range.before == 0)
      return fail(ErrorCode::kInvalidArgument, "invalid page token");
  }
  return range;
}

}  // namespace weft::api
