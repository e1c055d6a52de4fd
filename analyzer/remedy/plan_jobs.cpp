// SPDX-License-Identifier: Apache-2.0
// The jobs that use a plan's target now: whoever began after the proposal counts, whoever ended does not.

#include <algorithm>
#include <utility>

#include "analyzer/remedy/plan_manager.hpp"
#include "fabric/host_names.hpp"

namespace weft::analyzer {

std::optional<std::vector<std::string>> PlanManager::jobs_on(const Entity& target, const RemedyView& view) {
  if (target.kind == EntityKind::kHost) {
    const auto host = std::ranges::find_if(
        view.hosts, [&](const auto& each) { return each->reading && same_host(each->host, target.host); });
    return host == view.hosts.end() ? std::nullopt : std::optional((*host)->reading->jobs);
  }
  if (target.kind != EntityKind::kLink ||
      std::ranges::none_of(view.hosts, [](const auto& each) { return each->reading != nullptr; }))
    return std::nullopt;
  const LiveTree* tree = trees_.tree(target.fabric, view, shown_);
  if (!tree) return std::nullopt;
  const PortIndex port = view.fabric(target.fabric)->sweep->topology->find_port(target.port);
  const UplinkIndex uplink = port == kNoIndex ? kNoIndex : tree->tree().uplink_of(port);
  if (uplink == kNoIndex) return std::nullopt;
  return trees_.jobs_over(target.fabric, uplink);
}

void PlanManager::renew_jobs(Entry& entry, const RemedyView& view) {
  Plan& plan = entry.plan;
  if (is_over(plan.state) && !plan.in_force && !plan.unresolved) return;
  auto jobs = jobs_on(plan.target, view);
  if (!jobs || *jobs == plan.jobs) return;
  plan.jobs = std::move(*jobs);
  show(entry);
}

}  // namespace weft::analyzer
