// SPDX-License-Identifier: Apache-2.0
#include "analyzer/incidents/planned_work.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

namespace weft::analyzer {
namespace {

/// Kinds that an outage elsewhere brings about.
bool may_follow(IncidentKind kind) {
  switch (kind) {
    case IncidentKind::kLinkDown:
    case IncidentKind::kNodeDown:
    case IncidentKind::kCongestionIncast:
    case IncidentKind::kCongestionUnevenLoad:
    case IncidentKind::kCongestionOversubscribed:
    case IncidentKind::kSlowReceiver:
    case IncidentKind::kPfcStorm:
    case IncidentKind::kSilentLoss:
    case IncidentKind::kRdmaErrors:
    case IncidentKind::kStraggler:
    case IncidentKind::kJobHang:
    case IncidentKind::kTelemetryLost:
      return true;
    default:
      return false;
  }
}

/// Whom planned outages reach, and the window of each.
class Reach {
 public:
  void add(const std::vector<Entity>& affected, const MaintenanceWindow& window) {
    for (const Entity& entity : affected) {
      identities_.emplace(entity.identity(), &window);
      if (entity.kind == EntityKind::kNode) nodes_.emplace(entity.port.node, &window);
    }
  }
  const MaintenanceWindow* of(const Finding& finding) const {
    if (identities_.empty() || !may_follow(finding.kind)) return nullptr;
    if (const auto found = identities_.find(finding.cause.identity()); found != identities_.end()) return found->second;
    if (finding.cause.kind != EntityKind::kPort && finding.cause.kind != EntityKind::kLink) return nullptr;
    for (const NodeGuid node : {finding.cause.port.node, finding.cause.peer.node})
      if (const auto found = nodes_.find(node); found != nodes_.end()) return found->second;
    return nullptr;
  }

 private:
  std::unordered_map<std::string, const MaintenanceWindow*> identities_;
  std::unordered_map<NodeGuid, const MaintenanceWindow*> nodes_;
};

/// A host none of whose dead links is outside the work: it is cut off by it.
const MaintenanceWindow* cut_off(const Finding& finding, const MaintenanceList& active, TimePoint now) {
  if (finding.kind != IncidentKind::kNodeDown) return nullptr;
  const MaintenanceWindow* window = nullptr;
  for (const Entity& link : finding.affected) {
    if (link.kind != EntityKind::kLink) continue;
    window = maintenance_of(active, link, now);
    if (!window) return nullptr;
  }
  return window;
}

void mark(Finding& finding, const MaintenanceWindow& window) {
  finding.maintenance = window.id;
  finding.severity = Severity::kInfo;
  finding.summary = "Planned: " + finding.summary + " (" + in_words(window) + ")";
}

}  // namespace

std::string over_text(std::uint64_t window) {
  return window >= kFirstPlanWindow ? maintenance_name(window) + " does not hold it any more"
                                    : "the maintenance window ended";
}

void mark_planned(std::vector<Finding>& findings, const MaintenanceList& windows,
                  std::span<const std::shared_ptr<const Incident>> open,
                  const std::function<bool(const Finding&)>& began_before, TimePoint now) {
  MaintenanceList active;
  std::ranges::copy_if(windows, std::back_inserter(active), [&](const MaintenanceWindow& window) {
    return state_at(window, now) == MaintenanceState::kActive;
  });
  if (active.empty()) return;
  Reach reach;
  for (const auto& incident : open) {
    if (!incident->is_open() || incident->finding.maintenance == 0 || !is_outage_or_blindness(incident->finding.kind))
      continue;
    const auto window = std::ranges::find(active, incident->finding.maintenance, &MaintenanceWindow::id);
    if (window != active.end()) reach.add(incident->finding.affected, *window);
  }
  for (Finding& finding : findings) {
    const MaintenanceWindow* window = maintenance_of(active, finding.cause, now);
    if (!window) window = cut_off(finding, active, now);
    if (!window) continue;
    if (is_outage_or_blindness(finding.kind)) reach.add(finding.affected, *window);
    if (!began_before(finding)) mark(finding, *window);
  }
  for (Finding& finding : findings) {
    if (finding.maintenance != 0) continue;
    const MaintenanceWindow* window = reach.of(finding);
    if (window && !began_before(finding)) mark(finding, *window);
  }
}

}  // namespace weft::analyzer
