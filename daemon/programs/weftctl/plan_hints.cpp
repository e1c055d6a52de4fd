// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftctl/plan_hints.hpp"

#include <algorithm>

#include "api/publication/find_ports.hpp"
#include "daemon/programs/weftctl/value_format.hpp"
#include "fabric/plan.hpp"
#include "fabric/plan_prospects.hpp"

namespace weft::ctl {
namespace {

/// It is approved, and nothing was sent for it.
bool is_untouched(const v1::Plan& plan) {
  return plan.state() == v1::Plan::APPROVED || (plan.state() == v1::Plan::EXECUTING && plan.intent() == v1::Plan::NONE);
}

/// Nobody would route round the link; not: the link is on somebody's path.
bool is_about_silent_manager(std::string_view refusal) {
  for (const char* sign : {"subnet manager does not answer", "whether the subnet manager answers",
                           "subnet manager is unreachable", "no subnet manager is known"})
    if (refusal.find(sign) != std::string_view::npos) return true;
  return false;
}

/// Guards that stop a plan of weftd and not a person's own order.
bool may_be_ordered_against(v1::GuardVerdict::Guard guard) {
  return guard == v1::GuardVerdict::MAINTENANCE || guard == v1::GuardVerdict::TWO_SIGNALS ||
         guard == v1::GuardVerdict::COOL_DOWN || guard == v1::GuardVerdict::REINSTATEMENT ||
         guard == v1::GuardVerdict::BENEFIT;
}

/// The target as one argument of a verb: one end of a link, or the host.
std::string typed_target(const v1::Plan& plan) {
  const std::string target =
      printable(plan.target().host().empty() ? api::first_end(plan.target().label()) : plan.target().host());
  return target.find(' ') == std::string::npos ? target : '"' + target + '"';
}

/// "weftctl isolate leaf-1:7": what takes the plan's target out by that action.
std::string take_out_command(const v1::Plan& plan, v1::Plan::Action action) {
  const std::string verb = action == v1::Plan::DRAIN_NODE        ? "drain "
                           : action == v1::Plan::RAISE_LINK_COST ? "raise-cost "
                                                                 : "isolate ";
  return "weftctl " + verb + typed_target(plan);
}

/// The verb by which a person orders what the plan would do.
std::string order_command(const v1::Plan& plan) {
  return takes_out(plan) ? take_out_command(plan, plan.action()) : return_command(plan);
}

/// Who brings back what somebody else has out of service.
void print_others_return(std::ostream& out, v1::Plan::Action held) {
  out << "\nto bring it back   "
      << (held == v1::Plan::DRAIN_NODE        ? "whoever drained it undrains it"
          : held == v1::Plan::RAISE_LINK_COST ? "whoever raised its cost lowers it"
                                              : "enable the end that somebody else disabled")
      << "; no plan holds it any more\n";
}

/// The actuator of links whose ports say whether they are disabled.
constexpr std::string_view kTellsDisabled = "infiniband_port";

/// Of a return that is over, or of what others took out meanwhile, and no plan holds: an order of it anew would be
/// refused.
void print_let_go(std::ostream& out, const v1::Plan& plan, LinkNow link) {
  if (plan.state() == v1::Plan::COMMITTED || (plan.state() == v1::Plan::EXPIRED && !is_left_to_others(own_words(plan))))
    return;
  if (is_left_to_others(own_words(plan))) {
    const bool is_about_cost = held_by(plan) == v1::Plan::RAISE_LINK_COST;  // the link is up all the same
    if (link == LinkNow::kDown && !is_about_cost && plan.actuator() == kTellsDisabled)
      out << "\nto bring it back   no end of it is disabled, and it is not up: look at its cable and its ends\n";
    else if (link != LinkNow::kUp || is_about_cost)
      print_others_return(out, held_by(plan));
    return;
  }
  if (is_about_breaker(own_words(plan))) out << "\nafter checking   weftctl breaker reset --reason ...";
  out << "\nto take it out again   " << take_out_command(plan, held_by(plan)) << " --reason ...\n";
}

/// What the plan isolated somebody else enabled again.
bool is_enabled_by_others(const v1::Plan& plan) {
  return plan.action() == v1::Plan::ISOLATE_LINK &&
         own_words(plan).find("somebody else enabled the link again") != std::string::npos;
}

bool is_over_without_effect(const v1::Plan& plan) {
  return is_enabled_by_others(plan) || plan.state() == v1::Plan::FAILED || plan.state() == v1::Plan::ROLLED_BACK ||
         plan.state() == v1::Plan::REJECTED;
}

/// Of a plan that ended without what it was to do: what a person may do now.
void print_order_anew(std::ostream& out, const v1::Plan& plan, const PlanPage& page) {
  if (plan.unresolved()) {
    out << "\nwhat to do   weftctl runbook remedies, \"WeftPlanUnresolved\"\n";
    return;
  }
  const bool is_held = plan.in_force() || (page.holder != nullptr && page.holder->in_force());
  if (is_held) return;
  // What failed to bring back what that one holds may be ordered anew.
  const bool is_of_it = page.other != nullptr && page.other->id() == plan.undoes() && is_over_without_effect(plan);
  if (page.other != nullptr && !is_of_it && (plan.state() > v1::Plan::COMMITTED || is_enabled_by_others(plan))) {
    const v1::Plan& other = *page.other;
    out << '\n'
        << other.id()
        << (other.in_force()     ? " holds"
            : other.unresolved() ? " may hold"
                                 : " is changing")
        << " its target   weftctl plan " << other.id() << '\n';
    return;
  }
  if (page.is_let_go) return print_let_go(out, plan, page.link);
  if (page.link == LinkNow::kDisabledByOthers && is_over_without_effect(plan))
    return print_others_return(out, v1::Plan::ISOLATE_LINK);
  if (is_enabled_by_others(plan)) out << "\nto watch it on probation   " << return_command(plan) << " --reason ...\n";
  if (is_over_without_effect(plan))
    out << (is_enabled_by_others(plan) ? "" : "\n") << "to order it anew   " << order_command(plan)
        << " --reason ...\n";
}

}  // namespace

std::string next_step(std::string_view refusal) {
  auto guard = v1::GuardVerdict::GUARD_UNSPECIFIED;
  if (!v1::GuardVerdict::Guard_Parse(std::string(refusal.substr(0, refusal.find(':'))), &guard)) return {};
  if (guard == v1::GuardVerdict::HANDS_OFF) return "; by whom and since when: weftctl hands-off";
  const bool is_hour = refusal.find(" per hour are used up") != std::string_view::npos;
  const char* counts = guard != v1::GuardVerdict::BUDGET ? ""
                       : is_hour                         ? "; what counts: weftctl plans --all, weftctl audit"
                                                         : "; what counts: weftctl plans --in-force, weftctl status";
  const bool is_silent = guard == v1::GuardVerdict::OWN_PATH && is_about_silent_manager(refusal);
  return std::string(counts) + "; what to do: weftctl runbook remedies, \"" +
         (is_silent ? "WeftSubnetManagerSilent" : "A guard refuses") + '"';
}

std::string return_command(const v1::Plan& plan) {
  const v1::Plan::Action by = held_by(plan);
  const std::string verb = by == v1::Plan::DRAIN_NODE        ? "undrain "
                           : by == v1::Plan::RAISE_LINK_COST ? "lower-cost "
                                                             : "restore ";
  return "weftctl " + verb + typed_target(plan);
}

bool is_let_go(const v1::Plan& plan, const google::protobuf::RepeatedPtrField<v1::Plan>& plans) {
  if (plan.state() < v1::Plan::COMMITTED || holds_its_target(plan) || plans.empty()) return false;
  if (takes_out(plan) && !is_left_to_others(own_words(plan))) return false;
  return std::ranges::none_of(plans, [&plan](const v1::Plan& other) {
    return holds_its_target(other) && other.target().identity() == plan.target().identity();
  });
}

void print_next(std::ostream& out, const v1::Plan& plan, const PlanPage& page) {
  const v1::Plan::State state = plan.state();
  const bool is_aborted = state == v1::Plan::EXECUTING && !plan.outcome().empty();
  if (!is_aborted && (state == v1::Plan::APPROVED || state == v1::Plan::EXECUTING || state == v1::Plan::VERIFYING))
    out << (is_untouched(plan) ? "\nto end it    " : "\nto undo it   ") << "weftctl abort " << plan.id()
        << " --reason ...\n";
  // What waits may wait for ever.
  if (may_be_left(plan.waits_for()))
    out << (state == v1::Plan::ROLLING_BACK ? "\n" : "") << "to leave it in service   weftctl abort " << plan.id()
        << " --leave-in-service --reason ...\n";
  if (!plan.kept_out().empty())
    out << "\nkept out of service   " << printable(plan.kept_out()) << "; automation does not return it by itself\n";
  const v1::Plan& holds = is_reverted(plan) && page.holder != nullptr ? *page.holder : plan;
  if (holds.in_force() && state >= v1::Plan::COMMITTED)
    out << (holds.only_by_hand() && holds.kept_out().empty() ? "\ncomes back only by hand" : "")
        << "\nto bring it back   " << return_command(holds) << " --reason ...\n";
  print_order_anew(out, plan, page);
  if (state != v1::Plan::PROPOSED) return;
  if (const v1::GuardVerdict* guard = refusal(plan)) {
    out << "\nguard " << v1::GuardVerdict::Guard_Name(guard->guard()) << " refuses it now: it cannot be approved"
        << next_step(v1::GuardVerdict::Guard_Name(guard->guard()) + ": " + guard->explanation()) << '\n';
    if (may_be_ordered_against(guard->guard()))
      out << "to order it yourself   " << order_command(plan) << " --reason ...\n";
    out << "to reject    weftctl reject " << plan.id() << " --reason ...\n";
    return;
  }
  out << "\nto approve   weftctl approve " << plan.id() << " --revision " << plan.revision()
      << "\nto reject    weftctl reject " << plan.id() << " --reason ...\n";
}

}  // namespace weft::ctl
