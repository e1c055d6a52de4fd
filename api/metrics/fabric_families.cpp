// SPDX-License-Identifier: Apache-2.0
#include "api/metrics/fabric_families.hpp"

#include <array>

#include "api/metrics/sample.hpp"
#include "api/publication/derived.hpp"

namespace weft::api {
namespace {

constexpr std::size_t kKindCount = static_cast<std::size_t>(IncidentKind::kCount);

/// One family with one sample for each fabric, or none when `each` appends none.
template <typename Each>
void per_fabric(std::string& out, const Snapshot& snapshot, MetricsFormat format, const MetricFamily& family,
                Each&& each) {
  std::string samples;
  for (const FabricView& fabric : snapshot.fabrics) each(samples, fabric);
  if (samples.empty()) return;
  append_head(out, family, format);
  out += samples;
}

/// Only of subnets, which are asked; what is known of an Ethernet fabric is told by collectors.
template <typename Each>
void per_asking(std::string& out, const Snapshot& snapshot, MetricsFormat format, const MetricFamily& family,
                Each&& each) {
  per_fabric(out, snapshot, format, family, [&](std::string& samples, const FabricView& fabric) {
    if (fabric.sweep && fabric.sweep->topology && !fabric.sweep->topology->is_ethernet())
      each(samples, fabric, *fabric.sweep);
  });
}

template <typename Each>
void per_sweep(std::string& out, const Snapshot& snapshot, MetricsFormat format, const MetricFamily& family,
               Each&& each) {
  per_fabric(out, snapshot, format, family, [&](std::string& samples, const FabricView& fabric) {
    if (fabric.sweep && fabric.sweep->topology) each(samples, fabric, *fabric.sweep);
  });
}

/// Of fabrics whose cables were found: what `weftctl topology --differences` lists.
void append_found(std::string& out, const Snapshot& snapshot, MetricsFormat format) {
  static constexpr MetricFamily kUnclear{
      "weft_fabric_unclear_neighbours", MetricType::kGauge,
      "What LLDP neighbours tell of an Ethernet fabric that was not made into a cable."};
  per_sweep(out, snapshot, format, kUnclear, [](std::string& samples, const FabricView& fabric, const Sweep& sweep) {
    if (sweep.found) append_sample(samples, kUnclear.name, {{"subnet", fabric.name}}, sweep.found->unclear.size());
  });
  static constexpr MetricFamily kOld{"weft_fabric_old_cables", MetricType::kGauge,
                                     "Cables of an Ethernet fabric that was found of which no end tells now."};
  per_sweep(out, snapshot, format, kOld, [](std::string& samples, const FabricView& fabric, const Sweep& sweep) {
    if (sweep.found) append_sample(samples, kOld.name, {{"subnet", fabric.name}}, sweep.found->old.size());
  });
}

void append_graph(std::string& out, const Snapshot& snapshot, MetricsFormat format) {
  std::vector<FabricCounts> counts;
  for (const FabricView& fabric : snapshot.fabrics)
    counts.push_back(fabric.sweep && fabric.sweep->topology ? count(*fabric.sweep->topology) : FabricCounts{});
  const auto of = [&](const FabricView& fabric) -> const FabricCounts& {
    return counts[static_cast<std::size_t>(&fabric - snapshot.fabrics.data())];
  };
  constexpr MetricFamily kNodes{"weft_fabric_nodes", MetricType::kGauge, "Nodes of the subnet as last seen, by type."};
  per_sweep(out, snapshot, format, kNodes, [&](std::string& samples, const FabricView& fabric, const Sweep&) {
    for (const NodeType type : {NodeType::kChannelAdapter, NodeType::kSwitch, NodeType::kRouter, NodeType::kUnknown})
      append_sample(samples, kNodes.name, {{"subnet", fabric.name}, {"type", to_string(type)}},
                    of(fabric).nodes[static_cast<std::size_t>(type)]);
  });
  constexpr MetricFamily kUnreachable{"weft_fabric_unreachable_nodes", MetricType::kGauge,
                                      "Nodes that did not respond in the last sweep that included them."};
  per_sweep(out, snapshot, format, kUnreachable, [&](std::string& samples, const FabricView& fabric, const Sweep&) {
    append_sample(samples, kUnreachable.name, {{"subnet", fabric.name}}, of(fabric).unreachable_nodes);
  });
  constexpr MetricFamily kPorts{"weft_fabric_ports", MetricType::kGauge,
                                "External ports of the subnet, by logical state."};
  per_sweep(out, snapshot, format, kPorts, [&](std::string& samples, const FabricView& fabric, const Sweep&) {
    constexpr std::array kStates{"unknown", "down", "initialize", "armed", "active"};
    for (std::size_t i = 0; i < kStates.size(); ++i)
      append_sample(samples, kPorts.name, {{"subnet", fabric.name}, {"state", kStates[i]}}, of(fabric).ports[i]);
  });
  constexpr MetricFamily kLinks{
      "weft_fabric_links", MetricType::kGauge,
      "Links of the subnet seen now or before, by state; unknown (Ethernet): neither end is read."};
  per_sweep(out, snapshot, format, kLinks, [&](std::string& samples, const FabricView& fabric, const Sweep& sweep) {
    const std::uint32_t unknown = sweep.topology->is_ethernet() ? of(fabric).links_unknown : 0;
    append_sample(samples, kLinks.name, {{"subnet", fabric.name}, {"state", "up"}}, of(fabric).links_up);
    append_sample(samples, kLinks.name, {{"subnet", fabric.name}, {"state", "down"}},
                  of(fabric).links - of(fabric).links_up - unknown);
    if (sweep.topology->is_ethernet())
      append_sample(samples, kLinks.name, {{"subnet", fabric.name}, {"state", "unknown"}}, unknown);
  });
  append_found(out, snapshot, format);
}

void append_sweeps(std::string& out, const Snapshot& snapshot, MetricsFormat format) {
  constexpr MetricFamily kDuration{"weft_sweep_duration_seconds", MetricType::kGauge,
                                   "Duration of the last sweep, from the first request to the last response."};
  per_sweep(out, snapshot, format, kDuration, [&](std::string& samples, const FabricView& fabric, const Sweep& sweep) {
    append_sample(samples, kDuration.name, {{"subnet", fabric.name}}, seconds(sweep.statistics.duration));
  });
  constexpr MetricFamily kInterval{"weft_sweep_interval_seconds", MetricType::kGauge, "Configured sweep interval."};
  per_sweep(out, snapshot, format, kInterval, [&](std::string& samples, const FabricView& fabric, const Sweep& sweep) {
    append_sample(samples, kInterval.name, {{"subnet", fabric.name}}, seconds(sweep.interval));
  });
  constexpr MetricFamily kFinished{"weft_sweep_finished_timestamp_seconds", MetricType::kGauge,
                                   "Time when the last sweep finished, in Unix time."};
  per_sweep(out, snapshot, format, kFinished, [&](std::string& samples, const FabricView& fabric, const Sweep& sweep) {
    append_sample(samples, kFinished.name, {{"subnet", fabric.name}}, seconds(sweep.finished.time_since_epoch()));
  });
  constexpr MetricFamily kRequests{"weft_sweep_requests_total", MetricType::kCounter,
                                   "Management datagrams sent by the sweeper, by result."};
  per_asking(out, snapshot, format, kRequests, [&](std::string& samples, const FabricView& fabric, const Sweep& sweep) {
    for (std::size_t i = 0; i < kMadResultCount; ++i)
      append_sample(samples, kRequests.name,
                    {{"subnet", fabric.name}, {"result", to_string(static_cast<MadResult>(i))}},
                    sweep.statistics.requests[i]);
  });
  constexpr MetricFamily kPathRecords{"weft_sweep_path_records_total", MetricType::kCounter,
                                      "Path records that the sweeper requested from the subnet administrator, by "
                                      "result."};
  per_asking(out, snapshot, format, kPathRecords,
             [&](std::string& samples, const FabricView& fabric, const Sweep& sweep) {
               for (const MadResult result : {MadResult::kOk, MadResult::kTimeout, MadResult::kBadStatus,
                                              MadResult::kUnsupported, MadResult::kMalformed, MadResult::kSendFailed})
                 append_sample(samples, kPathRecords.name, {{"subnet", fabric.name}, {"result", to_string(result)}},
                               sweep.statistics.path_records[static_cast<std::size_t>(result)]);
             });
  constexpr MetricFamily kWindow{"weft_sweep_window", MetricType::kGauge,
                                 "Maximum of outstanding requests of the sweeper."};
  per_asking(out, snapshot, format, kWindow, [&](std::string& samples, const FabricView& fabric, const Sweep& sweep) {
    append_sample(samples, kWindow.name, {{"subnet", fabric.name}}, sweep.statistics.window);
  });
  constexpr MetricFamily kBackedOff{"weft_sweep_nodes_backed_off", MetricType::kGauge,
                                    "Nodes skipped in the last sweep because they did not respond before."};
  per_asking(out, snapshot, format, kBackedOff,
             [&](std::string& samples, const FabricView& fabric, const Sweep& sweep) {
               append_sample(samples, kBackedOff.name, {{"subnet", fabric.name}}, sweep.statistics.nodes_backed_off);
             });
  constexpr MetricFamily kOtherKey{"weft_sweep_nodes_with_other_key", MetricType::kGauge,
                                   "Nodes whose M_Key is not the one of infiniband.management_key_file."};
  per_asking(out, snapshot, format, kOtherKey, [&](std::string& samples, const FabricView& fabric, const Sweep& sweep) {
    append_sample(samples, kOtherKey.name, {{"subnet", fabric.name}}, sweep.statistics.nodes_with_other_key);
  });
  constexpr MetricFamily kSilent{"weft_sweep_silent_neighbors", MetricType::kGauge,
                                 "Links that are up and lead to nodes that never responded."};
  per_asking(out, snapshot, format, kSilent, [&](std::string& samples, const FabricView& fabric, const Sweep& sweep) {
    append_sample(samples, kSilent.name, {{"subnet", fabric.name}}, sweep.statistics.silent_neighbors);
  });
}

constexpr std::size_t kSeverities = 3;
using IncidentCounts = std::array<std::array<std::uint32_t, kSeverities>, kKindCount>;

void append_counts(std::string& out, const MetricFamily& family, const IncidentCounts& counts, MetricsFormat format) {
  append_head(out, family, format);
  for (std::size_t kind = 0; kind < kKindCount; ++kind)
    for (std::size_t severity = 0; severity < kSeverities; ++severity)
      append_sample(out, family.name,
                    {{"kind", to_string(static_cast<IncidentKind>(kind))},
                     {"severity", to_string(static_cast<Severity>(severity))}},
                    counts[kind][severity]);
}

void append_incidents(std::string& out, const Snapshot& snapshot, TimePoint now, MetricsFormat format) {
  IncidentCounts open{}, unattended{};
  if (snapshot.incidents)
    for (const auto& incident : *snapshot.incidents) {
      if (!incident->is_open() || incident->finding.kind >= IncidentKind::kCount) continue;
      const auto kind = static_cast<std::size_t>(incident->finding.kind);
      const std::size_t severity = static_cast<std::size_t>(incident->finding.severity) % kSeverities;
      ++open[kind][severity];
      unattended[kind][severity] += incident->state == IncidentState::kOpen && incident->silenced_until <= now &&
                                    incident->finding.maintenance == 0;
    }
  append_counts(out, {"weft_incidents", MetricType::kGauge, "Incidents that are not resolved."}, open, format);
  append_counts(out,
                {"weft_incidents_unattended", MetricType::kGauge,
                 "Incidents to page for: not acknowledged, not silenced, no planned work."},
                unattended, format);
  constexpr MetricFamily kOpened{"weft_incidents_opened_total", MetricType::kCounter,
                                 "Incidents opened or reopened since the store was created."};
  append_head(out, kOpened, format);
  for (std::size_t kind = 0; kind < kKindCount; ++kind)
    append_sample(out, kOpened.name, {{"kind", to_string(static_cast<IncidentKind>(kind))}},
                  snapshot.figures.incidents_opened[kind]);
}

void append_maintenance(std::string& out, const Snapshot& snapshot, TimePoint now, MetricsFormat format) {
  std::array<std::uint32_t, 2> counts{};
  if (snapshot.maintenance)
    for (const MaintenanceWindow& window : *snapshot.maintenance)
      if (const auto state = static_cast<std::size_t>(state_at(window, now)); state < counts.size()) ++counts[state];
  constexpr MetricFamily kWindows{"weft_maintenance_windows", MetricType::kGauge,
                                  "Active and planned maintenance windows."};
  append_head(out, kWindows, format);
  append_sample(out, kWindows.name, {{"state", "planned"}}, counts[0]);
  append_sample(out, kWindows.name, {{"state", "active"}}, counts[1]);
}

/// Bad news first: what is said of a name that several nodes share.
int badness(HealthVerdict verdict) {
  switch (verdict) {
    case HealthVerdict::kUnhealthy:
      return 3;
    case HealthVerdict::kDegraded:
      return 2;
    case HealthVerdict::kUnknown:
      return 1;
    case HealthVerdict::kHealthy:
      break;
  }
  return 0;
}

/// Only where two weftd can share a database.
void append_leadership(std::string& out, const Snapshot& snapshot, MetricsFormat format) {
  const Leadership& role = snapshot.leadership;
  constexpr MetricFamily kLeader{
      "weft_leader", MetricType::kGauge,
      "1 while this weftd leads, 0 while it stands by. Only with store.url. In a site with the "
      "label shard: its own."};
  constexpr MetricFamily kHeld{"weft_lease_held", MetricType::kGauge,
                               "1 while this weftd leads and no other can; without it nothing is acted on."};
  constexpr MetricFamily kEpoch{"weft_lease_epoch", MetricType::kGauge,
                                "How often the database was taken by a weftd; grows by 1 with each takeover."};
  constexpr MetricFamily kSilence{
      "weft_lease_silence_seconds", MetricType::kGauge,
      "Time since the database last took a beat of this leader or answered this standby; of one that "
      "could not take over, since it last could."};
  constexpr MetricFamily kBehind{"weft_standby_behind_seconds", MetricType::kGauge,
                                 "How old the incidents and plans that this standby shows may be; 0 for a leader."};
  constexpr MetricFamily kStandby{"weft_standby_seen", MetricType::kGauge,
                                  "1 while this leader sees a weftd that would take over, 0 while it sees none; not "
                                  "there of a standby, and where the database does not tell."};
  if (!role.is_shared) return;
  append_head(out, kLeader, format);
  if (const std::string shard = own_shard(snapshot); shard.empty())
    append_sample(out, kLeader.name, {}, role.leads ? 1 : 0);
  else
    append_sample(out, kLeader.name, {{"shard", shard}}, role.leads ? 1 : 0);
  const auto append = [&](const MetricFamily& family, double value) {
    append_head(out, family, format);
    append_sample(out, family.name, {}, value);
  };
  append(kHeld, role.is_held ? 1 : 0);
  append(kEpoch, static_cast<double>(role.epoch));
  append(kSilence, seconds(role.silence));
  append(kBehind, seconds(role.behind));
  if (role.leads && role.standby) append(kStandby, role.standby->is_there() ? 1 : 0);
}

}  // namespace

void append_head(std::string& out, const MetricFamily& family, MetricsFormat format) {
  std::string_view name = family.name;
  std::string_view type = family.type == MetricType::kCounter ? "counter" : "gauge";
  if (format == MetricsFormat::kOpenMetrics) {
    if (family.type == MetricType::kCounter) name.remove_suffix(std::string_view("_total").size());
    if (family.type == MetricType::kInfo) {
      name.remove_suffix(std::string_view("_info").size());
      type = "info";
    }
  }
  out.append("# HELP ").append(name).append(" ").append(family.help).append("\n");
  out.append("# TYPE ").append(name).append(" ").append(type).append("\n");
}

void append_fabric_families(std::string& out, const Snapshot& snapshot, TimePoint now, MetricsFormat format,
                            MetricGroups groups) {
  if (groups.has(MetricGroup::kFabrics)) {
    constexpr MetricFamily kWatching{
        "weft_fabric_watching", MetricType::kGauge,
        "1 while the subnet is monitored; 0 before the first sweep and while the adapter is missing."};
    per_fabric(out, snapshot, format, kWatching, [&](std::string& samples, const FabricView& fabric) {
      append_sample(samples, kWatching.name, {{"subnet", fabric.name}}, fabric.watching ? 1 : 0);
    });
    append_graph(out, snapshot, format);
    append_sweeps(out, snapshot, format);
  }
  if (groups.has(MetricGroup::kIncidents)) {
    append_incidents(out, snapshot, now, format);
    append_maintenance(out, snapshot, now, format);
  }
  if (!groups.has(MetricGroup::kSelf)) return;
  constexpr MetricFamily kStore{"weft_store_ok", MetricType::kGauge, "1 while history and incidents can be stored."};
  append_head(out, kStore, format);
  append_sample(out, kStore.name, {}, snapshot.figures.store_ok ? 1 : 0);
  append_leadership(out, snapshot, format);
}

bool append_node_health(std::string& out, const Snapshot& snapshot, MetricsFormat format, std::size_t& position) {
  if (!snapshot.health) return false;
  const auto& health = *snapshot.health;
  if (position >= health.size()) return false;
  constexpr MetricFamily kHealth{"weft_node_health", MetricType::kGauge,
                                 "1 for the node's current verdict; UNKNOWN without data."};
  if (position == 0) append_head(out, kHealth, format);
  while (position < health.size() && out.size() < kChunk) {
    const NodeHealth* worst = &health[position];
    std::size_t next = position + 1;
    for (; next < health.size() && health[next].node == worst->node; ++next)
      if (badness(health[next].verdict) > badness(worst->verdict)) worst = &health[next];
    append_sample(out, kHealth.name, {{"node", worst->node}, {"verdict", to_string(worst->verdict)}}, 1);
    position = next;
  }
  return true;
}

}  // namespace weft::api
