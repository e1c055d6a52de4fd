// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftctl/plan_report.hpp"

#include <algorithm>
#include <vector>

#include "daemon/programs/weftctl/incident_drawing.hpp"
#include "daemon/programs/weftctl/plan_hints.hpp"
#include "daemon/programs/weftctl/value_format.hpp"
#include "fabric/plan_prospects.hpp"

namespace weft::ctl {
namespace {

/// How the step begins that says that a person keeps the target out.
constexpr std::string_view kKeptOut = "automation does not return it by itself";
/// … that a return of the target, which did not last, holds it.
constexpr std::string_view kHeldAgain = "held again by ";

/// What is done to the world, for somebody who sees it for the first time.
const char* meaning_of(const v1::Plan& plan) {
  switch (plan.action()) {
    case v1::Plan::NOTHING:
      return "do nothing";
    case v1::Plan::ISOLATE_LINK:
      return "disable one end of the link; traffic is rerouted";
    case v1::Plan::RESTORE_LINK:
      return plan.reverted_action() == v1::Plan::RAISE_LINK_COST
                 ? "set the link's cost back: routes use it again, on probation"
                 : "return the link to service, on probation";
    case v1::Plan::RAISE_LINK_COST:
      return "raise the link's cost: it stays up, and routes avoid it";
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

/// What it would send next is kept back by hands-off, as weftd says it.
bool waits_for_brake(const v1::Plan& plan) {
  const bool sends = plan.state() == v1::Plan::EXECUTING || plan.state() == v1::Plan::ROLLING_BACK;
  return sends && plan.waits_for().starts_with("automation is stopped");
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

const char* verdict_text(const v1::GuardVerdict& verdict) {
  switch (verdict.result()) {
    case v1::GuardVerdict::PASSED:
      return "passed";
    case v1::GuardVerdict::REFUSED:
      // That another plan is under way refuses nothing: the plan begins after that one.
      return verdict.guard() == v1::GuardVerdict::ONE_ACTOR ? "waits" : "REFUSED";
    case v1::GuardVerdict::NOT_NEEDED:
      return "not needed";
    case v1::GuardVerdict::NEEDS_PERSON:
      return "needs a person";
    default:
      return "unknown";
  }
}

/// ", as of 2026-01-31 12:00:00 UTC": when guards were asked that are asked no more; empty: they are of now, or it is
/// not known.
std::string guards_of_then(const v1::Plan& plan) {
  if (is_waiting(plan)) return {};
  const v1::PlanStep* begun = nullptr;
  for (const v1::PlanStep& step : plan.steps()) {
    if (step.state() == v1::Plan::PROPOSED || step.state() == v1::Plan::APPROVED)
      begun = nullptr;
    else if (begun == nullptr)
      begun = &step;
  }
  // Of a plan with a long history the beginning is not kept.
  if (begun == nullptr || !begun->has_at() || begun == &*plan.steps().begin()) return {};
  return ", as of " + time_text(begun->at());
}

/// `when`: ", as of ..." of what they cost; empty: now.
void print_candidates(std::ostream& out, const v1::Plan& plan, const std::string& when, std::size_t columns) {
  if (plan.candidates().empty()) return;
  out << "\nalternatives, best first" << when << '\n';
  const auto name = [](const v1::Candidate& candidate) { return v1::Plan::Action_Name(candidate.action()); };
  const std::size_t names = widest(plan.candidates(), name);
  for (const v1::Candidate& candidate : plan.candidates()) {
    const bool chosen =
        candidate.action() == plan.action() && candidate.target().identity() == plan.target().identity();
    print_hanging(out, (chosen ? "> " : "  ") + padded(name(candidate), names) + "  ",
                  percent_text(candidate.cost_ratio() + candidate.harm_ratio()) + " of the jobs' time lost: " +
                      percent_text(candidate.cost_ratio()) + " by the action, " + percent_text(candidate.harm_ratio()) +
                      " by the remaining fault" + (candidate.allowed() ? "" : "; refused by a guard"),
                  columns);
    // Of the target itself nobody needs to read twice.
    if (!chosen && candidate.target().identity() != plan.target().identity())
      out << "    " << label_of(candidate.target()) << '\n';
    if (!candidate.explanation().empty()) print_hanging(out, "    ", printable(candidate.explanation()), columns);
  }
}

void print_guards(std::ostream& out, const v1::Plan& plan, std::size_t columns) {
  if (plan.guards().empty()) return;
  out << "\nguards, in order of evaluation" << guards_of_then(plan) << '\n';
  const auto name = [](const v1::GuardVerdict& verdict) { return v1::GuardVerdict::Guard_Name(verdict.guard()); };
  const auto said = [](const v1::GuardVerdict& verdict) { return std::string(verdict_text(verdict)); };
  const std::size_t names = widest(plan.guards(), name);
  const std::size_t verdicts = widest(plan.guards(), said);
  for (const v1::GuardVerdict& verdict : plan.guards())
    print_hanging(out,
                  (said(verdict) == "REFUSED"                           ? "! "
                   : verdict.result() == v1::GuardVerdict::NEEDS_PERSON ? "? "
                                                                        : "  ") +
                      padded(name(verdict), names) + "  " + padded(said(verdict), verdicts) + "  ",
                  printable(verdict.explanation()), columns);
}

void print_steps(std::ostream& out, const v1::Plan& plan, std::size_t columns) {
  if (plan.steps().empty()) return;
  out << "\nhistory\n";
  const auto state = [](const v1::PlanStep& step) { return v1::Plan::State_Name(step.state()); };
  const auto who = [](const v1::PlanStep& step) { return printable(step.who()); };
  const std::size_t states = widest(plan.steps(), state);
  const std::size_t names = widest(plan.steps(), who);
  for (const v1::PlanStep& step : plan.steps())
    print_hanging(out,
                  "  " + (step.has_at() ? time_text(step.at()) : "-") + "  " + padded(state(step), states) + "  " +
                      padded(who(step), names) + "  ",
                  printable(step.what()), columns);
}

/// "PLAN-3": what took the target out, whose id is `first`; with the return that did not last in between. Empty: it
/// reverts nothing.
std::string reverts_text(const v1::Plan& plan, const std::string& first) {
  if (first.empty() || first == plan.undoes() || first == plan.id()) return plan.undoes();
  return first + " (its return " + plan.undoes() + " did not last)";
}

/// Since when what the plan held is so no more, and by which plan or whom, as far as its history tells; empty: it says
/// nothing of that.
std::string reverted_text(const v1::Plan& plan) {
  constexpr std::string_view kByPlan = "reverted ";
  const auto is_later = [&plan](const v1::PlanStep& step) {
    return std::pair(step.at().seconds(), step.at().nanos()) >
           std::pair(plan.finished().seconds(), plan.finished().nanos());
  };
  for (auto step = plan.steps().rbegin(); step != plan.steps().rend() && is_later(*step); ++step) {
    if (step->what().starts_with(kKeptOut)) continue;
    if (step->what().starts_with(kHeldAgain)) return step->what() + ", since " + time_text(step->at());
    const std::string since = "reverted since " + time_text(step->at());
    if (step->what().starts_with(kByPlan)) return since + ' ' + step->what().substr(kByPlan.size());
    return since + ": " + step->what();
  }
  return {};
}

/// "out of service again since 2026-01-31 14:00:00 UTC", of a return that did not last.
std::string held_again_text(const v1::Plan& back) {
  return (held_by(back) == v1::Plan::RAISE_LINK_COST ? "its cost is raised again" : "out of service again") +
         (back.has_finished() ? " since " + time_text(back.finished()) : std::string());
}

/// Whether the world is as the plan made it.
std::string standing_of(const v1::Plan& plan, const v1::Plan* holder, TimePoint now) {
  if (plan.unresolved()) return unresolved_text(plan, now);
  if (plan.in_force() && takes_out(plan)) return "in force";
  if (plan.in_force()) return held_again_text(plan);
  if (is_reverted(plan) && holder != nullptr && holder->in_force())
    return held_again_text(*holder) + ", by " + holder->id() + ", whose return did not last";
  if (is_reverted(plan) && holder != nullptr)
    return reverted_text(*holder) + " (" + holder->id() + ", a return that did not last, held it by then)";
  if (is_reverted(plan)) {
    const std::string since = reverted_text(plan);
    return since.empty() ? "reverted" : since;
  }
  if (plan.state() == v1::Plan::ROLLED_BACK && !takes_out(plan)) return reverted_text(plan);
  if (plan.state() == v1::Plan::ROLLING_BACK)
    return is_undone(plan)                 ? "it is undone; whether the fabric is as before is being checked"
           : begins_anew(plan.waits_for()) ? kBeginsAnewText
                                           : "it is being undone: " + undoing_text(plan);
  if (plan.intent() != v1::Plan::NONE && plan.intent() != v1::Plan::INTENT_UNSPECIFIED && !plan.has_finished())
    return plan.state() == v1::Plan::VERIFYING ? "applied, and being verified" : "being applied";
  return {};
}

/// "disable spine-1 port 3; traffic is rerouted", where the end is chosen, and there is a path for the traffic.
std::string action_text(const v1::Plan& plan) {
  if (plan.action() != v1::Plan::ISOLATE_LINK) return meaning_of(plan);
  const bool has_no_path = std::ranges::any_of(plan.guards(), [](const v1::GuardVerdict& verdict) {
    return verdict.guard() == v1::GuardVerdict::ALTERNATIVE && verdict.result() == v1::GuardVerdict::REFUSED;
  });
  return "disable " + (plan.end().empty() ? "one end of the link" : printable(plan.end())) +
         (has_no_path ? "; no alternative path is known for its traffic" : "; traffic is rerouted");
}

const v1::GuardVerdict* first_refused(const v1::Plan& plan) {
  const auto found = std::ranges::find(plan.guards(), v1::GuardVerdict::REFUSED, &v1::GuardVerdict::result);
  return found == plan.guards().end() ? nullptr : &*found;
}

}  // namespace

const v1::GuardVerdict* obstacle(const v1::Plan& plan) {
  if (!is_waiting(plan)) return nullptr;
  const v1::GuardVerdict* guard = refusal(plan);
  return guard != nullptr ? guard : first_refused(plan);
}

const v1::GuardVerdict* refusal(const v1::Plan& plan) {
  for (const v1::GuardVerdict& verdict : plan.guards())
    if (verdict.result() == v1::GuardVerdict::REFUSED && verdict.guard() != v1::GuardVerdict::ONE_ACTOR)
      return &verdict;
  return nullptr;
}

std::string unresolved_text(const v1::Plan& plan, TimePoint now) {
  const std::string unknown = "unknown whether it is in force";
  if (!plan.has_unresolved_until()) return unknown + ": check by hand";
  const std::string until = " take effect until " + time_text(plan.unresolved_until());
  // As where its actuator cannot tell.
  google::protobuf::Timestamp today;
  set_seconds(today, now);
  if (plan.unresolved_until().seconds() <= today.seconds())
    return unknown + ": what was sent could" + until + ", and its state has not been read since: check by hand";
  return unknown + ": what was sent may still" + until + ", and is read then";
}

const v1::Plan* holds_again(const v1::Plan& plan, const google::protobuf::RepeatedPtrField<v1::Plan>& plans) {
  if (!is_reverted(plan)) return nullptr;
  const v1::Plan* last = nullptr;
  for (const v1::Plan& other : plans) {
    if (takes_out(other) || held_by(other) != plan.action() || other.target().identity() != plan.target().identity())
      continue;
    const bool held = other.state() == v1::Plan::ROLLED_BACK && !reverted_text(other).empty();
    if (other.in_force() || (held && first_out(other, plans).id() == plan.id())) last = &other;
  }
  return last;
}

std::string plan_state_text(const v1::Plan& plan, const v1::Plan* holder) {
  std::string text = v1::Plan::State_Name(plan.state());
  if (plan.state() == v1::Plan::VERIFYING && plan.windows_needed() > 0)
    text += ' ' + std::to_string(plan.windows_good()) + '/' + std::to_string(plan.windows_needed());
  if (plan.has_probation_until()) text += " (on probation until " + time_text(plan.probation_until()) + ')';
  if (is_waiting(plan) && plan.refused()) {
    const v1::GuardVerdict* guard = obstacle(plan);
    const bool waits = plan.state() == v1::Plan::APPROVED || (guard != nullptr && refusal(plan) == nullptr);
    text += waits ? " (waiting" : " (refused";
    text += guard == nullptr ? ")" : ": " + v1::GuardVerdict::Guard_Name(guard->guard()) + ')';
  }
  if (waits_for_brake(plan)) text += " (waiting: HANDS_OFF)";
  if (is_reverted(plan) && !plan.unresolved())
    text += holder == nullptr || !holder->in_force() ? " (reverted)" : " (held again by " + holder->id() + ')';
  if (plan.unresolved()) text += " (unresolved)";
  if (is_in_force_after_all(plan)) text += " (in force after all)";
  return text;
}

void print_plan(std::ostream& out, const v1::Plan& plan, TimePoint now, const PlanPage& page) {
  const auto say = [&](const char* head, const std::string& text) {
    if (!text.empty()) print_hanging(out, head, printable(text), page.columns);
  };
  const auto when = [&](const char* head, bool is_set, const google::protobuf::Timestamp& at) {
    if (is_set) out << head << time_text(at) << ", " << age_text(true, at, now) << '\n';
  };
  out << plan.id() << "  " << v1::Plan::Action_Name(plan.action()) << "  " << plan_state_text(plan, page.holder)
      << '\n';
  out << label_of(plan.target()) << "\n\n";
  if (plan.has_finished()) say("outcome     ", plan.outcome().empty() ? "-" : plan.outcome());
  say("shard       ", plan.shard());
  say("action      ", action_text(plan));
  say("reason      ", plan.reason());
  say("incident    ", plan.incident_id());
  say("reverts     ", reverts_text(plan, page.first_out));
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
    out << "verified    " << plan.windows_good() << " of " << plan.windows_needed() << " sweeps in a row passed"
        << (plan.has_finished() ? " at its end\n" : " so far\n");
  if (plan.has_probation_until())
    out << "probation   until " << time_text(plan.probation_until()) << ", "
        << plan.windows_needed() - plan.windows_good() << " more sweeps, if no fault is seen\n";
  else if (plan.state() == v1::Plan::VERIFYING && !takes_out(plan))
    out << (plan.windows_good() > 0
                ? "probation   stands still; " + std::to_string(plan.windows_needed() - plan.windows_good()) +
                      " more sweeps when it goes on\n"
                : "probation   begins when it is up and well\n");
  say("waits       ", waiting_text(plan));
  say("now         ", standing_of(plan, page.holder, now));
  out << "revision    " << plan.revision() << '\n';
  if (page.review) {
    print_candidates(out, plan, is_waiting(plan) ? ", as of the last sweep" : guards_of_then(plan), page.columns);
    print_guards(out, plan, page.columns);
  }
  print_steps(out, plan, page.columns);
  if (page.hints) print_next(out, plan, page);
}

bool is_undone(const v1::Plan& plan) {
  return plan.state() == v1::Plan::ROLLING_BACK && plan.intent() == v1::Plan::NONE;
}

std::string undoing_text(const v1::Plan& plan) {
  const v1::Plan::Action held = held_by(plan);
  if (takes_out(plan))
    return held == v1::Plan::DRAIN_NODE        ? "the host is undrained"
           : held == v1::Plan::RAISE_LINK_COST ? "the link gets its old cost"
                                               : "the link returns to service";
  return held == v1::Plan::DRAIN_NODE        ? "the host is drained again"
         : held == v1::Plan::RAISE_LINK_COST ? "the link's cost is raised again"
                                             : "the link is taken out of service again";
}

std::string waiting_text(const v1::Plan& plan) {
  const std::string waits = without_advice(plan.waits_for());
  if (plan.state() != v1::Plan::VERIFYING) return waits;
  // What passed last, or saw nothing yet, stands still for another reason than what it saw.
  if (!waits.empty() && (plan.windows_good() > 0 || waits.starts_with("for "))) return waits;
  if (!waits.empty()) return "the last sweep did not pass: " + waits;
  return plan.windows_good() == 0 ? "for the first sweep since the change" : "";
}

void print_preview(std::ostream& out, const v1::Plan& plan, const std::string& first, std::size_t columns) {
  out << v1::Plan::Action_Name(plan.action()) << "  preview: nothing is done yet\n"
      << label_of(plan.target()) << "\n\n";
  if (!plan.shard().empty()) out << "shard       " << printable(plan.shard()) << '\n';
  out << "action      " << (plan.outcome().empty() ? action_text(plan) : printable(plan.outcome())) << '\n';
  if (!plan.undoes().empty()) out << "reverts     " << printable(reverts_text(plan, first)) << '\n';
  if (!plan.actuator().empty()) out << "actuator    " << printable(plan.actuator()) << '\n';
  for (const std::string& job : plan.jobs()) out << "job         " << printable(job) << '\n';
  print_candidates(out, plan, {}, columns);
  print_guards(out, plan, columns);
}

}  // namespace weft::ctl
