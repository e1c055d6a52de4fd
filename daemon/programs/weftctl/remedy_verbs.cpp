// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <vector>

#include "daemon/programs/weftctl/plan_report.hpp"
#include "daemon/programs/weftctl/table.hpp"
#include "daemon/programs/weftctl/value_format.hpp"
#include "daemon/programs/weftctl/verbs.hpp"

namespace weft::ctl {
namespace {

using Stub = v1::RemedyService::Stub;

/// As one asked for it: whoever wanted something done is told by the exit status that it will not be.
Exit print_answer(const Session& session, const v1::Plan& plan) {
  if (session.json) {
    session.out << json_text(plan, false) << '\n';
  } else {
    print_plan(session.out, plan, session.now);
  }
  return plan.state() == v1::Plan::PROPOSED && plan.refused() ? Exit::kRefused : Exit::kGood;
}

Exit print_answer(const Session& session, const v1::RemedyStatus& status) {
  if (session.json) {
    session.out << json_text(status, false) << '\n';
  } else {
    print_automation(session.out, status);
  }
  return Exit::kGood;
}

v1::RemedyStatus ask_status(const Session& session) {
  return session.client.call(session.client.remedies, &Stub::GetStatus, v1::GetRemedyStatusRequest());
}

const std::string& or_dash(const std::string& text) {
  static const std::string kDash = "-";
  return text.empty() ? kDash : text;
}

/// Why it is there, or how it ended.
const std::string& essence(const v1::Plan& plan) {
  return plan.has_finished() && !plan.outcome().empty() ? plan.outcome() : plan.reason();
}

void print_line(const Session& session, const v1::WatchPlansResponse& event) {
  const v1::Plan& plan = event.plan();
  if (plan.state() == v1::Plan::STATE_UNSPECIFIED) return;  // only an id
  session.out << time_text(plan.updated()) << "  " << plan.id() << "  " << v1::Plan::Action_Name(plan.action()) << "  "
              << plan_state_text(plan) << "  " << printable(plan.target().label()) << "  " << printable(essence(plan))
              << '\n';
}

/// The guard that would refuse it; null when it would begin, perhaps after another plan.
const v1::GuardVerdict* refusal(const v1::Plan& plan) {
  for (const v1::GuardVerdict& verdict : plan.guards())
    if (verdict.result() == v1::GuardVerdict::REFUSED && verdict.guard() != v1::GuardVerdict::ONE_ACTOR)
      return &verdict;
  return nullptr;
}

bool is_confirmed(const Session& session) {
  session.out << "\nDo it? [y/N] " << std::flush;
  std::string answer;
  std::getline(*session.answers, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

template <typename Request>
Exit end_plan(const Session& session, grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, v1::Plan*),
              const std::string& id, const std::string& reason, const std::string& who) {
  Request request;
  request.set_id(id);
  request.set_reason(reason);
  request.set_who(who);
  return print_answer(session, session.client.call(session.client.remedies, method, request));
}

template <typename Request>
Exit request_plan(const Session& session, grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, v1::Plan*),
                  Request request, const Wish& wish) {
  request.set_reason(wish.reason);
  request.set_who(wish.who);
  if (wish.dry_run || (session.answers != nullptr && !wish.yes)) {
    Request look = request;
    look.set_dry_run(true);
    const v1::Plan plan = session.client.call(session.client.remedies, method, look);
    if (session.json) {
      session.out << json_text(plan, false) << '\n';
    } else {
      print_preview(session.out, plan);
    }
    const v1::GuardVerdict* guard = refusal(plan);
    if (wish.dry_run) return guard != nullptr ? Exit::kRefused : Exit::kGood;
    if (guard != nullptr)
      throw Failure(Exit::kRefused, v1::GuardVerdict::Guard_Name(guard->guard()) + ": " + guard->explanation());
    if (!is_confirmed(session)) throw Failure(Exit::kRefused, "nothing was done");
  }
  return print_answer(session, session.client.call(session.client.remedies, method, request));
}

}  // namespace

Exit show_plans(const Session& session, bool all, bool ids_only) {
  v1::ListPlansRequest request;
  if (!all)
    for (int state = v1::Plan::PROPOSED; state < v1::Plan::COMMITTED; ++state)
      request.add_states(static_cast<v1::Plan::State>(state));
  v1::ListPlansResponse plans;
  do {
    const auto page = session.client.call(session.client.remedies, &Stub::ListPlans, request);
    plans.mutable_plans()->MergeFrom(page.plans());
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  if (ids_only) {
    std::vector<std::string> ids;
    for (const v1::Plan& plan : plans.plans()) ids.push_back(plan.id());
    session.out << list_text(ids, session.json);
    return Exit::kGood;
  }
  if (session.json) {
    session.out << json_text(plans, false) << '\n';
    return Exit::kGood;
  }
  print_stops(session.out, ask_status(session));
  if (plans.plans().empty()) {
    session.out << (all ? "No plans.\n" : "No open plans.\n");
    return Exit::kGood;
  }
  Table table({"ID", "ACTION", judged("STATE"), "TARGET", spare("INCIDENT"), spare(age("UPDATED")),
               story("REASON OR OUTCOME")});
  for (const v1::Plan& plan : plans.plans())
    table.add({plan.id(), v1::Plan::Action_Name(plan.action()), plan_state_text(plan), or_dash(plan.target().label()),
               or_dash(plan.incident_id()), age_text(plan.has_updated(), plan.updated(), session.now), essence(plan)});
  table.print(session.sheet());
  return Exit::kGood;
}

Exit watch_plans(const Session& session, bool all) {
  grpc::ClientContext context;
  v1::WatchPlansRequest request;
  request.set_include_ended(all);
  const auto stream = session.client.remedies.WatchPlans(&context, request);
  for (v1::WatchPlansResponse event; stream->Read(&event); session.out.flush()) {
    if (session.json) {
      session.out << json_text(event, true) << '\n';
    } else {
      print_line(session, event);
    }
  }
  const grpc::Status status = stream->Finish();
  check(status.ok() ? grpc::Status(grpc::StatusCode::UNAVAILABLE, "the server ended the stream") : status,
        session.client.server);
  return Exit::kUnreachable;
}

Exit show_plan(const Session& session, const std::string& id) {
  v1::GetPlanRequest request;
  request.set_id(id);
  print_answer(session, session.client.call(session.client.remedies, &Stub::GetPlan, request));
  return Exit::kGood;
}

Exit approve_plan(const Session& session, const std::string& id, std::uint64_t revision, const std::string& who) {
  v1::ApprovePlanRequest request;
  request.set_id(id);
  request.set_revision(revision);
  request.set_who(who);
  return print_answer(session, session.client.call(session.client.remedies, &Stub::ApprovePlan, request));
}

Exit reject_plan(const Session& session, const std::string& id, const std::string& reason, const std::string& who) {
  return end_plan<v1::RejectPlanRequest>(session, &Stub::RejectPlan, id, reason, who);
}

Exit abort_plan(const Session& session, const std::string& id, const std::string& reason, const std::string& who) {
  return end_plan<v1::AbortPlanRequest>(session, &Stub::AbortPlan, id, reason, who);
}

Exit isolate_link(const Session& session, const Wish& wish) {
  v1::IsolateLinkRequest request;
  request.set_link(wish.target);
  return request_plan(session, &Stub::IsolateLink, request, wish);
}

Exit restore_link(const Session& session, const Wish& wish) {
  v1::RestoreLinkRequest request;
  request.set_link(wish.target);
  return request_plan(session, &Stub::RestoreLink, request, wish);
}

Exit raise_link_cost(const Session& session, const Wish& wish) {
  v1::RaiseLinkCostRequest request;
  request.set_link(wish.target);
  return request_plan(session, &Stub::RaiseLinkCost, request, wish);
}

Exit lower_link_cost(const Session& session, const Wish& wish) {
  v1::LowerLinkCostRequest request;
  request.set_link(wish.target);
  return request_plan(session, &Stub::LowerLinkCost, request, wish);
}

Exit drain_node(const Session& session, const Wish& wish) {
  v1::DrainNodeRequest request;
  request.set_node(wish.target);
  return request_plan(session, &Stub::DrainNode, request, wish);
}

Exit undrain_node(const Session& session, const Wish& wish) {
  v1::UndrainNodeRequest request;
  request.set_node(wish.target);
  return request_plan(session, &Stub::UndrainNode, request, wish);
}

Exit show_automation(const Session& session) {
  const v1::RemedyStatus status = ask_status(session);
  print_answer(session, status);
  return status.hands_off() || status.breaker_tripped() ? Exit::kBadNews : Exit::kGood;
}

Exit set_hands_off(const Session& session, bool hands_off, const std::string& reason, const std::string& who) {
  v1::SetHandsOffRequest request;
  request.set_hands_off(hands_off);
  request.set_reason(reason);
  request.set_who(who);
  return print_answer(session, session.client.call(session.client.remedies, &Stub::SetHandsOff, request));
}

Exit reset_breaker(const Session& session, const std::string& reason, const std::string& who) {
  v1::ResetBreakerRequest request;
  request.set_reason(reason);
  request.set_who(who);
  return print_answer(session, session.client.call(session.client.remedies, &Stub::ResetBreaker, request));
}

Exit show_audit(const Session& session, std::uint32_t limit) {
  // Pages come newest first, each ascending.
  std::vector<v1::ListAuditResponse> pages;
  std::uint64_t left = limit == 0 ? UINT64_MAX : limit;
  v1::ListAuditRequest request;
  do {
    constexpr std::uint64_t kPage = 1000;
    request.set_page_size(static_cast<std::int32_t>(std::min(left, kPage)));
    pages.push_back(session.client.call(session.client.remedies, &Stub::ListAudit, request));
    left -= std::min<std::uint64_t>(left, static_cast<std::uint64_t>(pages.back().records_size()));
    request.set_page_token(pages.back().next_page_token());
  } while (left > 0 && !request.page_token().empty());
  v1::ListAuditResponse trail;
  for (auto page = pages.rbegin(); page != pages.rend(); ++page) trail.mutable_records()->MergeFrom(page->records());
  trail.set_next_page_token(request.page_token());
  if (session.json) {
    session.out << json_text(trail, false) << '\n';
    return Exit::kGood;
  }
  if (trail.records().empty()) {
    session.out << "The audit trail is empty.\n";
    return Exit::kGood;
  }
  Table table({number("LINE"), "TIME", "USER", "ACTION", spare("PLAN"), spare("INCIDENT"), story("DETAIL")});
  for (const v1::AuditRecord& record : trail.records())
    table.add({std::to_string(record.sequence()), record.has_at() ? time_text(record.at()) : "-", or_dash(record.who()),
               or_dash(record.what()), or_dash(record.plan_id()), or_dash(record.incident_id()),
               or_dash(record.detail())});
  table.print(session.sheet());
  return Exit::kGood;
}

}  // namespace weft::ctl
