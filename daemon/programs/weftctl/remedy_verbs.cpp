// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <vector>

#include "daemon/programs/weftctl/automation_report.hpp"
#include "daemon/programs/weftctl/incident_drawing.hpp"
#include "daemon/programs/weftctl/namesakes.hpp"
#include "daemon/programs/weftctl/others_disabled.hpp"
#include "daemon/programs/weftctl/plan_hints.hpp"
#include "daemon/programs/weftctl/plan_report.hpp"
#include "daemon/programs/weftctl/value_format.hpp"
#include "daemon/programs/weftctl/verbs.hpp"
#include "fabric/plan.hpp"
#include "fabric/plan_prospects.hpp"

namespace weft::ctl {
namespace {

using Stub = v1::RemedyService::Stub;

/// All plans, where what the plan says needs others of its target: of one that is over, or brings something back.
v1::ListPlansResponse plans_beside(const Session& session, const v1::Plan& plan) {
  if (plan.state() < v1::Plan::COMMITTED && plan.undoes().empty()) return {};
  try {
    return session.client.all_pages(session.client.remedies, &Stub::ListPlans, v1::ListPlansRequest());
  } catch (const Failure&) {  // what was asked for is done: it is told without the others
    return {};
  }
}

/// As one asked for it: whoever wanted something done is told by the exit status that it will not be.
/// `review`: with the alternatives and the guards, which whoever decided has read before.
Exit print_answer(const Session& session, const v1::Plan& plan, bool review) {
  if (session.json) {
    session.out << json_text(plan, false) << '\n';
  } else {
    const v1::ListPlansResponse all = plans_beside(session, plan);
    print_plan(session.out, plan, session.now,
               {.review = review,
                .columns = session.columns,
                .holder = holds_again(plan, all.plans()),
                .first_out = first_out(plan, all.plans()).id(),
                .other = other_holder(plan, all.plans()),
                .is_let_go = is_let_go(plan, all.plans()),
                .link = plan.state() < v1::Plan::COMMITTED ? LinkNow::kUnknown : link_now(session, plan)});
  }
  return plan.state() == v1::Plan::PROPOSED && plan.refused() ? Exit::kRefused : Exit::kGood;
}

Exit print_answer(const Session& session, const v1::RemedyStatus& status) {
  if (session.json) {
    session.out << json_text(status, false) << '\n';
  } else {
    print_automation(session.out, status, brake_since(session, status));
  }
  return Exit::kGood;
}

v1::RemedyStatus ask_status(const Session& session) {
  return session.client.call(session.client.remedies, &Stub::GetStatus, v1::GetRemedyStatusRequest());
}

bool is_confirmed(const Session& session, const std::string& what) {
  session.out << '\n' << what << ": do it? [y/N] " << std::flush;
  std::string answer;
  std::getline(*session.answers, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

bool is_confirmed(const Session& session, const v1::Plan& plan) {
  return is_confirmed(session, v1::Plan::Action_Name(plan.action()) + ' ' + label_of(plan.target()));
}

v1::ListPlansResponse open_plans(const Session& session) {
  v1::ListPlansRequest request;
  for (int state = v1::Plan::PROPOSED; state < v1::Plan::COMMITTED; ++state)
    request.add_states(static_cast<v1::Plan::State>(state));
  return session.client.all_pages(session.client.remedies, &Stub::ListPlans, request);
}

/// It goes on, or begins, as soon as this brake (hands-off or the circuit breaker) is released: what was approved, and
/// a proposal that needs no approval and that no other guard stops. The breaker holds only what takes out, which is not
/// what undoes an isolation.
bool starts_without_brake(const v1::Plan& plan, const v1::RemedyStatus& status, v1::GuardVerdict::Guard brake) {
  if (brake == v1::GuardVerdict::BREAKER && takes_out(plan) == (plan.state() == v1::Plan::ROLLING_BACK)) return false;
  if (plan.state() != v1::Plan::PROPOSED) return plan.state() != v1::Plan::VERIFYING && !is_undone(plan);
  if (std::ranges::find(status.automatic(), static_cast<int>(plan.action())) == status.automatic().end()) return false;
  return std::ranges::none_of(plan.guards(), [brake](const v1::GuardVerdict& verdict) {
    if (verdict.result() == v1::GuardVerdict::NEEDS_PERSON) return true;
    return verdict.result() == v1::GuardVerdict::REFUSED && verdict.guard() != brake &&
           verdict.guard() != v1::GuardVerdict::ONE_ACTOR;
  });
}

/// Its id, action, target and state in one line, and what undoing it means: its action says the opposite.
void print_short(const Session& session, const v1::Plan& plan) {
  session.out << "  " << plan.id() << "  " << v1::Plan::Action_Name(plan.action()) << "  " << label_of(plan.target())
              << "  " << v1::Plan::State_Name(plan.state());
  if (plan.state() == v1::Plan::ROLLING_BACK)
    session.out << ": "
                << (is_undone(plan)                 ? "it is undone, and checked"
                    : begins_anew(plan.waits_for()) ? kBeginsAnewText
                                                    : undoing_text(plan));
  session.out << '\n';
}

/// A person's brake is there to be released; a weftd that knows one brake says only that it holds.
void expect_brake_of_person(const Session& session, const v1::RemedyStatus& status) {
  if (!status.hands_off()) throw Failure(Exit::kRefused, "automation is not stopped: nothing was done");
  if (!status.hands_off_by_person().empty() || status.hands_off_by_file().empty()) return;
  if (!session.json) print_stops(session.out, status);
  throw Failure(Exit::kRefused,
                "no person stopped automation, but the hands-off file still stops it: " + status.hands_off_by_file() +
                    "; to release it, " + file_release_text(status.hands_off_by_file()));
}

/// What begins when this brake is released.
void print_what_starts(const Session& session, const v1::RemedyStatus& status, v1::GuardVerdict::Guard brake) {
  print_release(session.out, status, brake == v1::GuardVerdict::BREAKER);
  v1::ListPlansResponse open = open_plans(session), starting;
  for (v1::Plan& plan : *open.mutable_plans())
    if (starts_without_brake(plan, status, brake)) *starting.add_plans() = std::move(plan);
  if (starting.plans().empty()) {
    session.out << "No plan waits for it.\n";
    return;
  }
  session.out << "These plans begin or go on then, if no guard refuses them:\n";
  for (const v1::Plan& plan : starting.plans()) print_short(session, plan);
  if (brake == v1::GuardVerdict::BREAKER && status.hands_off())
    session.out << "None of them while hands-off stops automation.\n";
  else if (!status.hands_off_by_file().empty())
    session.out << "None of them while the hands-off file stops automation.\n";
}

/// A person at a terminal says yes; others need not be asked.
void expect_consent(const Session& session, const std::string& what) {
  if (!session.json && session.answers != nullptr && !is_confirmed(session, what))
    throw Failure(Exit::kRefused, "nothing was done");
}

/// After the brake was set: plans whose change was answered and is not known yet to be in force stay in between.
void print_what_stays(const Session& session) {
  v1::ListPlansResponse open = open_plans(session), staying, verified;
  for (v1::Plan& plan : *open.mutable_plans()) {
    if (plan.state() == v1::Plan::EXECUTING || plan.state() == v1::Plan::ROLLING_BACK)
      *staying.add_plans() = std::move(plan);
    else if (plan.state() == v1::Plan::VERIFYING)
      *verified.add_plans() = std::move(plan);
  }
  if (staying.plans().empty() && verified.plans().empty()) {
    session.out << "No change is under way.\n";
    return;
  }
  session.out << "No change is being sent.";
  if (!staying.plans().empty()) session.out << " These plans have begun, and change nothing more before hands-off off:";
  session.out << '\n';
  for (const v1::Plan& plan : staying.plans()) print_short(session, plan);
  if (verified.plans().empty()) return;
  session.out << "These plans are being verified; what fails is undone after hands-off off, not before:\n";
  for (const v1::Plan& plan : verified.plans()) print_short(session, plan);
}

/// A weftd that does not answer may act all the same: the file stops it too.
v1::RemedyStatus send_hands_off(const Session& session, const v1::SetHandsOffRequest& request) {
  try {
    return session.client.change(session.client.remedies, &Stub::SetHandsOff, request);
  } catch (const Failure& failure) {
    if (failure.exit != Exit::kUnreachable || !request.hands_off()) throw;
    throw Failure(failure.exit,
                  std::string(failure.what()) +
                      ". To stop everything without an answer, on weftd's host: touch "
                      "/var/lib/weft/hands-off (hands-off in state_dir, or remedy.hands_off_file)",
                  failure.code);
  }
}

/// What was decided or asked for, and how it goes on. `review`: as print_answer().
Exit follow(const Session& session, v1::Plan plan, const std::optional<Duration>& wait, bool review,
            Wished wished = Wished::kDone) {
  if (wait) return wait_for_plan(session, std::move(plan), *wait, wished);
  return print_answer(session, plan, review);
}

template <typename Request>
v1::Plan end_plan(const Session& session, grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, v1::Plan*),
                  const Decision& decision) {
  Request request;
  request.set_id(decision.id);
  request.set_reason(decision.reason);
  request.set_who(decision.who);
  if constexpr (requires { request.set_leave_in_service(true); }) request.set_leave_in_service(decision.leave);
  return session.client.change(session.client.remedies, method, request);
}

v1::Plan get_plan(const Session& session, const std::string& id) {
  v1::GetPlanRequest request;
  request.set_id(id);
  return session.client.call(session.client.remedies, &Stub::GetPlan, request);
}

[[noreturn]] void refuse(const v1::GuardVerdict& guard) {
  throw Failure(Exit::kRefused, v1::GuardVerdict::Guard_Name(guard.guard()) + ": " + guard.explanation());
}

/// The revision that a person at the terminal saw, and said yes to. What weftd refuses anyway is not asked.
std::uint64_t confirmed_revision(const Session& session, const Decision& decision) {
  const v1::Plan plan = get_plan(session, decision.id);
  if (plan.state() != v1::Plan::PROPOSED || (decision.revision != 0 && decision.revision != plan.revision()))
    return decision.revision;
  print_plan(session.out, plan, session.now, {.hints = false, .columns = session.columns});
  if (const v1::GuardVerdict* guard = refusal(plan)) refuse(*guard);
  if (!is_confirmed(session, plan)) throw Failure(Exit::kRefused, "nothing was done");
  return plan.revision();
}

template <typename Request>
Exit request_plan(const Session& session, grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, v1::Plan*),
                  Request request, const Wish& wish) {
  request.set_reason(wish.reason);
  request.set_who(wish.who);
  const bool asks = session.answers != nullptr && !wish.yes;
  if (wish.dry_run || asks) {
    Request look = request;
    look.set_dry_run(true);
    const v1::Plan plan =
        command_about(wish.target, session, [&] { return session.client.call(session.client.remedies, method, look); });
    if (session.json) {
      session.out << json_text(plan, false) << '\n';
    } else {
      print_preview(session.out, plan, first_out(plan, plans_beside(session, plan).plans()).id(), session.columns);
    }
    note_namesakes(session, wish.target, plan.shard());
    const v1::GuardVerdict* guard = refusal(plan);
    if (wish.dry_run) return guard != nullptr ? Exit::kRefused : Exit::kGood;
    if (guard != nullptr) refuse(*guard);
    if (!is_confirmed(session, plan)) throw Failure(Exit::kRefused, "nothing was done");
  }
  const v1::Plan plan = command_about(wish.target, session,
                                      [&] { return session.client.change(session.client.remedies, method, request); });
  if (!asks) note_namesakes(session, wish.target, plan.shard());
  return follow(session, plan, wish.wait, !asks);
}

/// What abort does to the plan as it is now; empty: nothing is left to abort.
std::string abort_text(const v1::Plan& plan) {
  switch (plan.state()) {
    case v1::Plan::PROPOSED:
    case v1::Plan::APPROVED:
      return "the plan ends; nothing was changed yet";
    case v1::Plan::EXECUTING:
      return "what was not sent is not sent; if its change is on its way, it is undone: " + undoing_text(plan);
    case v1::Plan::VERIFYING:
      return undoing_text(plan);
    default:
      return {};
  }
}

}  // namespace

Exit show_plan(const Session& session, const std::string& id) {
  const v1::Plan plan = get_plan(session, id);
  print_unstored(session);
  print_answer(session, plan, true);
  return Exit::kGood;
}

Exit approve_plan(const Session& session, const Decision& decision) {
  v1::ApprovePlanRequest request;
  request.set_id(decision.id);
  request.set_who(decision.who);
  const bool asks = session.answers != nullptr && !decision.yes;
  request.set_revision(asks ? confirmed_revision(session, decision) : decision.revision);
  try {
    return follow(session, session.client.change(session.client.remedies, &Stub::ApprovePlan, request), decision.wait,
                  false);
  } catch (const Failure& failure) {
    if (failure.exit != Exit::kRefused || !decision.wait) throw;
    // Somebody else may have approved it: then it is waited for all the same.
    const v1::Plan plan = get_plan(session, decision.id);
    if (plan.state() <= v1::Plan::PROPOSED || plan.state() >= v1::Plan::COMMITTED) throw;
    if (!session.json) session.out << printable(failure.what()) << "; waiting for its end\n";
    return wait_for_plan(session, plan, *decision.wait, Wished::kDone);
  }
}

Exit reject_plan(const Session& session, const Decision& decision) {
  return print_answer(session, end_plan<v1::RejectPlanRequest>(session, &Stub::RejectPlan, decision), false);
}

Exit abort_plan(const Session& session, const Decision& decision) {
  v1::Plan before;
  try {
    before = get_plan(session, decision.id);
  } catch (const Failure&) {  // only told beforehand: what is wrong the abort itself says
  }
  if (before.state() == v1::Plan::ROLLING_BACK && !session.json && !decision.leave) {
    session.out << before.id() << " is being undone already (" << printable(before.outcome()) << "): "
                << (is_undone(before) ? "whether the fabric is as before is being checked" : undoing_text(before));
    session.out << (before.waits_for().empty() ? "" : "; it waits: " + printable(without_advice(before.waits_for())))
                << '\n';
  }
  const std::string effect = decision.leave ? "nothing is sent: its target stays as it is" : abort_text(before);
  if (session.answers != nullptr && !decision.yes && !effect.empty()) {
    // Guards of a return say nothing of what is taken out again.
    const bool takes_out_again = before.state() == v1::Plan::VERIFYING && !takes_out(before) && !decision.leave;
    print_plan(session.out, before, session.now,
               {.hints = false, .review = !takes_out_again, .columns = session.columns});
    session.out << "\nabort       " << effect
                << (takes_out_again ? ", unless a guard forbids it: they are asked when you say yes\n" : "\n");
    if (!is_confirmed(session, "abort " + before.id())) throw Failure(Exit::kRefused, "nothing was done");
  }
  const v1::Plan plan = end_plan<v1::AbortPlanRequest>(session, &Stub::AbortPlan, decision);
  const Exit exit = follow(session, plan, decision.wait, false, decision.leave ? Wished::kLeft : Wished::kUndone);
  if (!decision.wait && !session.json && plan.state() < v1::Plan::COMMITTED)
    session.out << "\nto follow it   weftctl plan " << plan.id() << '\n';
  return exit;
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
  if (!session.json) print_reach_of_brake(session);
  return status.hands_off() || status.breaker_tripped() ? Exit::kBadNews : Exit::kGood;
}

// What had begun when the brake was set stands in the answer.
Exit set_hands_off(const Session& session, bool hands_off, const std::string& reason, const std::string& who,
                   bool yes) {
  if (!hands_off) {
    const v1::RemedyStatus status = ask_status(session);
    expect_brake_of_person(session, status);
    if (!session.json) print_what_starts(session, status, v1::GuardVerdict::HANDS_OFF);
  }
  if (!hands_off && !yes) expect_consent(session, "release hands-off");
  v1::SetHandsOffRequest request;
  request.set_hands_off(hands_off);
  request.set_reason(reason);
  request.set_who(who);
  const v1::RemedyStatus status = send_hands_off(session, request);
  if (!hands_off && !session.json) session.out << "\nHands-off is released.\n";
  print_answer(session, status);
  if (hands_off && !session.json && status.under_way().empty()) print_what_stays(session);
  if (!session.json) print_reach_of_brake(session);
  return Exit::kGood;
}

Exit reset_breaker(const Session& session, const std::string& reason, const std::string& who, bool yes) {
  if (const v1::RemedyStatus status = ask_status(session); status.breaker_tripped()) {
    if (!session.json) print_what_starts(session, status, v1::GuardVerdict::BREAKER);
    if (!yes) expect_consent(session, "reset the circuit breaker");
  }
  v1::ResetBreakerRequest request;
  request.set_reason(reason);
  request.set_who(who);
  const auto status = session.client.change(session.client.remedies, &Stub::ResetBreaker, request);
  if (!session.json) session.out << "\nThe circuit breaker is reset.\n";
  return print_answer(session, status);
}

}  // namespace weft::ctl
