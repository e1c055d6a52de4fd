// SPDX-License-Identifier: Apache-2.0
// The jobs that use a plan's target now: whoever began after the proposal counts, whoever ended does not.

#include <algorithm>
#include <utility>

#include "analyzer/remedy/plan_manager.hpp"

namespace weft::analyzer {

std::optional<std::vector<std::string>> PlanManager::jobs_on(const Entity& target, const RemedyView& view) {
  if (target.kind == EntityKind::kHost) {
    for (const HostView* host : view.hosts_of(target.host))
      if (host->reading) return host->reading->jobs;
    return std::nullopt;
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
