// SPDX-License-Identifier: Apache-2.0
// What partners tell of what is out of service, for plans that would take out more.

#include <algorithm>
#include <string>
#include <utility>

#include "analyzer/remedy/budget.hpp"
#include "analyzer/remedy/plan_manager.hpp"
#include "fabric/plan_acts.hpp"

namespace weft::analyzer {

void PlanManager::set_avoided_ports(const std::string& actuator, AvoidedPorts ports) {
  avoided_[actuator] = std::move(ports);
  std::vector<PortKey> all;
  for (const auto& [name, told] : avoided_) all.insert(all.end(), told.ports.begin(), told.ports.end());
  trees_.set_avoided(std::move(all));
}

// The last sweep read them disabled, by us. Those that are avoided as well are so by somebody else.
std::vector<LinkKey> PlanManager::just_enabled(const RemedyView& view) const {
  std::vector<LinkKey> links;
  for (const PlanPtr& plan : shown_) {
    if (plan->state != PlanState::kVerifying || takes_out(plan->action) || plan->target.kind != EntityKind::kLink ||
        outward_action(*plan) != RemedyAction::kIsolateLink)
      continue;
    const FabricView* fabric = view.fabric(plan->target.fabric);
    if (fabric && fabric->sweep && is_given_back_since(*plan, fabric->sweep->started, view.now) &&
        !trees_.is_avoided(plan->target))
      links.push_back(make_link_key(plan->target.port, plan->target.peer));
  }
  return links;
}

// What was read of them is older than that we gave them back. For people: somebody else may have them as well, and
// guards count them.
std::vector<LinkKey> PlanManager::just_given_back(const RemedyView& view) const {
  std::vector<LinkKey> links;
  const Ages ages = clock_.ages(view.now);
  for (const PlanPtr& plan : shown_) {
    const TimePoint at = given_back_at(*plan);
    if (plan->target.kind != EntityKind::kLink || at == kNever) continue;
    bool is_old = false;
    if (outward_action(*plan) == RemedyAction::kIsolateLink) {
      const FabricView* fabric = view.fabric(plan->target.fabric);
      is_old = fabric && fabric->sweep && is_given_back_since(*plan, fabric->sweep->started, view.now) &&
               !trees_.is_avoided(plan->target);
    } else if (const auto told = avoided_.find(plan->actuator);
               at <= view.now && told != avoided_.end() && told->second.told) {
      is_old = ages.of(at) <= view.steady.value_or(Duration{}) - *told->second.told;
    }
    if (is_old) links.push_back(make_link_key(plan->target.port, plan->target.peer));
  }
  return links;
}

void PlanManager::note_out_by_others(const RemedyView& view) {
  std::vector<std::span<const Entity>> taken_out;
  for (const FabricView& fabric : view.fabrics) taken_out.emplace_back(counts(fabric.name, view).taken_out);
  auto links = taken_out_by_others(shown_, taken_out, just_given_back(view));
  out_by_others_ = static_cast<std::uint32_t>(links.size());
  const auto named = std::min(links.size(), RemedyStatus::kMostNamedLinks);
  std::ranges::partial_sort(links, links.begin() + static_cast<std::ptrdiff_t>(named), {}, &Entity::label);
  links.resize(named);
  links_out_by_others_.clear();
  for (const Entity* link : links) links_out_by_others_.push_back(link->label);
}

std::optional<std::string> PlanManager::untold_list(const Plan& plan, const RemedyView& view) const {
  if (!takes_out(plan.action) || view.is_ethernet_link(plan.target)) return std::nullopt;
  const Duration now = view.steady.value_or(Duration{});
  const auto with_trouble = [this](std::string why, const std::string& actuator) {
    const auto trouble = list_troubles_.find(actuator);
    return trouble == list_troubles_.end() || trouble->second.empty() ? why : why + ": " + trouble->second;
  };
  if (plan.target.kind == EntityKind::kHost) {
    const auto drained = drained_.find(plan.actuator);
    if (drained == drained_.end()) return std::nullopt;
    auto why = untold("the scheduler", "which hosts are drained", drained->second.told(), now);
    return why ? std::optional(with_trouble(std::move(*why), plan.actuator)) : std::nullopt;
  }
  for (const auto& [name, ports] : avoided_) {
    if (auto why = untold(name, "which links are avoided", ports.told, now)) return with_trouble(std::move(*why), name);
    // A link that seems to be no way makes a pair of leaves seem lost already.
    if (const Plan* back = given_back_within(name, now - *ports.told, view.now))
      return name + " has not told which links are avoided since " + plan_name(back->id) + " gave one back";
  }
  return std::nullopt;
}

const Plan* PlanManager::given_back_within(const std::string& actuator, Duration span, TimePoint now) const {
  const Ages ages = clock_.ages(now);
  for (const PlanPtr& plan : shown_) {
    if (plan->actuator != actuator) continue;
    const TimePoint back = given_back_at(*plan);
    if (back != kNever && ages.of(back) <= span) return plan.get();
  }
  return nullptr;
}

// What a partner told of the target may be older than what Weft gave back a moment ago.
bool PlanManager::is_told_before(const Entity& target, TimePoint now) const {
  constexpr Duration kToldAnew = std::chrono::minutes(2);
  return std::ranges::any_of(shown_, [&](const PlanPtr& plan) {
    return plan->finished != kNever && same_target(plan->target, target) &&
           clock_.ages(now).of(plan->finished) < kToldAnew;
  });
}

// The actuator that would drain the host, where it told that the host is drained; empty: it did not, or not lately.
std::string PlanManager::drained_by_others(const Entity& target, const RemedyView& view) const {
  const std::string& actuator = settings_.actuator(RemedyAction::kDrainNode);
  const auto told = drained_.find(actuator);
  if (told == drained_.end() || !view.steady || untold(actuator, {}, told->second.told(), *view.steady)) return {};
  return told->second.has(target.host) && !is_told_before(target, view.now) ? actuator : "";
}

// The actuator that would raise the link's cost, where it told that the cost is raised; empty: it did not.
std::string PlanManager::raised_by_others(const Entity& target, const RemedyView& view) const {
  const std::string actuator = settings_.actuator(RemedyAction::kRaiseLinkCost, target, view);
  const auto told = avoided_.find(actuator);
  if (told == avoided_.end() || is_told_before(target, view.now)) return {};
  const bool is_raised =
      std::ranges::any_of(told->second.ports, [&](PortKey port) { return port == target.port || port == target.peer; });
  return is_raised ? actuator : "";
}

}  // namespace weft::analyzer
