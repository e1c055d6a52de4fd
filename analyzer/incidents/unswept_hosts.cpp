// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/incidents/health.hpp"
#include "fabric/graph/job_health.hpp"
#include "fabric/topology.hpp"

namespace weft::analyzer {
namespace {

/// A host of one subnet that nobody sweeps.
struct UnsweptHost {
  std::vector<NodeGuid> guids;
  std::vector<HealthReason> reasons;
};

void add_reason(UnsweptHost& host, const Incident& incident, PortKey port) {
  if (host.reasons.empty() || host.reasons.back().incident != incident.id)
    host.reasons.push_back(
        {incident.id, incident.finding.kind, incident.finding.severity, incident.opened, incident.finding.summary, {}});
  if (port.port.value != 0) host.reasons.back().ports.push_back(port);
}

/// `seen`: what sweeps found; null: nothing yet.
std::unordered_map<std::string, UnsweptHost> hosts_of(const KnownSubnet& subnet, const Topology* seen,
                                                      const IncidentList& incidents) {
  std::unordered_map<std::string, UnsweptHost> hosts;
  std::unordered_map<NodeGuid, UnsweptHost*> by_guid;
  for (const KnownLink& link : *subnet.host_links)
    for (const auto& [key, end] : {std::pair(link.key.low, &link.low), {link.key.high, &link.high}}) {
      if (end->type != NodeType::kChannelAdapter || end->node_name.empty() || by_guid.contains(key.node) ||
          (seen != nullptr && seen->find_node(key.node) != kNoIndex))
        continue;
      Node adapter;
      adapter.type = NodeType::kChannelAdapter;
      adapter.name = end->node_name;
      UnsweptHost& host = hosts[std::string(host_name(adapter))];
      host.guids.push_back(key.node);
      by_guid.emplace(key.node, &host);
    }
  const auto blame = [&](const Incident& incident, PortKey port) {
    if (const auto host = by_guid.find(port.node); host != by_guid.end()) add_reason(*host->second, incident, port);
  };
  for (const IncidentPtr& incident : incidents) {
    const Finding& finding = incident->finding;
    if (!incident->is_open() || finding.maintenance != 0 || finding.cause.fabric != subnet.name ||
        finding.kind == IncidentKind::kConfigDrift)
      continue;
    if (finding.cause.kind == EntityKind::kFabric && finding.kind == IncidentKind::kTelemetryLost)
      for (auto& [name, host] : hosts) add_reason(host, *incident, {});
    blame(*incident, finding.cause.port);
    if (finding.cause.kind == EntityKind::kLink) blame(*incident, finding.cause.peer);
  }
  return hosts;
}

}  // namespace

std::vector<NodeHealth> with_unswept(std::vector<NodeHealth> health, std::span<const KnownSubnet> subnets,
                                     std::span<const FabricView> fabrics, const IncidentList& incidents) {
  for (const KnownSubnet& subnet : subnets) {
    if (subnet.is_swept) continue;
    const auto view = std::ranges::find(fabrics, subnet.name, &FabricView::name);
    const bool has_sweep = view != fabrics.end() && view->sweep;
    auto hosts = hosts_of(subnet, has_sweep ? view->sweep->topology.get() : nullptr, incidents);
    const auto add = [&](NodeHealth& of, UnsweptHost& host) {
      of.verdict = worse_of(of.verdict, HealthVerdict::kUnknown);
      of.action = std::max(of.action, RecommendedAction::kWatch);
      for (const NodeGuid guid : host.guids)
        if (std::ranges::find(of.guids, guid) == of.guids.end()) of.guids.push_back(guid);
      const bool is_told = std::ranges::any_of(
          host.reasons, [](const HealthReason& reason) { return reason.kind == IncidentKind::kTelemetryLost; });
      if (!is_told)
        of.reasons.push_back({.severity = Severity::kWarning, .message = "nobody sweeps " + subnet.name, .ports = {}});
      std::ranges::move(host.reasons, std::back_inserter(of.reasons));
    };
    for (NodeHealth& of : health)
      if (auto host = hosts.extract(of.node)) add(of, host.mapped());
    for (auto& [name, host] : hosts) {
      NodeHealth& of = health.emplace_back();
      of.node = name;
      of.fabric = subnet.name;
      of.data_age = Duration::max();
      add(of, host);
    }
    std::ranges::sort(health, {}, &NodeHealth::node);
  }
  return health;
}

}  // namespace weft::analyzer
