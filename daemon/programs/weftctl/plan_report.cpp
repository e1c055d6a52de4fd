// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftctl/plan_report.hpp"

#include <algorithm>
#include <vector>

#include "daemon/programs/weftctl/incident_drawing.hpp"
#include "daemon/programs/weftctl/value_format.hpp"

namespace weft::ctl {
namespace {

/// What is done to the world, for somebody who sees it for the first time.
const char* meaning_of(v1::Plan::Action action) {
  switch (action) {
    case v1::Plan::NOTHING:
      return "do nothing";
    case v1::Plan::ISOLATE_LINK:
      return "disable one end of the link; traffic is rerouted";
    case v1::Plan::RESTORE_LINK:
      return "return the link to service, on probation";
    case v1::Plan::RAISE_LINK_COST:
      return "raise the link's cost: it stays up with less or no traffic";
    case v1::Plan::DRAIN_NODE:
      return "drain the host: no new jobs; running jobs may finish";
    case v1::Plan::UNDRAIN_NODE:
      return "undrain a host that Weft drained";
    default:
      return "unknown action: this weftctl is older than weftd";
  }
}

bool is_waiting(const v1::Plan& plan) {
  return plan.state() == v1::Plan::PROPOSED || plan.state() == v1::Plan::APPROVED;
}

/// In a column of `columns` characters.
std::string padded(std::string text, std::size_t columns) {
  const std::size_t has = width(text);
  return has < columns ? text.append(columns - has, ' ') : text;
}

template <typename List, typename Text>
std::size_t widest(const List& list, Text text) {
  std::size_t most = 0;
  for (const auto& each : list) most = std::max(most, width(text(each)));
  return most;
}

const char* verdict_text(v1::GuardVerdict::Result result) {
  switch (result) {
    case v1::GuardVerdict::PASSED:
      return "passed";
    case v1::GuardVerdict::REFUSED:
      return "REFUSED";
    case v1::GuardVerdict::NOT_NEEDED:
      return "not needed";
    case v1::GuardVerdict::NEEDS_PERSON:
      return "needs a person";
    default:
      return "unknown";
  }
}

void print_candidates(std::ostream& out, const v1::Plan& plan) {
  if (plan.candidates().empty()) return;
  out << "\nalternatives, best first\n";
  const auto name = [](const v1::Candidate& candidate) { return v1::Plan::Action_Name(candidate.action()); };
  const std::size_t columns = widest(plan.candidates(), name);
  for (const v1::Candidate& candidate : plan.candidates()) {
    const bool chosen =
        candidate.action() == plan.action() && candidate.target().identity() == plan.target().identity();
    out << (chosen ? "> " : "  ") << padded(name(candidate), columns) << "  "
        << percent_text(candidate.cost_ratio() + candidate.harm_ratio())
        << " of the jobs' time lost: " << percent_text(candidate.cost_ratio()) << " by the action, "
        << percent_text(candidate.harm_ratio()) << " by the remaining fault"
        << (candidate.allowed() ? "" : "; refused by a guard") << '\n';
    // Of the target itself nobody needs to read twice.
    if (!chosen && candidate.target().identity() != plan.target().identity())
      out << "    " << label_of(candidate.target()) << '\n';
    if (!candidate.explanation().empty()) out << "    " << printable(candidate.explanation()) << '\n';
  }
}

void print_guards(std::ostream& out, const v1::Plan& plan) {
  if (plan.guards().empty()) return;
  out << "\nguards, in order of evaluation\n";
  const auto name = [](const v1::GuardVerdict& verdict) { return v1::GuardVerdict::Guard_Name(verdict.guard()); };
  const auto said = [](const v1::GuardVerdict& verdict) { return std::string(verdict_text(verdict.result())); };
  const std::size_t names = widest(plan.guards(), name);
  const std::size_t verdicts = widest(plan.guards(), said);
  for (const v1::GuardVerdict& verdict : plan.guards())
    out << (verdict.result() == v1::GuardVerdict::REFUSED        ? "! "
            : verdict.result() == v1::GuardVerdict::NEEDS_PERSON ? "? "
                                                                 : "  ")
        << padded(name(verdict), names) << "  " << padded(said(verdict), verdicts) << "  "
        << printable(verdict.explanation()) << '\n';
}

void print_steps(std::ostream& out, const v1::Plan& plan) {
  if (plan.steps().empty()) return;
  out << "\nhistory\n";
  const auto state = [](const v1::PlanStep& step) { return v1::Plan::State_Name(step.state()); };
  const auto who = [](const v1::PlanStep& step) { return printable(step.who()); };
  const std::size_t states = widest(plan.steps(), state);
  const std::size_t names = widest(plan.steps(), who);
  for (const v1::PlanStep& step : plan.steps())
    out << "  " << (step.has_at() ? time_text(step.at()) : "-") << "  " << padded(state(step), states) << "  "
        << padded(who(step), names) << "  " << printable(step.what()) << '\n';
}

/// Whether the world is as the plan made it.
const char* standing_of(const v1::Plan& plan) {
  if (plan.unresolved()) return "unknown whether it is in force: check by hand";
  if (plan.in_force()) return "in force";
  if (plan.state() == v1::Plan::COMMITTED) return "reverted since";
  if (plan.intent() != v1::Plan::NONE && plan.intent() != v1::Plan::INTENT_UNSPECIFIED && !plan.has_finished())
    return "being applied";
  return nullptr;
}

void print_next(std::ostream& out, const v1::Plan& plan) {
  const v1::Plan::State state = plan.state();
  if (state == v1::Plan::APPROVED || state == v1::Plan::EXECUTING || state == v1::Plan::VERIFYING)
    out << "\nto undo it   weftctl abort " << plan.id() << " --reason ...\n";
  if (state != v1::Plan::PROPOSED) return;
  out << "\nto approve   weftctl approve " << plan.id() << " --revision " << plan.revision()
      << "\nto reject    weftctl reject " << plan.id() << " --reason ...\n";
}

}  // namespace

std::string plan_state_text(const v1::Plan& plan) {
  std::string text = v1::Plan::State_Name(plan.state());
  if (plan.state() == v1::Plan::VERIFYING && plan.windows_needed() > 0)
    text += ' ' + std::to_string(plan.windows_good()) + '/' + std::to_string(plan.windows_needed());
  if (is_waiting(plan) && plan.refused()) text += " (refused)";
  if (plan.state() == v1::Plan::COMMITTED && !plan.in_force()) text += " (reverted)";
  if (plan.unresolved()) text += " (unresolved)";
  return text;
}

void print_plan(std::ostream& out, const v1::Plan& plan, TimePoint now) {
  const auto say = [&](const char* head, const std::string& text) {
    if (!text.empty()) out << head << printable(text) << '\n';
  };
  const auto when = [&](const char* head, bool is_set, const google::protobuf::Timestamp& at) {
    if (is_set) out << head << time_text(at) << ", " << age_text(true, at, now) << '\n';
  };
  out << plan.id() << "  " << v1::Plan::Action_Name(plan.action()) << "  " << plan_state_text(plan) << '\n';
  out << label_of(plan.target()) << "\n\n";
  if (plan.has_finished()) say("outcome     ", plan.outcome().empty() ? "-" : plan.outcome());
  out << "action      " << meaning_of(plan.action()) << '\n';
  say("reason      ", plan.reason());
  say("incident    ", plan.incident_id());
  say("reverts     ", plan.undoes());
  say("actuator    ", plan.actuator());
  std::string jobs;
  for (const std::string& job : plan.jobs()) jobs += (jobs.empty() ? "" : ", ") + job;
  say("jobs        ", jobs);
  say("requested by ", plan.requested_by());
  say("approved by ", plan.approved_by());
  when("created     ", plan.has_created(), plan.created());
  if (is_waiting(plan) && plan.has_expires()) out << "expires     " << time_text(plan.expires()) << '\n';
  when("started     ", plan.has_started(), plan.started());
  when("finished    ", plan.has_finished(), plan.finished());
  if (plan.windows_needed() > 0)
    out << "verified    " << plan.windows_good() << " of " << plan.windows_needed() << " sweeps passed\n";
  if (const char* standing = standing_of(plan)) out << "now         " << standing << '\n';
  out << "revision    " << plan.revision() << '\n';
  print_candidates(out, plan);
  print_guards(out, plan);
  print_steps(out, plan);
  print_next(out, plan);
}

void print_preview(std::ostream& out, const v1::Plan& plan) {
  out << v1::Plan::Action_Name(plan.action()) << "  preview: nothing is done yet\n"
      << label_of(plan.target()) << "\n\n";
  out << "action      " << meaning_of(plan.action()) << '\n';
  if (!plan.undoes().empty()) out << "reverts     " << printable(plan.undoes()) << '\n';
  if (!plan.actuator().empty()) out << "actuator    " << printable(plan.actuator()) << '\n';
  for (const std::string& job : plan.jobs()) out << "job         " << printable(job) << '\n';
  print_candidates(out, plan);
  print_guards(out, plan);
}

void print_stops(std::ostream& out, const v1::RemedyStatus& status) {
  const bool names_brakes = !status.hands_off_by_person().empty() || !status.hands_off_by_file().empty();
  if (!status.hands_off_by_person().empty())
    out << "Automation is stopped (hands-off): " << printable(status.hands_off_by_person()) << '\n';
  if (!status.hands_off_by_file().empty())
    out << "Automation is stopped by the hands-off file: " << printable(status.hands_off_by_file()) << '\n';
  if (status.hands_off() && !names_brakes)  // a weftd that knows one brake
    out << "Automation is stopped (hands-off): " << printable(status.hands_off_reason()) << '\n';
  for (const v1::OrderUnderWay& order : status.under_way())
    out << "  under way since " << time_text(order.since()) << ": " << v1::Plan::Action_Name(order.action()) << ' '
        << printable(order.target()) << " (" << printable(order.plan_id()) << ")\n";
  if (status.breaker_tripped())
    out << "The circuit breaker is tripped"
        << (status.has_breaker_since() ? " since " + time_text(status.breaker_since()) : std::string()) << ": "
        << printable(status.breaker_reason()) << "\n  after checking: weftctl breaker reset --reason ...\n";
}

void print_automation(std::ostream& out, const v1::RemedyStatus& status) {
  print_stops(out, status);
  if (!status.hands_off() && !status.breaker_tripped()) out << "Automation is not stopped.\n";
  if (!status.breaker_tripped()) out << "The circuit breaker is not tripped.\n";
  out << status.actions_last_hour() << " of " << status.actions_per_hour() << " actions in the last hour; "
      << status.out_of_service() << " links and hosts out of service by plans.\n";
  if (status.without_plan() > 0)
    out << status.without_plan()
        << " incidents have no plan, because too many plans are open: approve or reject some (weftctl plans).\n";
}

}  // namespace weft::ctl
