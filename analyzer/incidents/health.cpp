// SPDX-License-Identifier: Apache-2.0
#include "analyzer/incidents/health.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analyzer/incidents/gone_nodes.hpp"
#include "analyzer/ports/freshness.hpp"
#include "fabric/graph/job_health.hpp"

namespace weft::analyzer {
namespace {

void worsen(NodeHealth& health, HealthVerdict verdict, RecommendedAction action) {
  health.verdict = worse_of(health.verdict, verdict);
  health.action = std::max(health.action, action);
}

/// One host or switch while its verdict is being made.
struct Subject {
  NodeHealth health;
  bool is_switch = false;
  TimePoint oldest = TimePoint::max();
  HealthVerdict elsewhere = HealthVerdict::kHealthy;  ///< what the fabrics before say
  // Of the fabric that is being looked at:
  std::uint32_t links = 0;                 ///< ports that a cable is known for
  std::vector<PortKey> down;               ///< of those, the ones that an incident calls down
  std::vector<NodeIndex> unreachable;      ///< adapters that no way leads to
  std::vector<std::string> unread;         ///< nodes of it without a recent reading, for people
  TimePoint last_read = TimePoint::max();  ///< of those, the oldest one
};

/// "a, b, c and 5 others"
std::string names_text(const std::vector<std::string>& names) {
  constexpr std::size_t kMostNamed = 3;
  std::string text = names.front();
  const std::size_t named = names.size() == kMostNamed + 1 ? names.size() : std::min(names.size(), kMostNamed);
  for (std::size_t i = 1; i < named; ++i) text += (i + 1 == names.size() ? " and " : ", ") + names[i];
  return named == names.size() ? text : text + " and " + std::to_string(names.size() - named) + " others";
}

/// What makes a host UNKNOWN is told by an incident.
bool is_told(const NodeHealth& health) {
  return std::ranges::any_of(health.reasons, [](const HealthReason& reason) {
    return reason.incident != 0 && reason.kind == IncidentKind::kTelemetryLost;
  });
}

using HostViews = std::span<const std::shared_ptr<const HostView>>;
class Assessment {
 public:
  Assessment(const MovedAdapters& moved, TimePoint now) : moved_(moved), now_(now) {}

  void look_at(const FabricView& view, const IncidentList& incidents);
  void look_at(HostViews hosts, const IncidentList& incidents);
  void look_at(std::span<const FabricView> fabrics, const MaintenanceList& windows);
  std::vector<NodeHealth> finish();

 private:
  Subject& subject(std::string_view name, bool is_switch, const std::string& fabric);
  bool explained(const FabricView& view, const Subject& subject, NodeIndex adapter) const;
  void read_ages(const FabricView& view);
  void read(const FabricView& view, const Incident& incident);
  void blame(const FabricView& view, const Incident& incident, const Entity& entity, bool is_cause);
  Subject* subject_of(const FabricView& view, NodeGuid guid);
  void add_reason(Subject& subject, const Incident& incident, PortKey port);
  void add_unread(Subject& subject);
  void add_work(const std::string& name, const MaintenanceWindow& window, PortKey port);
  void add_work(const FabricView& view, const MaintenanceWindow& window);
  Subject* subject_gone(const FabricView& view, const Incident& incident, const Entity& link, PortKey end);
  Subject* subject_gone(const FabricView& view, const std::string& name, NodeGuid guid);
  Subject* subject_gone(const FabricView& view, const Entity& node);
  /// `link`: that names the node at `port`; null where that is in the graph.
  void mark_down(const FabricView& view, const Incident& incident, PortKey port, const Entity* link = nullptr);

  const MovedAdapters moved_;
  TimePoint now_;
  std::vector<Subject> subjects_;
  std::unordered_map<std::string, std::uint32_t> by_name_;
  std::vector<std::uint32_t> by_node_;  ///< of the present fabric's topology
};

Subject& Assessment::subject(std::string_view name, bool is_switch, const std::string& fabric) {
  const auto [found, added] = by_name_.try_emplace(std::string(name), static_cast<std::uint32_t>(subjects_.size()));
  if (added) {
    Subject& subject = subjects_.emplace_back();
    subject.health.node = name;
    subject.health.fabric = fabric;
    subject.health.verdict = HealthVerdict::kHealthy;
    subject.is_switch = is_switch;
  }
  return subjects_[found->second];
}

Subject* Assessment::subject_of(const FabricView& view, NodeGuid guid) {
  const NodeIndex index = view.sweep->topology->find_node(guid);
  if (index == kNoIndex || by_node_[index] == kNoIndex) return nullptr;
  return &subjects_[by_node_[index]];
}

void Assessment::read_ages(const FabricView& view) {
  const Sweep& sweep = *view.sweep;
  const Topology& topology = *sweep.topology;
  const Duration stale = view.stale_after > Duration::zero() ? view.stale_after : stale_after(sweep, Thresholds{});
  by_node_.assign(topology.nodes().size(), kNoIndex);
  for (NodeIndex index = 0; index < topology.nodes().size(); ++index) {
    const Node& node = topology.node(index);
    const bool is_switch = node.type == NodeType::kSwitch;
    if (node.aggregation_node || (node.type != NodeType::kChannelAdapter && !is_switch)) continue;
    Subject& of = subject(host_name(node), is_switch, view.name);
    by_node_[index] = static_cast<std::uint32_t>(&of - subjects_.data());
    of.health.guids.push_back(node.guid);
    if (!view.watching) worsen(of.health, HealthVerdict::kUnknown, RecommendedAction::kWatch);
    if (!node.reachable && !moved_.has_left(view, index)) of.unreachable.push_back(index);
    TimePoint newest_counters = kNever, oldest = TimePoint::max();
    for (PortIndex port = node.first_port; port < node.first_port + node.port_entries(); ++port) {
      // An Ethernet switch's port 0 is nothing that anybody could read.
      if (topology.is_ethernet() && topology.port(port).peer == kNoIndex) continue;
      if (topology.port(port).peer != kNoIndex) ++of.links;
      oldest = std::min(oldest, port < sweep.state_read_at.size() ? sweep.state_read_at[port] : kNever);
      if (sweep.counters && port < sweep.counters->rows())
        newest_counters = std::max(newest_counters, sweep.counters->read_at(port));
    }
    // Ports without counters exist (a switch's port 0, a port that is down); a node without any does not.
    if (node.reachable) oldest = std::min(oldest, newest_counters);
    of.oldest = std::min(of.oldest, oldest);
    if (!node.reachable) continue;  // its ages say no more than that
    if (oldest != kNever && oldest + stale >= now_) continue;
    worsen(of.health, HealthVerdict::kUnknown, RecommendedAction::kWatch);
    of.unread.push_back(node.name);
    of.last_read = std::min(of.last_read, oldest);
  }
}

/// Is all that the unreachable adapter had called down by an incident? Then that is known, and not nothing.
bool Assessment::explained(const FabricView& view, const Subject& subject, NodeIndex adapter) const {
  const Topology& topology = *view.sweep->topology;
  const Node& node = topology.node(adapter);
  bool any = false;
  for (const Port& port : topology.ports_of(node)) {
    if (port.peer == kNoIndex) continue;
    if (std::ranges::find(subject.down, PortKey{node.guid, port.number}) == subject.down.end()) return false;
    any = true;
  }
  return any;
}

void Assessment::add_reason(Subject& subject, const Incident& incident, PortKey port) {
  std::vector<HealthReason>& reasons = subject.health.reasons;
  // Incidents come one after the other: the reason that this one made is the last.
  if (reasons.empty() || reasons.back().incident != incident.id)
    reasons.push_back(
        {incident.id, incident.finding.kind, incident.finding.severity, incident.opened, incident.finding.summary, {}});
  std::vector<PortKey>& ports = reasons.back().ports;
  if (port.port.value != 0 && std::ranges::find(ports, port) == ports.end()) ports.push_back(port);
}

/// No incident tells of it, or not yet.
void Assessment::add_unread(Subject& subject) {
  if (subject.health.verdict != HealthVerdict::kUnknown) return;
  const bool is_known = subject.last_read != kNever && subject.last_read != TimePoint::max();
  subject.health.reasons.push_back({.severity = Severity::kWarning,
                                    .since = is_known ? subject.last_read : kNever,
                                    .message = "no recent reading of " + names_text(subject.unread),
                                    .ports = {}});
}

/// The host of an adapter that is not in the graph any more.
Subject* Assessment::subject_gone(const FabricView& view, const Incident& incident, const Entity& link, PortKey end) {
  const Entity& cause = incident.finding.cause;
  const bool is_cause = cause.kind == EntityKind::kNode && end.node == cause.port.node;
  if (is_cause || view.sweep->topology->find_node(end.node) != kNoIndex) return nullptr;
  // Of a switch that is gone all links are down, and its incident is one of a node. Where others are cut off behind the
  // end it is a switch as well. Else what is gone is an adapter.
  if (is_switch_gone(incident.finding, end.node)) return nullptr;
  return subject_gone(view, name_in(link, end, *view.sweep->topology), end.node);
}

/// The host of the adapter of that name. Where nobody reads the fabric with_unswept() knows whom its graph lacks.
Subject* Assessment::subject_gone(const FabricView& view, const std::string& name, NodeGuid guid) {
  if (name.empty() || is_blind(view)) return nullptr;
  Node adapter;
  adapter.type = NodeType::kChannelAdapter;
  adapter.name = name;
  Subject& of = subject(host_name(adapter), false, view.name);
  if (std::ranges::find(of.health.guids, guid) == of.health.guids.end()) of.health.guids.push_back(guid);
  return &of;
}

/// The host of an adapter that an incident names, and that no sweep has found since a restart.
Subject* Assessment::subject_gone(const FabricView& view, const Entity& node) {
  if (node.kind != EntityKind::kNode || !is_adapter_name(node.label) ||
      view.sweep->topology->find_node(node.port.node) != kNoIndex)
    return nullptr;
  return subject_gone(view, node.label, node.port.node);
}

void Assessment::mark_down(const FabricView& view, const Incident& incident, PortKey port, const Entity* link) {
  Subject* of = subject_of(view, port.node);
  if (!of && link) of = subject_gone(view, incident, *link, port);
  if (!of || of->is_switch) return;
  add_reason(*of, incident, port);
  if (std::ranges::find(of->down, port) == of->down.end()) of->down.push_back(port);
  worsen(of->health, HealthVerdict::kDegraded, RecommendedAction::kAvoidNewJobs);
}

void Assessment::blame(const FabricView& view, const Incident& incident, const Entity& entity, bool is_cause) {
  const bool outage = is_outage(incident.finding.kind);
  if (entity.kind == EntityKind::kLink) {
    for (const PortKey& end : {entity.port, entity.peer}) {
      if (outage) {
        mark_down(view, incident, end, &entity);
        continue;
      }
      Subject* of = subject_of(view, end.node);
      if (!of || of->is_switch) continue;
      add_reason(*of, incident, end);
      // Whom many send to at once is no worse a host for it, nor one whose link went down once.
      if ((incident.finding.kind == IncidentKind::kLinkFlap && incident.finding.severity == Severity::kInfo) ||
          incident.finding.kind == IncidentKind::kCongestionIncast ||
          incident.finding.kind == IncidentKind::kCongestionUnevenLoad)
        worsen(of->health, HealthVerdict::kHealthy, RecommendedAction::kWatch);
      else
        worsen(of->health, HealthVerdict::kDegraded, RecommendedAction::kAvoidNewJobs);
    }
    return;
  }
  if (entity.kind != EntityKind::kNode && entity.kind != EntityKind::kPort) return;
  Subject* of = subject_of(view, entity.port.node);
  const bool is_behind = incident.finding.kind == IncidentKind::kLinkDown && !is_cause &&
                         !is_switch_gone(incident.finding, entity.port.node);
  const bool is_silent = is_cause && incident.finding.kind == IncidentKind::kTelemetryLost;
  if (!of && (is_behind || is_silent)) {
    of = subject_gone(view, entity);
    if (!of) return;
    if (is_behind) {
      // Which of its ports are cut off is not known any more: the adapter is.
      add_reason(*of, incident, {});
      of->down.push_back({entity.port.node, {}});
      return worsen(of->health, HealthVerdict::kDegraded, RecommendedAction::kAvoidNewJobs);
    }
  }
  if (!of) {
    // A host that is not even in the graph any more: it is known by what took it down.
    if (!is_cause || incident.finding.kind != IncidentKind::kNodeDown || entity.label.empty()) return;
    of = &subject(entity.label, false, view.name);
    if (of->health.guids.empty()) of->health.guids.push_back(entity.port.node);
  }
  if (is_node_outage(incident.finding.kind)) {
    add_reason(*of, incident, entity.port);
    if (is_cause) return worsen(of->health, HealthVerdict::kUnhealthy, RecommendedAction::kDrain);
  }
  if (outage) {
    // Out of reach behind it: all ports of that adapter are cut off. The adapter at the cable itself loses one port
    // only.
    const bool at_the_cable =
        incident.finding.kind == IncidentKind::kLinkDown &&
        (entity.port.node == incident.finding.cause.port.node || entity.port.node == incident.finding.cause.peer.node);
    const NodeIndex index = view.sweep->topology->find_node(entity.port.node);
    if (of->is_switch || at_the_cable || index == kNoIndex) return;
    const bool behind_switch = incident.finding.kind == IncidentKind::kSwitchDown;
    for (const Port& port : view.sweep->topology->ports_of(view.sweep->topology->node(index))) {
      if (port.peer == kNoIndex) continue;
      const Node& peer = view.sweep->topology->node_of(view.sweep->topology->port(port.peer));
      // Of an adapter at the switch itself, the links to it are listed one by one.
      const bool other_switch = behind_switch && peer.reachable && peer.guid != incident.finding.cause.port.node;
      if (!other_switch) mark_down(view, incident, {entity.port.node, port.number});
    }
    return;
  }
  if (!is_cause) return;
  add_reason(*of, incident, entity.port);
  switch (incident.finding.kind) {
    case IncidentKind::kTelemetryLost:
      worsen(of->health, HealthVerdict::kUnknown, RecommendedAction::kWatch);
      break;
    case IncidentKind::kCounterStuck:
      worsen(of->health, HealthVerdict::kHealthy, RecommendedAction::kWatch);
      break;
    case IncidentKind::kDuplicateGuid:
      worsen(of->health, HealthVerdict::kDegraded, RecommendedAction::kAvoidNewJobs);
      break;
    default:
      if (!of->is_switch) worsen(of->health, HealthVerdict::kDegraded, RecommendedAction::kAvoidNewJobs);
      break;
  }
}

void Assessment::read(const FabricView& view, const Incident& incident) {
  // Another setting is no worse health.
  if (incident.finding.kind == IncidentKind::kConfigDrift) return;
  if (incident.finding.cause.kind == EntityKind::kFabric) {
    if (is_outage(incident.finding.kind))
      for (const Entity& entity : incident.finding.affected) blame(view, incident, entity, false);
    if (incident.finding.kind != IncidentKind::kTelemetryLost) return;
    // Below CRITICAL only the nodes that it names are out of sight.
    if (incident.finding.severity < Severity::kCritical && !incident.finding.affected.empty()) {
      for (const Entity& entity : incident.finding.affected) {
        Subject* of = subject_of(view, entity.port.node);
        if (!of) of = subject_gone(view, entity);
        if (!of) continue;
        add_reason(*of, incident, {});
        worsen(of->health, HealthVerdict::kUnknown, RecommendedAction::kWatch);
      }
      return;
    }
    for (const std::uint32_t of : by_node_) {
      if (of == kNoIndex) continue;
      add_reason(subjects_[of], incident, {});
      worsen(subjects_[of].health, HealthVerdict::kUnknown, RecommendedAction::kWatch);
    }
    return;
  }
  blame(view, incident, incident.finding.cause, true);
  if (is_outage(incident.finding.kind))
    for (const Entity& entity : incident.finding.affected) blame(view, incident, entity, false);
}

void Assessment::look_at(const FabricView& view, const IncidentList& incidents) {
  if (!view.sweep || !view.sweep->topology) return;
  for (Subject& subject : subjects_) {
    subject.links = 0;
    subject.down.clear();
    subject.unreachable.clear();
    subject.unread.clear();
    subject.last_read = TimePoint::max();
    subject.elsewhere = std::exchange(subject.health.verdict, HealthVerdict::kHealthy);
  }
  read_ages(view);
  for (const IncidentPtr& incident : incidents)
    if (incident->is_open() && incident->finding.maintenance == 0 && incident->finding.cause.fabric == view.name)
      read(view, *incident);
  for (Subject& subject : subjects_) {
    for (const NodeIndex adapter : subject.unreachable) {
      if (explained(view, subject, adapter)) continue;
      worsen(subject.health, HealthVerdict::kUnknown, RecommendedAction::kWatch);
      subject.unread.push_back(view.sweep->topology->node(adapter).name);
    }
    if (!subject.unread.empty() && !is_told(subject.health)) add_unread(subject);
  }
  for (Subject& subject : subjects_) {
    if (subject.is_switch || subject.down.empty()) continue;
    // A port that is down in a graph made anew has no peer, but an incident that knows it.
    const Topology& topology = *view.sweep->topology;
    std::uint32_t links = subject.links;
    for (const PortKey& key : subject.down) {
      const PortIndex port = topology.find_port(key);
      if (port == kNoIndex || topology.port(port).peer == kNoIndex) ++links;
    }
    if (subject.down.size() >= links) worsen(subject.health, HealthVerdict::kUnhealthy, RecommendedAction::kDrain);
  }
  // What was seen before the sight was lost is no verdict any more.
  if (!view.watching)
    for (const std::uint32_t of : by_node_)
      if (of != kNoIndex) subjects_[of].health.verdict = HealthVerdict::kUnknown;
  for (Subject& subject : subjects_) worsen(subject.health, subject.elsewhere, RecommendedAction::kNone);
}

/// Its last reading waited on its disk, or on the way, as it says, and none has come for a while that did not: rules
/// take nothing of now from such readings. When it was taken says nothing, a clock may have been set.
bool tells_of_past(const HostView& host, TimePoint now) {
  return host.reading && host.is_late &&
         now - host.told > std::max<Duration>(host.interval * 6, std::chrono::seconds(30));
}

void Assessment::look_at(HostViews hosts, const IncidentList& incidents) {
  std::unordered_map<std::string_view, const HostView*> silent;
  std::unordered_map<std::string_view, std::uint32_t> links_down;
  for (const auto& host : hosts) {
    Subject& of = subject(host->host, false, {});
    if (host->reading) of.oldest = std::min(of.oldest, host->reading->taken);
    if (host->reading && now_ - host->heard <= std::max<Duration>(host->interval * 3, std::chrono::seconds(5)) &&
        !tells_of_past(*host, now_) && host->elsewhere.empty())
      continue;
    silent.emplace(host->host, host.get());
    worsen(of.health, HealthVerdict::kUnknown, RecommendedAction::kWatch);
  }
  for (const IncidentPtr& incident : incidents) {
    const Entity& cause = incident->finding.cause;
    if (!incident->is_open() || incident->finding.maintenance != 0 || !cause.fabric.empty() ||
        cause.kind == EntityKind::kCohort)
      continue;
    if (cause.kind == EntityKind::kFabric) {
      for (const auto& [name, host] : silent) add_reason(subject(name, false, {}), *incident, {});
      continue;
    }
    const auto of = by_name_.find(cause.host);
    if (of == by_name_.end()) continue;
    add_reason(subjects_[of->second], *incident, {});
    if (cause.kind == EntityKind::kCollector || is_remark(incident->finding)) continue;
    worsen(subjects_[of->second].health, HealthVerdict::kDegraded, RecommendedAction::kAvoidNewJobs);
    if (incident->finding.kind == IncidentKind::kLinkDown) ++links_down[cause.host];
  }
  for (const auto& [name, host] : silent) {
    NodeHealth& health = subject(name, false, {}).health;
    if (!host->elsewhere.empty())
      health.reasons.push_back(
          {.severity = Severity::kWarning, .since = host->heard, .message = host->elsewhere, .ports = {}});
    if (health.verdict != HealthVerdict::kUnknown || is_told(health)) continue;
    health.reasons.push_back({.severity = Severity::kWarning,
                              .since = host->reading ? host->heard : kNever,
                              .message = tells_of_past(*host, now_)
                                             ? "its collector says that its readings waited: no reading of now"
                                             : "no recent report of its collector",
                              .ports = {}});
  }
  for (const auto& host : hosts) {
    const auto down = links_down.find(host->host);
    if (down == links_down.end() || !host->reading) continue;
    // Any port that is up is a way to the host; those on subnets too.
    const bool any_up = std::ranges::any_of(host->reading->inventory->ports, [](const HostPort& port) {
      return port.state == PortState::kActive && !port.is_virtual_function;
    });
    if (!any_up) worsen(subject(host->host, false, {}).health, HealthVerdict::kUnhealthy, RecommendedAction::kDrain);
  }
}

void Assessment::add_work(const std::string& name, const MaintenanceWindow& window, PortKey port) {
  const auto of = by_name_.find(name);
  if (of == by_name_.end()) return;
  NodeHealth& health = subjects_[of->second].health;
  // Windows come one after the other: the reason that this one made is the last.
  if (health.reasons.empty() || health.reasons.back().maintenance != window.id)
    health.reasons.push_back({.severity = Severity::kInfo,
                              .since = window.from,
                              .message = in_words(window),
                              .ports = {},
                              .maintenance = window.id});
  std::vector<PortKey>& ports = health.reasons.back().ports;
  if (port.port.value != 0 && std::ranges::find(ports, port) == ports.end()) ports.push_back(port);
  health.action = std::max(health.action, RecommendedAction::kAvoidNewJobs);
}

void Assessment::add_work(const FabricView& view, const MaintenanceWindow& window) {
  const Topology& topology = *view.sweep->topology;
  const auto name_of = [&](NodeIndex index) { return std::string(host_name(topology.node(index))); };
  const Entity& what = window.entity;
  if (what.kind == EntityKind::kFabric && (what.fabric.empty() || what.fabric == view.name)) {
    for (NodeIndex index = 0; index < topology.nodes().size(); ++index) add_work(name_of(index), window, {});
    return;
  }
  for (const NodeGuid guid : window.nodes) {
    const NodeIndex index = topology.find_node(guid);
    if (index == kNoIndex) continue;
    add_work(name_of(index), window, {});
    if (topology.node(index).type != NodeType::kSwitch) continue;
    for (const Port& port : topology.ports_of(topology.node(index))) {
      if (port.peer == kNoIndex) continue;
      const NodeIndex peer = topology.port(port.peer).node;
      if (topology.node(peer).type == NodeType::kChannelAdapter)
        add_work(name_of(peer), window, topology.key_of(port.peer));
    }
  }
  if (what.kind != EntityKind::kPort && what.kind != EntityKind::kLink) return;
  const PortIndex port = topology.find_port(what.port);
  if (port == kNoIndex) return;
  for (const PortIndex end : {port, topology.port(port).peer})
    if (end != kNoIndex && topology.node_of(topology.port(end)).type == NodeType::kChannelAdapter)
      add_work(name_of(topology.port(end).node), window, topology.key_of(end));
}

void Assessment::look_at(std::span<const FabricView> fabrics, const MaintenanceList& windows) {
  for (const MaintenanceWindow& window : windows) {
    if (state_at(window, now_) != MaintenanceState::kActive) continue;
    for (const FabricView& view : fabrics)
      if (view.sweep && view.sweep->topology) add_work(view, window);
    if (!window.host.empty()) add_work(window.host, window, {});
    if (window.entity.kind == EntityKind::kFabric && window.entity.fabric.empty())
      for (const Subject& subject : subjects_) add_work(subject.health.node, window, {});
  }
}

std::vector<NodeHealth> Assessment::finish() {
  std::vector<NodeHealth> all;
  all.reserve(subjects_.size());
  for (Subject& subject : subjects_) {
    const bool never = subject.oldest == kNever || subject.oldest == TimePoint::max();
    subject.health.data_age = never ? Duration::max() : std::max(Duration::zero(), now_ - subject.oldest);
    all.push_back(std::move(subject.health));
  }
  std::ranges::sort(all, {}, &NodeHealth::node);
  return all;
}

}  // namespace

std::vector<NodeHealth> assess(std::span<const FabricView> fabrics, HostViews hosts, const IncidentList& incidents,
                               const MaintenanceList& windows, TimePoint now) {
  Assessment assessment({fabrics, incidents}, now);
  for (const FabricView& view : fabrics) assessment.look_at(view, incidents);
  assessment.look_at(hosts, incidents);
  assessment.look_at(fabrics, windows);
  return assessment.finish();
}

}  // namespace weft::analyzer
