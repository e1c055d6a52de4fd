// SPDX-License-Identifier: Apache-2.0
#include "fabric/graph/job_health.hpp"
#include "fabric/graph/multipath.hpp"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "fabric/host_names.hpp"

namespace weft {
namespace {

int rank(HealthVerdict verdict) {
  switch (verdict) {
    case HealthVerdict::kHealthy:
      return 0;
    case HealthVerdict::kDegraded:
      return 1;
    case HealthVerdict::kUnknown:
      return 2;
    case HealthVerdict::kUnhealthy:
      return 3;
  }
  return 2;
}

struct Effect {
  HealthVerdict verdict;
  RecommendedAction action;
};

/// What an incident that blames a link says of a job whose packets use it. A way that is cut is a broken path besides.
Effect effect_of(const Incident& incident) {
  if (incident.finding.maintenance != 0) return {HealthVerdict::kHealthy, RecommendedAction::kAvoidNewJobs};
  switch (incident.finding.kind) {
    // Whom many send to at once, or where load is uneven, is no worse a link for it.
    case IncidentKind::kCongestionIncast:
    case IncidentKind::kCongestionUnevenLoad:
    case IncidentKind::kCounterStuck:
    case IncidentKind::kConfigDrift:
      return {HealthVerdict::kHealthy, RecommendedAction::kWatch};
    case IncidentKind::kTelemetryLost:
      return {HealthVerdict::kUnknown, RecommendedAction::kWatch};
    default:
      return {HealthVerdict::kDegraded, RecommendedAction::kAvoidNewJobs};
  }
}

/// "mlx5_3 1" of the adapter "gpu-0001 mlx5_3": what a rail is called at every host.
std::string rail_of(const Topology& topology, PortIndex index) {
  const Port& port = topology.port(index);
  const std::string& name = topology.node_of(port).name;
  const std::size_t space = name.rfind(' ');
  return (space == std::string::npos ? std::string() : name.substr(space + 1)) + ' ' +
         std::to_string(port.number.value);
}

/// Is the cause the node, a port of it, or a link to it?
bool is_about(const Entity& cause, const NodeHealth& node) {
  if (!cause.host.empty()) return same_host(cause.host, node.node);
  return std::ranges::any_of(
      node.guids, [&](NodeGuid guid) { return guid && (guid == cause.port.node || guid == cause.peer.node); });
}

bool is_switch(const Snapshot& snapshot, const NodeHealth& node) {
  return std::ranges::any_of(snapshot.fabrics, [&](const FabricView& view) {
    if (!view.sweep || !view.sweep->topology || node.guids.empty()) return false;
    const NodeIndex index = view.sweep->topology->find_node(node.guids.front());
    return index != kNoIndex && view.sweep->topology->node(index).type == NodeType::kSwitch;
  });
}

bool tells_its_jobs(const Snapshot& snapshot, const std::string& name) {
  // A collector may have the full name, and a fabric the short one.
  return std::ranges::any_of(
      *snapshot.hosts, [&](const auto& each) { return jobs_of(*each) != nullptr && same_host(each->host, name); });
}

class Question {
 public:
  Question(const Snapshot& snapshot, std::span<const NodeHealth* const> hosts) : snapshot_(snapshot), hosts_(hosts) {}
  JobHealth answer();

 private:
  void worsen(HealthVerdict verdict, RecommendedAction action) {
    job_.verdict = worse_of(job_.verdict, verdict);
    job_.action = std::max(job_.action, action);
  }
  std::vector<std::vector<PortIndex>> groups(const Topology& topology) const;
  void look_at(const FabricView& fabric);
  void look_at_links(const FabricView& fabric, const std::vector<PortIndex>& senders);
  void look_at_switches(const FabricView& fabric, const std::vector<PortIndex>& senders);

  const Snapshot& snapshot_;
  std::span<const NodeHealth* const> hosts_;
  JobHealth job_;
};

/// Ports of the job's hosts that are up, those that talk to each other together.
std::vector<std::vector<PortIndex>> Question::groups(const Topology& topology) const {
  std::map<std::string, std::vector<PortIndex>> rails;
  bool one_each = true;
  std::unordered_set<const NodeHealth*> known;
  for (const NodeHealth* host : hosts_) {
    if (!host || !known.insert(host).second) continue;
    std::size_t ports = 0;
    for (const NodeGuid guid : host->guids) {
      const NodeIndex index = topology.find_node(guid);
      if (index == kNoIndex || topology.node(index).type != NodeType::kChannelAdapter) continue;
      const Node& node = topology.node(index);
      for (PortIndex port = node.first_port; port < node.first_port + node.port_entries(); ++port) {
        if (!topology.port(port).is_up() || topology.port(port).peer == kNoIndex) continue;
        rails[rail_of(topology, port)].push_back(port);
        ++ports;
      }
    }
    one_each = one_each && ports <= 1;
  }
  std::vector<std::vector<PortIndex>> groups;
  std::vector<PortIndex> others;
  for (auto& [name, ports] : rails) {
    if (one_each || ports.size() == 1)
      others.insert(others.end(), ports.begin(), ports.end());
    else
      groups.push_back(std::move(ports));
  }
  if (others.size() > 1) groups.push_back(std::move(others));
  return groups;
}

void Question::look_at(const FabricView& fabric) {
  if (!fabric.sweep || !fabric.sweep->topology) return;
  const Topology& topology = *fabric.sweep->topology;
  const auto rails = groups(topology);
  if (rails.empty()) return;
  const Sweep& sweep = *fabric.sweep;
  if (!sweep.routes && !sweep.multipath) {
    job_.not_followed.push_back((topology.is_ethernet() ? "the ECMP paths of " : "the forwarding tables of ") +
                                fabric.name + (topology.is_ethernet() ? " are not known" : " were not read yet"));
    return;
  }
  const Traffic traffic = sweep.multipath ? follow_traffic(*sweep.multipath, rails, kMostJobSteps)
                                          : follow_traffic(topology, *sweep.routes, rails, kMostJobSteps);
  if (!traffic.complete)
    job_.not_followed.push_back("the job is too large: not all of its paths through " + fabric.name + " were checked");
  if (traffic.unread > 0)
    job_.not_followed.push_back(std::to_string(traffic.unread) + " of " + std::to_string(traffic.pairs) +
                                " paths need forwarding tables of " + fabric.name + " that were not read yet");
  job_.paths += traffic.pairs;
  job_.broken += traffic.broken;
  for (const Traffic::Pair& pair : traffic.examples)
    if (job_.broken_paths.size() < Traffic::kMostExamples) job_.broken_paths.push_back({&fabric, pair});
  for (const PortIndex sender : traffic.senders) {
    const PortIndex peer = topology.port(sender).peer;
    if (sender < peer || !std::ranges::binary_search(traffic.senders, peer)) ++job_.links_used;
  }
  look_at_links(fabric, traffic.senders);
  look_at_switches(fabric, traffic.senders);
}

void Question::look_at_links(const FabricView& fabric, const std::vector<PortIndex>& senders) {
  if (!snapshot_.incidents) return;
  const Topology& topology = *fabric.sweep->topology;
  std::map<PortIndex, JobHealth::Link> links;
  for (const auto& incident : *snapshot_.incidents) {
    const Entity& cause = incident->finding.cause;
    if (!incident->is_open() || cause.fabric != fabric.name ||
        (cause.kind != EntityKind::kLink && cause.kind != EntityKind::kPort))
      continue;
    const PortIndex port = topology.find_port(cause.port);
    if (port == kNoIndex) continue;
    PortIndex sender = kNoIndex;
    for (const PortIndex end : {port, topology.port(port).peer})
      if (end != kNoIndex && end < sender && std::ranges::binary_search(senders, end)) sender = end;
    if (sender == kNoIndex) continue;
    JobHealth::Link& link = links[sender];
    link.fabric = &fabric;
    link.sender = sender;
    const Effect effect = effect_of(*incident);
    link.verdict = worse_of(link.verdict, effect.verdict);
    link.action = std::max(link.action, effect.action);
    link.incidents.push_back(incident);
  }
  for (auto& [sender, link] : links) {
    worsen(link.verdict, link.action);
    job_.links.push_back(std::move(link));
  }
}

void Question::look_at_switches(const FabricView& fabric, const std::vector<PortIndex>& senders) {
  if (!snapshot_.health) return;
  const Topology& topology = *fabric.sweep->topology;
  std::unordered_set<std::uint64_t> passed;
  NodeIndex last = kNoIndex;
  for (const PortIndex sender : senders) {
    const NodeIndex node = topology.port(sender).node;
    if (node == last) continue;  // ports of one node stand together
    last = node;
    if (topology.node(node).type == NodeType::kSwitch) passed.insert(topology.node(node).guid.value);
  }
  for (const NodeHealth& health : *snapshot_.health) {
    if (health.verdict == HealthVerdict::kHealthy || health.guids.size() != 1 || health.fabric != fabric.name) continue;
    if (!passed.contains(health.guids.front().value)) continue;
    job_.switches.push_back(&health);
    // That a switch is to be drained is no advice for hosts.
    worsen(health.verdict, std::min(health.action, RecommendedAction::kAvoidNewJobs));
  }
}

JobHealth Question::answer() {
  for (const NodeHealth* host : hosts_) {
    if (host)
      worsen(host->verdict, host->action);
    else
      worsen(HealthVerdict::kUnknown, RecommendedAction::kWatch);
  }
  for (const FabricView& fabric : snapshot_.fabrics) look_at(fabric);
  if (job_.broken > 0) worsen(HealthVerdict::kUnhealthy, RecommendedAction::kAvoidNewJobs);
  if (!job_.not_followed.empty()) worsen(HealthVerdict::kUnknown, RecommendedAction::kWatch);
  std::ranges::stable_sort(job_.links, [](const JobHealth::Link& one, const JobHealth::Link& other) {
    return rank(one.verdict) > rank(other.verdict);
  });
  return std::move(job_);
}

}  // namespace

HealthVerdict worse_of(HealthVerdict one, HealthVerdict other) {
  return rank(other) > rank(one) ? other : one;
}

std::vector<std::string> hosts_of_job(const Snapshot& snapshot, std::string_view job) {
  std::vector<std::string> hosts;
  if (!snapshot.hosts || job.empty()) return hosts;
  const auto is_it = [&](std::string_view held) {
    const std::size_t colon = held.find(':');
    return held == job || (colon != std::string_view::npos && held.substr(colon + 1) == job);
  };
  for (const auto& host : *snapshot.hosts)
    if (const auto* const jobs = jobs_of(*host); jobs && std::ranges::any_of(*jobs, is_it)) hosts.push_back(host->host);
  if (!snapshot.incidents || !snapshot.health) return hosts;
  for (const auto& incident : *snapshot.incidents) {
    if (!incident->is_open() || std::ranges::none_of(incident->finding.jobs, is_it)) continue;
    for (const NodeHealth& node : *snapshot.health)
      if (is_about(incident->finding.cause, node) && !is_switch(snapshot, node) && !tells_its_jobs(snapshot, node.node))
        hosts.push_back(node.node);
  }
  std::ranges::sort(hosts);
  hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
  return hosts;
}

std::vector<std::string> hosts_of_unknown_jobs(const Snapshot& snapshot) {
  std::vector<std::string> hosts;
  if (!snapshot.hosts) return hosts;
  // A host that has told nothing yet is new, and no job is known to have begun on it.
  for (const auto& host : *snapshot.hosts)
    if (host->batches > 0 && !jobs_of(*host)) hosts.push_back(host->host);
  return hosts;
}

JobHealth assess_job(const Snapshot& snapshot, std::span<const NodeHealth* const> hosts) {
  return Question(snapshot, hosts).answer();
}

}  // namespace weft
