// SPDX-License-Identifier: Apache-2.0
#include "api/convert/holds.hpp"

#include <algorithm>

#include "api/publication/utf8.hpp"
#include "fabric/host_names.hpp"

namespace weft::api {
namespace {

/// What a plan in force does to its target: a return that failed holds what it was to bring back.
RemedyAction held_action(const Plan& plan) {
  if (plan.action == RemedyAction::kUndrainNode) return RemedyAction::kDrainNode;
  if (plan.action != RemedyAction::kRestoreLink) return plan.action;
  return plan.inverse == RemedyAction::kNothing ? inverse_of(plan.action) : plan.inverse;
}

/// The plan that took out what `plan` holds: of a return that failed the one before it, where that is still known.
const Plan& first_out(const Plan& plan, const std::vector<std::shared_ptr<const Plan>>& plans) {
  const Plan* first = &plan;
  while (first->action == RemedyAction::kRestoreLink && first->undoes != 0 && first->undoes < first->id) {
    const auto before = std::ranges::lower_bound(plans, first->undoes, {}, [](const auto& each) { return each->id; });
    if (before == plans.end() || (*before)->id != first->undoes) break;
    first = before->get();
  }
  return *first;
}

/// `kept_out`: as Plan::kept_out, of the plan in force.
void say_hold(const Plan& plan, v1::PlanHold& to, const std::string& kept_out = {}) {
  to.set_plan_id(plan_name(plan.id));
  to.set_action(to_string(held_action(plan)));
  to.set_state(to_string(plan.state));
  to.set_reason(valid_utf8(kept_out.empty() ? plan.reason : plan.reason + "; " + kept_out));
}

}  // namespace

Holds::Holds(const Snapshot& snapshot) {
  if (!snapshot.plans) return;
  for (const auto& plan : *snapshot.plans) {
    const bool returns = plan->action == RemedyAction::kRestoreLink && plan->state != PlanState::kProposed;
    // It may be out already, or still be out.
    const bool changes = plan->action == RemedyAction::kIsolateLink && is_under_way(plan->state) &&
                         (plan->intent != PlanIntent::kNone || plan->state == PlanState::kRollingBack);
    if (!plan->in_force && !changes && (!returns || is_over(plan->state))) continue;
    if (plan->target.kind == EntityKind::kLink) {
      OfLink& link = links_[{plan->target.fabric, make_link_key(plan->target.port, plan->target.peer)}];
      if (plan->in_force || changes) link.holds = &first_out(*plan, *snapshot.plans);
      if (plan->in_force) link.kept_out = plan->kept_out;
      if (returns) link.returning = plan.get();
    } else if (plan->target.kind == EntityKind::kHost && plan->in_force)
      hosts_[short_host_name(plan->target.host)].push_back(plan.get());
  }
}

void Holds::add_to(std::string_view fabric, const LinkKey& link, v1::Link& to) const {
  const auto held = links_.find({fabric, link});
  if (held == links_.end()) return;
  const auto& [holds, kept_out, returning] = held->second;
  if (returning) {
    say_hold(*returning, *to.mutable_returning());
    to.mutable_returning()->set_action(to_string(returning->action));
  }
  if (!holds) return;
  say_hold(*holds, *to.mutable_hold(), kept_out);
  // A link whose cost was raised is in service.
  if (held_action(*holds) != RemedyAction::kRaiseLinkCost) to.set_plan_id(plan_name(holds->id));
}

void Holds::add_to(const Node& node, v1::Node& to) const {
  if (node.type != NodeType::kChannelAdapter || hosts_.empty()) return;
  const std::string_view host = host_name(node);
  const auto held = hosts_.find(short_host_name(host));
  if (held == hosts_.end()) return;
  const auto plan =
      std::ranges::find_if(held->second, [host](const Plan* each) { return same_host(each->target.host, host); });
  if (plan != held->second.end()) say_hold(**plan, *to.mutable_hold(), (*plan)->kept_out);
}

}  // namespace weft::api
