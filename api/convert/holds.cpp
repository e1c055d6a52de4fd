// SPDX-License-Identifier: Apache-2.0
#include "api/convert/holds.hpp"

#include <algorithm>

#include "api/publication/utf8.hpp"
#include "fabric/host_names.hpp"
#include "fabric/plan_acts.hpp"

namespace weft::api {
namespace {

/// `kept_out`: as Plan::kept_out, of the plan in force.
void say_hold(const Plan& plan, v1::PlanHold& to, const std::string& kept_out = {}) {
  to.set_plan_id(plan_name(plan.id));
  to.set_action(to_string(outward_action(plan)));
  to.set_state(to_string(plan.state));
  to.set_reason(valid_utf8(kept_out.empty() ? plan.reason : plan.reason + "; " + kept_out));
}

/// What the last sweep read of its target is older.
bool is_given_back_since_sweep(const Plan& plan, const Snapshot& snapshot) {
  if (plan.target.kind != EntityKind::kLink || outward_action(plan) != RemedyAction::kIsolateLink) return false;
  const auto fabric = std::ranges::find(snapshot.fabrics, plan.target.fabric, &FabricView::name);
  return fabric != snapshot.fabrics.end() && fabric->sweep &&
         is_given_back_since(plan, fabric->sweep->started, snapshot.taken);
}

}  // namespace

Holds::Holds(const Snapshot& snapshot) {
  if (!snapshot.plans) return;
  for (const FabricView& fabric : snapshot.fabrics)
    if (fabric.sweep && fabric.sweep->topology->is_ethernet()) ethernet_.insert(fabric.name);
  for (const auto& plan : *snapshot.plans) {
    const bool returns = plan->action == RemedyAction::kRestoreLink && plan->state != PlanState::kProposed;
    // It may be out already, or still be out.
    const bool changes = plan->action == RemedyAction::kIsolateLink && is_under_way(plan->state) &&
                         (plan->intent != PlanIntent::kNone || plan->state == PlanState::kRollingBack);
    const bool is_given_back = is_given_back_since_sweep(*plan, snapshot);
    const bool may_hold = plan->unresolved && !plan->in_force && outward_action(*plan) == RemedyAction::kIsolateLink;
    if (!plan->in_force && !changes && !may_hold && !is_given_back && (!returns || is_over(plan->state))) continue;
    if (plan->target.kind == EntityKind::kLink) {
      const std::string_view scope = scope_of(plan->target.fabric);
      const LinkKey key = make_link_key(plan->target.port, plan->target.peer);
      for (const PortKey end : {key.low, key.high}) ends_.insert_or_assign({scope, end}, key);
      OfLink& link = links_[{scope, key}];
      if (plan->in_force || changes) link.holds = &first_out(*plan, *snapshot.plans);
      if (plan->in_force) link.kept_out = plan->kept_out;
      if (returns && (plan->in_force || !is_over(plan->state))) link.returning = plan.get();
      if (may_hold) link.may_hold = plan.get();
      link.is_given_back = is_given_back;
    } else if (plan->target.kind == EntityKind::kHost && plan->in_force)
      hosts_[short_host_name(plan->target.host)].push_back({&first_out(*plan, *snapshot.plans), plan->kept_out});
  }
}

std::string_view Holds::scope_of(std::string_view fabric) const {
  return ethernet_.contains(fabric) ? fabric : std::string_view();
}

void Holds::add_to(std::string_view fabric, const LinkKey& link, v1::Link& to) const {
  const auto held = links_.find({scope_of(fabric), link});
  if (held == links_.end()) return;
  const auto& [holds, kept_out, returning, may_hold, is_given_back] = held->second;
  if (is_given_back && !holds) to.set_disabled(false);
  if (returning) {
    say_hold(*returning, *to.mutable_returning());
    to.mutable_returning()->set_action(to_string(returning->action));
  }
  if (!holds && may_hold) say_hold(*may_hold, *to.mutable_may_hold());
  if (!holds) return;
  say_hold(*holds, *to.mutable_hold(), kept_out);
  // A link whose cost was raised is in service.
  if (outward_action(*holds) != RemedyAction::kRaiseLinkCost) to.set_plan_id(plan_name(holds->id));
}

void Holds::add_to(std::string_view fabric, PortKey end, v1::Link& to) const {
  if (const auto link = ends_.find({scope_of(fabric), end}); link != ends_.end()) add_to(fabric, link->second, to);
}

void Holds::add_to(const Node& node, v1::Node& to) const {
  if (node.type != NodeType::kChannelAdapter || hosts_.empty()) return;
  const std::string_view host = host_name(node);
  const auto held = hosts_.find(short_host_name(host));
  if (held == hosts_.end()) return;
  const auto plan = std::ranges::find_if(
      held->second, [host](const OfHost& each) { return same_host(each.holds->target.host, host); });
  if (plan != held->second.end()) say_hold(*plan->holds, *to.mutable_hold(), plan->kept_out);
}

}  // namespace weft::api
