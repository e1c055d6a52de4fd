// SPDX-License-Identifier: Apache-2.0
#include "analyzer/incidents/coverage.hpp"

#include <algorithm>
#include <utility>

#include "analyzer/ports/freshness.hpp"

namespace weft::analyzer {

Coverage Coverage::of_hosts(Observed observed) {
  Coverage coverage;
  coverage.of_hosts_ = std::move(observed);
  return coverage;
}

std::uint8_t Coverage::bits(PortKey key) const {
  const PortIndex port = topology_->find_port(key);
  return port < ports_.size() ? ports_[port] : std::uint8_t{0};
}

bool Coverage::node_observed(NodeGuid guid, bool from_outside) const {
  const NodeIndex index = topology_->find_node(guid);
  if (index == kNoIndex) return false;
  const Node& node = topology_->node(index);
  for (PortIndex port = node.first_port; port < node.first_port + node.port_entries() && port < ports_.size(); ++port) {
    if (ports_[port] & kStateFresh) return true;
    const PortIndex peer = topology_->port(port).peer;
    if (from_outside && peer < ports_.size() && (ports_[peer] & kStateFresh)) return true;
  }
  return false;
}

// After a restart nobody knows that the counters of a node could be read once, so that they cannot is no finding.
bool Coverage::counters_observed(NodeGuid guid) const {
  const NodeIndex index = topology_->find_node(guid);
  if (index == kNoIndex) return false;
  const Node& node = topology_->node(index);
  bool is_active = false;
  for (PortIndex port = node.first_port; port < node.first_port + node.port_entries() && port < ports_.size(); ++port) {
    if (ports_[port] & kCountersFresh) return true;
    is_active = is_active || (ports_[port] & kActive) != 0;
  }
  return !is_active;
}

bool Coverage::counters_observed(const Finding& finding, const std::function<bool(const Entity&)>& is_told) const {
  if (!topology_ || !is_about_counters(finding)) return true;
  if (finding.cause.kind == EntityKind::kNode)
    return counters_observed(finding.cause.port.node) || is_cut_off(finding.cause.port.node);
  // What left the graph is no reason to wait.
  return std::ranges::all_of(finding.affected, [&](const Entity& node) {
    return node.kind != EntityKind::kNode || topology_->find_node(node.port.node) == kNoIndex ||
           counters_observed(node.port.node) || is_told(node);
  });
}

bool Coverage::link_observed(IncidentKind kind, const Entity& cause) const {
  const std::uint8_t low = bits(cause.port);
  const std::uint8_t high = bits(cause.peer);
  switch (kind) {
    // One end is enough: were the link down, that end would say so. A cable that left with its switch has none here.
    case IncidentKind::kLinkDown:
    case IncidentKind::kLinkFlap:
    case IncidentKind::kMiscabled:
      return ((low | high) & kStateFresh) != 0 || has_left(cause);
    case IncidentKind::kLinkErrors:
      return ((low & high & kActive) != 0 && (low & high & kCountersFresh) != 0 && (low & high & kErrorsJudged) != 0) ||
             has_left(cause);
    // Counters tell of congestion; a link that is down congests nothing.
    case IncidentKind::kCongestionIncast:
    case IncidentKind::kCongestionUnevenLoad:
    case IncidentKind::kDeadlock:
      return (((low | high) & kStateFresh) != 0 &&
              ((low & high & kActive) == 0 || ((low | high) & kCountersFresh) != 0)) ||
             has_left(cause);
    // A link that is down does not prove that it would run at full width.
    default:
      return (low & high & kActive) != 0 || has_left(cause);
  }
}

bool Coverage::observed(IncidentKind kind, const Entity& cause) const {
  if (is_blind()) return false;
  if (of_hosts_) return of_hosts_(kind, cause);
  // What hosts tell is judged with them; of Ethernet's rates, light and error correction only they know.
  if (kind == IncidentKind::kRdmaErrors || kind == IncidentKind::kSilentLoss || kind == IncidentKind::kConfigDrift ||
      kind == IncidentKind::kJobHang)
    return false;
  if (kind == IncidentKind::kLinkDegraded && topology_->is_ethernet()) return false;
  switch (cause.kind) {
    case EntityKind::kFabric:
      return true;
    case EntityKind::kLink:
      return link_observed(kind, cause);
    case EntityKind::kPort: {
      const std::uint8_t port = bits(cause.port);
      if (has_left(cause)) return true;
      if (kind == IncidentKind::kCounterStuck) return (port & kCountersFresh) != 0 && counters_warm_;
      if (kind == IncidentKind::kLinkErrors) return (port & kCountersFresh) != 0 && (port & kErrorsJudged) != 0;
      return (port & kStateFresh) != 0;
    }
    // That a node is down is seen from its neighbours; that it answers, from itself; two with one GUID, from the graph.
    case EntityKind::kNode:
      return kind == IncidentKind::kDuplicateGuid || node_observed(cause.port.node, is_node_outage(kind)) ||
             (kind == IncidentKind::kTelemetryLost && is_cut_off(cause.port.node)) ||
             (is_node_outage(kind) && has_left(cause));
    case EntityKind::kCollector:
    case EntityKind::kHostPort:
    case EntityKind::kHost:
    case EntityKind::kCohort:
      return false;
  }
  return false;
}

}  // namespace weft::analyzer
