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

void say_hold(const Plan& plan, v1::PlanHold& to) {
  to.set_plan_id(plan_name(plan.id));
  to.set_action(to_string(held_action(plan)));
  to.set_state(to_string(plan.state));
  to.set_reason(valid_utf8(plan.reason));
}

}  // namespace

Holds::Holds(const Snapshot& snapshot) {
  if (!snapshot.plans) return;
  for (const auto& plan : *snapshot.plans) {
    if (!plan->in_force) continue;
    if (plan->target.kind == EntityKind::kLink)
      links_[{plan->target.fabric, make_link_key(plan->target.port, plan->target.peer)}] = plan.get();
    else if (plan->target.kind == EntityKind::kHost)
      hosts_[short_host_name(plan->target.host)].push_back(plan.get());
  }
}

void Holds::add_to(std::string_view fabric, const LinkKey& link, v1::Link& to) const {
  const auto held = links_.find({fabric, link});
  if (held == links_.end()) return;
  say_hold(*held->second, *to.mutable_hold());
  // A link whose cost was raised is in service.
  if (held_action(*held->second) != RemedyAction::kRaiseLinkCost) to.set_plan_id(plan_name(held->second->id));
}

void Holds::add_to(const Node& node, v1::Node& to) const {
  if (node.type != NodeType::kChannelAdapter || hosts_.empty()) return;
  const std::string_view host = host_name(node);
  const auto held = hosts_.find(short_host_name(host));
  if (held == hosts_.end()) return;
  const auto plan =
      std::ranges::find_if(held->second, [host](const Plan* each) { return same_host(each->target.host, host); });
  if (plan != held->second.end()) say_hold(**plan, *to.mutable_hold());
}

}  // namespace weft::api
