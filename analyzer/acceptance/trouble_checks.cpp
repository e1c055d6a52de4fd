// SPDX-License-Identifier: Apache-2.0
// What the rules of Weft found, and how uplinks share what they carry.

#include <algorithm>
#include <set>
#include <unordered_set>
#include <utility>

#include "analyzer/acceptance/checks.hpp"
#include "analyzer/ports/freshness.hpp"
#include "fabric/host_names.hpp"
#include "fabric/number_text.hpp"

namespace weft::analyzer {
namespace {

/// Below this mean share of the rate, what uplinks send says nothing of how they would share a load.
constexpr double kLeastLoad = 0.05;
/// An uplink that sends so many times the mean of its switch's, or so small a part of it, is out of balance: one that
/// carries twice the mean halves what its switch can send.
constexpr double kOutOfBalance = 2;
constexpr std::size_t kFewestUplinks = 2;

/// It tells of load and of jobs, or has a check of its own.
bool is_left_out(IncidentKind kind) {
  switch (kind) {
    case IncidentKind::kCongestionIncast:
    case IncidentKind::kCongestionUnevenLoad:
    case IncidentKind::kCongestionOversubscribed:
    case IncidentKind::kSlowReceiver:
    case IncidentKind::kStraggler:
    case IncidentKind::kJobHang:
    case IncidentKind::kConfigDrift:
      return true;
    default:
      return false;
  }
}

/// What was selected, by identity.
struct Selected {
  std::unordered_set<PortKey> ports;
  std::unordered_set<NodeGuid> nodes;
  std::set<std::string> fabrics;  ///< all of them
  const std::vector<AcceptanceTarget>* targets = nullptr;

  explicit Selected(const AcceptanceFacts& facts) : targets(&facts.run.targets) {
    for (const AcceptanceView& view : facts.views) {
      if (targets->empty()) fabrics.insert(view.fabric->name);
      if (view.topology() == nullptr) continue;
      for (const PortIndex port : view.scope.ports) {
        ports.insert(view.topology()->key_of(port));
        const Node& node = view.topology()->node_of(view.topology()->port(port));
        if (node.type == NodeType::kChannelAdapter) nodes.insert(node.guid);
      }
      for (const NodeIndex node : view.scope.switches) nodes.insert(view.topology()->node(node).guid);
    }
  }
  bool has(const Entity& entity) const {
    switch (entity.kind) {
      case EntityKind::kFabric:
        return fabrics.contains(entity.fabric);
      case EntityKind::kNode:
        return nodes.contains(entity.port.node);
      case EntityKind::kPort:
        return ports.contains(entity.port);
      case EntityKind::kLink:
        return ports.contains(entity.port) || ports.contains(entity.peer);
      default:
        return !entity.host.empty() && (targets->empty() || std::ranges::any_of(*targets, [&](const auto& target) {
                                          return target.kind == AcceptanceTargetKind::kHost &&
                                                 same_host(target.name, entity.host);
                                        }));
    }
  }
};

/// The host of those that are judged that the entity is of; empty: of none.
std::string host_of(const AcceptanceFacts& facts, const Entity& entity) {
  for (const AcceptanceView& view : facts.views) {
    if (view.topology() == nullptr) continue;
    const Topology& topology = *view.topology();
    if (const PortIndex port = topology.find_port(entity.port); port != kNoIndex && entity.port.port.value != 0)
      if (const auto host = host_at(topology, port); !host.empty()) return std::string(host);
    if (const NodeIndex node = topology.find_node(entity.port.node);
        node != kNoIndex && topology.node(node).type == NodeType::kChannelAdapter)
      return std::string(host_name(topology.node(node)));
    for (const std::string& host : view.scope.hosts)
      if (same_host(host, entity.host)) return host;
  }
  return {};
}

/// It is open, or was in the time that the run watches.
bool counts(const AcceptanceFacts& facts, const Incident& incident) {
  if (incident.is_open()) return true;
  return facts.has_window() && incident.resolved != kNever && incident.resolved > facts.run.watched_since &&
         incident.began() > facts.run.watched_since;
}

/// Ports of the switch that lead to one above it, with what each sent as a share of its rate.
struct Uplink {
  PortIndex port;
  double share;
};

std::vector<Uplink> uplinks_of(const AcceptanceView& view, NodeIndex node, std::size_t& unread) {
  std::vector<Uplink> uplinks;
  const Topology& topology = *view.topology();
  const Places& places = *view.fabric->places;
  for (PortIndex i = 0; i < topology.node(node).port_entries(); ++i) {
    const PortIndex index = topology.node(node).first_port + i;
    const Port& port = topology.port(index);
    if (port.peer == kNoIndex || !port.is_up() || topology.port(port.peer).node >= places.tiers.size()) continue;
    const std::uint8_t own = places.tiers[node], other = places.tiers[topology.port(port.peer).node];
    if (own == kNoTier || other == kNoTier || other <= own) continue;
    const WatchedPort* const watched = view.watch ? view.watch->find(topology.key_of(index)) : nullptr;
    if (watched == nullptr || watched->line_bits <= 0 || watched->transmit_bytes < 0)
      ++unread;
    else
      uplinks.push_back({index, watched->transmit_bytes * 8 / watched->line_bits});
  }
  return uplinks;
}

void judge_balance(const AcceptanceView& view, NodeIndex node, Tally& tally) {
  const Topology& topology = *view.topology();
  std::size_t unread = 0;
  const std::vector<Uplink> uplinks = uplinks_of(view, node, unread);
  if (uplinks.size() + unread < kFewestUplinks) return;
  const std::string& name = topology.node(node).name;
  if (unread > 0)
    return tally.not_measured(name, {}, "the traffic of " + count_text(unread) + " of its uplinks is not read");
  double mean = 0;
  for (const Uplink& uplink : uplinks) mean += uplink.share / static_cast<double>(uplinks.size());
  if (mean < kLeastLoad)
    return tally.not_measured(name, {},
                              "its " + count_text(uplinks.size()) + " uplinks carry " + share_text(mean) +
                                  " of their rate: too little to judge by");
  bool is_good = true;
  for (const Uplink& uplink : uplinks) {
    if (uplink.share <= mean * kOutOfBalance && uplink.share * kOutOfBalance >= mean) continue;
    is_good = false;
    tally.fail(port_label(topology, uplink.port), {},
               "sends " + share_text(uplink.share) + " of its rate, the uplinks of " + name + " " + share_text(mean) +
                   " on average");
  }
  if (is_good) tally.pass();
}

}  // namespace

AcceptanceCheck check_incidents(const AcceptanceFacts& facts, HostVerdicts& hosts) {
  Tally tally(AcceptanceKind::kIncidents,
              facts.has_window() ? "no incident of WARNING or more that is open, or began while this was watched"
                                 : "no incident of WARNING or more that is open",
              "the rules of Weft; CONFIG_DRIFT and what tells of load or of jobs left out", hosts);
  const Selected selected(facts);
  for (const auto& incident : facts.incidents) {
    if (is_left_out(incident->finding.kind) || incident->listed_severity() < Severity::kWarning ||
        incident->finding.maintenance != 0 || !counts(facts, *incident))
      continue;
    const Entity& cause = incident->finding.cause;
    if (selected.has(cause))
      tally.fail(cause.label, host_of(facts, cause),
                 incident_name(incident->id) + ' ' + to_string(incident->finding.kind) +
                     (incident->is_open() ? " is open: " : " was open: ") + incident->listed_summary());
  }
  bool is_seen = false;
  for (const AcceptanceView& view : facts.views) is_seen = is_seen || !is_blind(*view.fabric);
  AcceptanceCheck check = std::move(tally).finish(is_seen ? "none" : "no fabric is watched now");
  if (check.failed == 0 && is_seen) check.verdict = AcceptanceVerdict::kPass;
  return check;
}

AcceptanceCheck check_balance(const AcceptanceFacts& facts, HostVerdicts& hosts) {
  Tally tally(AcceptanceKind::kBalance,
              "each uplink of a switch sends between half and twice their mean, where that is " +
                  share_text(kLeastLoad) + " of the rate or more",
              "Weft: one that carries twice the mean halves what its switch can send", hosts);
  for (const AcceptanceView& view : facts.views)
    if (view.topology() != nullptr && !is_blind(*view.fabric) && view.fabric->places)
      for (const NodeIndex node : view.scope.switches)
        if (node < view.fabric->places->tiers.size()) judge_balance(view, node, tally);
  return std::move(tally).finish("no switch with uplinks was selected");
}

}  // namespace weft::analyzer
