// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analyzer/incidents/health.hpp"
#include "fabric/host_names.hpp"
#include "fabric/plan_acts.hpp"

namespace weft::analyzer {
namespace {

// "drained by PLAN-7 for INC-17: errors at …", "drained by PLAN-8, which ann ordered: new memory",
// "drained by PLAN-9 for INC-17, which ann ordered: new cable"
// `kept_out`: as Plan::kept_out, of the plan in force.
std::string drain_text(const Plan& plan, const std::string& kept_out) {
  std::string text = "drained by " + plan_name(plan.id);
  if (plan.incident != 0) text += " for " + incident_name(plan.incident);
  if (!plan.requested_by.empty() && plan.requested_by != kOurselves)
    text += ", which " + plan.requested_by + " ordered";
  if (!plan.reason.empty()) text += ": " + plan.reason;
  if (is_in_force_after_all(plan)) text += "; in force after all: " + plan.outcome;
  if (plan.unresolved) text += "; unknown whether it still is: " + plan.outcome;
  return kept_out.empty() ? text : text + "; " + kept_out;
}

bool drains(const Plan& plan) {
  return plan.in_force && plan.target.kind == EntityKind::kHost;
}

}  // namespace

std::shared_ptr<const std::vector<NodeHealth>> with_drains(std::shared_ptr<const std::vector<NodeHealth>> health,
                                                           std::span<const std::shared_ptr<const Plan>> plans) {
  std::unordered_multimap<std::string, const Plan*> drained;
  for (const auto& plan : plans)
    if (drains(*plan)) drained.emplace(short_host_name(plan->target.host), plan.get());
  if (!health || drained.empty()) return health;
  auto with = std::make_shared<std::vector<NodeHealth>>(*health);
  std::unordered_set<const Plan*> told;  // of those in `drained`
  const auto add_reasons = [&](NodeHealth& host) {
    const auto [begin, end] = drained.equal_range(short_host_name(host.node));
    for (auto at = begin; at != end; ++at) {
      const Plan& plan = first_out(*at->second, plans);
      if (!same_host(plan.target.host, host.node)) continue;
      told.insert(at->second);
      host.reasons.push_back({.severity = Severity::kInfo,
                              .since = plan.started,
                              .message = drain_text(plan, at->second->kept_out),
                              .ports = {},
                              .plan = plan.id});
      host.action = std::max(host.action, RecommendedAction::kAvoidNewJobs);
    }
  };
  for (NodeHealth& host : *with) add_reasons(host);
  const std::size_t known = with->size();
  // Those that no sweep has found, as before the first one after a restart.
  for (const auto& plan : plans) {
    if (!drains(*plan) || told.contains(plan.get())) continue;
    NodeHealth& host = with->emplace_back();
    host.node = plan->target.host;
    host.verdict = HealthVerdict::kUnknown;
    host.data_age = Duration::max();
    add_reasons(host);
  }
  if (with->size() > known) std::ranges::stable_sort(*with, {}, &NodeHealth::node);
  return with;
}

}  // namespace weft::analyzer
