// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/incidents/health.hpp"
#include "analyzer/ports/freshness.hpp"
#include "fabric/graph/job_health.hpp"
#include "fabric/topology.hpp"

namespace weft::analyzer {
namespace {

/// A host of one subnet that nobody sweeps.
struct UnsweptHost {
  std::vector<NodeGuid> guids;
  std::set<PortKey> ports;  ///< that a cable is known for, and that no sweep has found
  std::size_t found = 0;    ///< the others that a cable is known for
  std::set<PortKey> down;   ///< of those, the ones that open incidents call down
  std::vector<HealthReason> reasons;
};

void add_reason(UnsweptHost& host, const Incident& incident, PortKey port) {
  if (host.reasons.empty() || host.reasons.back().incident != incident.id)
    host.reasons.push_back(
        {incident.id, incident.finding.kind, incident.finding.severity, incident.opened, incident.finding.summary, {}});
  if (port.port.value != 0) host.reasons.back().ports.push_back(port);
}

/// Has a sweep found that adapter? In another subnet, or one that has another name now, it has its cable there.
bool is_found(std::span<const FabricView> fabrics, const std::string& subnet, PortKey adapter) {
  return std::ranges::any_of(fabrics, [&](const FabricView& view) {
    if (!view.sweep || !view.sweep->topology) return false;
    const Topology& topology = *view.sweep->topology;
    if (view.name == subnet) return topology.find_node(adapter.node) != kNoIndex;
    const PortIndex port = topology.find_port(adapter);
    return port != kNoIndex && topology.port(port).peer != kNoIndex && !is_blind(view);
  });
}

/// By name. What an incident calls down is down, whether anybody looks or not.
class UnsweptHosts {
 public:
  UnsweptHosts(const KnownSubnet& subnet, std::span<const FabricView> fabrics, const IncidentList& incidents) {
    std::vector<std::string> found;
    for (const KnownLink& link : *subnet.host_links)
      for (const auto& [key, end] : {std::pair(link.key.low, &link.low), {link.key.high, &link.high}}) {
        if (end->type != NodeType::kChannelAdapter || end->node_name.empty()) continue;
        Node adapter;
        adapter.type = NodeType::kChannelAdapter;
        adapter.name = end->node_name;
        const std::string host(host_name(adapter));
        if (is_found(fabrics, subnet.name, key))
          found.push_back(host);
        else
          add(host, key);
      }
    for (const std::string& name : found)
      if (const auto host = by_name_.find(name); host != by_name_.end()) ++host->second.found;
    for (const IncidentPtr& incident : incidents) {
      const Finding& finding = incident->finding;
      if (!incident->is_open() || finding.maintenance != 0 || finding.cause.fabric != subnet.name ||
          finding.kind == IncidentKind::kConfigDrift)
        continue;
      if (finding.cause.kind == EntityKind::kFabric && finding.kind == IncidentKind::kTelemetryLost)
        for (auto& [name, host] : by_name_) add_reason(host, *incident, {});
      blame(*incident, finding.cause);
      if (is_outage(finding.kind))
        for (const Entity& entity : finding.affected) blame(*incident, entity);
    }
  }
  std::map<std::string, UnsweptHost>& by_name() { return by_name_; }

 private:
  void add(const std::string& name, PortKey port) {
    UnsweptHost& host = by_name_[name];
    host.ports.insert(port);
    if (by_guid_.emplace(port.node, &host).second) host.guids.push_back(port.node);
  }
  void blame(const Incident& incident, PortKey port) {
    const auto found = by_guid_.find(port.node);
    if (found == by_guid_.end()) return;
    UnsweptHost& host = *found->second;
    add_reason(host, incident, port);
    if (!is_outage(incident.finding.kind)) return;
    for (const PortKey& each : host.ports)
      if (each.node == port.node && (port.port.value == 0 || each == port)) host.down.insert(each);
  }
  void blame(const Incident& incident, const Entity& entity) {
    if (entity.kind == EntityKind::kNode) return blame(incident, PortKey{entity.port.node, {}});
    if (entity.kind != EntityKind::kLink && entity.kind != EntityKind::kPort) return;
    blame(incident, entity.port);
    if (entity.kind == EntityKind::kLink) blame(incident, entity.peer);
  }

  std::map<std::string, UnsweptHost> by_name_;
  std::unordered_map<NodeGuid, UnsweptHost*> by_guid_;
};

void add(NodeHealth& of, const UnsweptHost& host, const KnownSubnet& subnet) {
  of.verdict = worse_of(of.verdict, HealthVerdict::kUnknown);
  of.action = std::max(of.action, host.down.empty() ? RecommendedAction::kWatch : RecommendedAction::kAvoidNewJobs);
  if (host.down.size() >= host.ports.size() + host.found) {
    of.verdict = worse_of(of.verdict, HealthVerdict::kUnhealthy);
    of.action = std::max(of.action, RecommendedAction::kDrain);
  }
  for (const NodeGuid guid : host.guids)
    if (std::ranges::find(of.guids, guid) == of.guids.end()) of.guids.push_back(guid);
  const bool is_told = std::ranges::any_of(
      host.reasons, [](const HealthReason& reason) { return reason.kind == IncidentKind::kTelemetryLost; });
  if (!is_told)
    of.reasons.push_back({.severity = Severity::kWarning,
                          .message = subnet.sight == SubnetSight::kAwaited
                                         ? "no sweep of " + subnet.name + " since weftd began"
                                         : "nobody sweeps " + subnet.name,
                          .ports = {}});
  const auto is_new = [&](const HealthReason& reason) {
    return std::ranges::find(of.reasons, reason.incident, &HealthReason::incident) == of.reasons.end();
  };
  std::ranges::copy_if(host.reasons, std::back_inserter(of.reasons), is_new);
}

}  // namespace

std::vector<NodeHealth> with_unswept(std::vector<NodeHealth> health, std::span<const KnownSubnet> subnets,
                                     std::span<const FabricView> fabrics, const IncidentList& incidents) {
  for (const KnownSubnet& subnet : subnets) {
    if (subnet.sight == SubnetSight::kSwept) continue;
    UnsweptHosts unswept(subnet, fabrics, incidents);
    auto& hosts = unswept.by_name();
    for (NodeHealth& of : health)
      if (const auto host = hosts.extract(of.node)) add(of, host.mapped(), subnet);
    for (const auto& [name, host] : hosts) {
      NodeHealth& of = health.emplace_back();
      of.node = name;
      of.fabric = subnet.name;
      of.data_age = Duration::max();
      add(of, host, subnet);
    }
    std::ranges::sort(health, {}, &NodeHealth::node);
  }
  return health;
}

}  // namespace weft::analyzer
