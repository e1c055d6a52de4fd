// SPDX-License-Identifier: Apache-2.0
#pragma once
// A subnet small enough to know by heart, and ways to make it larger or worse.

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "fabric/snapshot.hpp"

namespace weft::api {

inline constexpr TimePoint kNow{std::chrono::seconds(1'700'000'000)};
inline constexpr std::uint64_t kLeaf = 0x10;

/// A switch "leaf-1" (GUID 0x10) with `hosts` adapters "host-N mlx5_0" (GUID 0x100 + N) at its ports 1, 2, … The last
/// port of the switch is down and has no cable.
struct SmallFabric {
  explicit SmallFabric(unsigned hosts = 2, std::string fabric_name = "ib0") {
    Node leaf;
    leaf.guid = {kLeaf};
    leaf.type = NodeType::kSwitch;
    leaf.port_count = static_cast<std::uint8_t>(hosts + 1);
    leaf.name = leaf.description = "leaf-1";
    nodes.push_back(leaf);
    for (unsigned number = 0; number <= hosts + 1; ++number) {
      Port port = up(0, number);
      port.guid = {kLeaf};
      if (number > 0 && number <= hosts) port.peer = hosts + 1 + number;
      if (number == hosts + 1) take_down(port);
      ports.push_back(port);
    }
    for (unsigned host = 1; host <= hosts; ++host) {
      Node node;
      node.guid = {0x100 + host};
      node.type = NodeType::kChannelAdapter;
      node.port_count = 1;
      node.first_port = static_cast<PortIndex>(ports.size());
      node.name = node.description = "host-" + std::to_string(host) + " mlx5_0";
      nodes.push_back(node);
      Port port = up(host, 1);
      port.guid = {0x200 + host};
      port.peer = host;
      ports.push_back(port);
    }
    counters = SampleTable::of_group(CounterGroup::kEverySweep, ports.size());
    rates.assign(ports.size(), PortRates{nan(), nan(), nan(), nan(), nan(), nan()});
    state_read_at.assign(ports.size(), kNow - std::chrono::seconds(1));
    view.name = std::move(fabric_name);
    view.watching = true;
    view.status = "watching";
    view.stale_after = std::chrono::seconds(3);
  }

  static double nan() { return std::numeric_limits<double>::quiet_NaN(); }
  static Port up(NodeIndex node, unsigned number) {
    Port port;
    port.node = node;
    port.number = {static_cast<std::uint8_t>(number)};
    port.lid = {static_cast<std::uint16_t>(node + 1)};
    port.state = PortState::kActive;
    port.physical_state = PortPhysicalState::kLinkUp;
    port.width_active = 2;
    port.width_supported = 3;
    port.speed_active = kSpeedNdr;
    port.speed_supported = kSpeedNdr | kSpeedHdr;
    port.wait_tick_seconds = 0.5F;
    return port;
  }
  static void take_down(Port& port) {
    port.state = PortState::kDown;
    port.physical_state = PortPhysicalState::kPolling;
    port.width_active = 0;
    port.speed_active = 0;
  }

  void set(PortIndex port, CounterId id, std::uint64_t value, bool saturated = false) {
    counters.set(port, counters.column(id), value, saturated);
    counters.set_read_at(port, kNow - std::chrono::seconds(1));
  }

  /// As of now; what was built before stays as it was.
  FabricView build() {
    auto sweep = std::make_shared<Sweep>();
    sweep->fabric = view.name;
    sweep->number = sweeps++;
    sweep->started = kNow - std::chrono::seconds(1);
    sweep->finished = kNow - std::chrono::milliseconds(750);
    sweep->interval = std::chrono::seconds(1);
    sweep->topology = std::make_shared<Topology>(epoch, nodes, ports, std::vector<DuplicateGuid>{});
    sweep->counters = std::make_shared<SampleTable>(counters);
    if (details.rows() > 0) sweep->details = std::make_shared<SampleTable>(details);
    sweep->state_read_at = state_read_at;
    sweep->statistics.duration = std::chrono::milliseconds(250);
    sweep->statistics.requests[0] = 12;
    sweep->statistics.window = 64;
    FabricView result = view;
    result.sweep = std::move(sweep);
    result.rates = std::make_shared<std::vector<PortRates>>(rates);
    return result;
  }

  std::uint64_t epoch = 1;
  std::uint64_t sweeps = 1;
  std::vector<Node> nodes;
  std::vector<Port> ports;
  SampleTable counters;
  SampleTable details;
  std::vector<PortRates> rates;
  std::vector<TimePoint> state_read_at;
  FabricView view;
};

inline Incident make_incident(std::uint64_t id, IncidentState state = IncidentState::kOpen,
                              std::uint64_t revision = 1) {
  Incident incident;
  incident.id = id;
  incident.revision = revision;
  incident.finding.kind = IncidentKind::kLinkDown;
  incident.finding.severity = Severity::kCritical;
  incident.state = state;
  incident.finding.cause = {
      EntityKind::kLink, "ib0", {{kLeaf}, {1}}, {{0x101}, {1}}, "leaf-1 port 1 - host-1 mlx5_0 port 1"};
  incident.finding.evidence.push_back({"port_state", "port is Down", 1, 0, "", kNow, incident.finding.cause});
  incident.finding.confidence = 0.9;
  incident.finding.summary = "link of host-1 is down";
  incident.opened = kNow - std::chrono::seconds(90);
  incident.updated = kNow;
  if (state == IncidentState::kResolved) incident.resolved = kNow;
  return incident;
}

inline NodeHealth make_health(std::string node, std::uint64_t guid, HealthVerdict verdict) {
  NodeHealth health;
  health.node = std::move(node);
  health.fabric = "ib0";
  health.guids = {{guid}};
  health.verdict = verdict;
  return health;
}

/// A snapshot of `fabrics`, with these incidents and verdicts.
inline std::shared_ptr<Snapshot> make_snapshot(std::uint64_t revision, std::vector<FabricView> fabrics,
                                               const std::vector<Incident>& incidents = {},
                                               std::vector<NodeHealth> health = {}) {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->revision = revision;
  snapshot->taken = kNow;
  snapshot->fabrics = std::move(fabrics);
  auto list = std::make_shared<std::vector<std::shared_ptr<const Incident>>>();
  for (const Incident& incident : incidents) list->push_back(std::make_shared<Incident>(incident));
  snapshot->incidents = std::move(list);
  snapshot->health = std::make_shared<std::vector<NodeHealth>>(std::move(health));
  snapshot->figures.store_status = "ok";
  return snapshot;
}

/// Stands still.
struct StillClock final : Clock {
  TimePoint now() const override { return kNow; }
  Duration steady() const override { return now().time_since_epoch(); }
};

}  // namespace weft::api
