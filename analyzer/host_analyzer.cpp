// SPDX-License-Identifier: Apache-2.0
#include "analyzer/host_analyzer.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "analyzer/incidents/evidence.hpp"
#include "analyzer/links/link_findings.hpp"
#include "analyzer/ports/describe.hpp"
#include "analyzer/ports/freshness.hpp"

namespace weft::analyzer {
namespace {

/// What a collector said so long ago at most is true of now.
constexpr Duration kPresent = std::chrono::minutes(1);

/// What hosts count that adapters do not break together. Hosts are judged each second, in windows of their own.
MassAlarmScope host_mass_scope(const Thresholds& thresholds) {
  return {.limits = {{IncidentKind::kRdmaErrors, thresholds.mass_minimum_links, thresholds.mass_alarm_share},
                     {IncidentKind::kSilentLoss, thresholds.loss.together, 0}},
          .together = 30,
          .hold = thresholds.mass_hold,
          .what = "ports"};
}

bool is_congestion(IncidentKind kind) {
  switch (kind) {
    case IncidentKind::kCongestionIncast:
    case IncidentKind::kCongestionUnevenLoad:
    case IncidentKind::kCongestionOversubscribed:
    case IncidentKind::kSlowReceiver:
    case IncidentKind::kPfcStorm:
      return true;
    default:
      return false;
  }
}

}  // namespace

HostAnalyzer::HostAnalyzer(const Thresholds& thresholds, TimePoint now)
    : thresholds_(thresholds),
      silence_(thresholds, now),
      links_(thresholds),
      outages_(thresholds),
      trends_(thresholds),
      stalls_(thresholds),
      signals_(thresholds.congestion),
      rdma_errors_(thresholds),
      losses_(thresholds.loss),
      stragglers_(thresholds.straggler),
      job_flaps_(thresholds),
      job_troubles_(thresholds),
      mass_(host_mass_scope(thresholds)),
      drift_(thresholds.config_drift),
      parts_(thresholds),
      hangs_(thresholds.hang) {}

HostWatch* HostAnalyzer::find_host(std::string_view name) {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}
const HostWatch* HostAnalyzer::find_host(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

HostWatch& HostAnalyzer::add_host(const std::string& name) {
  if (HostWatch* const known = find_host(name)) return *known;
  auto& [key, host] = *hosts_.try_emplace(name).first;
  host.name = name;
  by_name_.emplace(key, &host);
  return host;
}

void HostAnalyzer::remember(const Incident& incident) {
  if (!incident.is_open()) return;
  const Entity& cause = incident.finding.cause;
  outages_.remember(incident);
  drift_.remember(incident);
  parts_.remember(incident);
  hangs_.remember(incident);
  if (incident.finding.kind == IncidentKind::kNodeDown) down_before_[cause.port.node] = cause.label;
  // A part may be degraded at a port that was never up.
  if (cause.kind != EntityKind::kHostPort || is_of_parts(incident.finding.kind)) return;
  HostWatch& host = add_host(cause.host);
  if (find_port(host, cause.device, cause.port.port.value)) return;
  PortWatch& port = add_port(host, cause.device, cause.port.port.value, slots_);
  if (!cause.label.empty()) port.label = cause.label;
  port.present = false;
  port.was_up = true;
  if (incident.finding.kind == IncidentKind::kLinkDown) links_.remember_down(port);
}

void HostAnalyzer::restore(const std::string& name, std::span<const HostFlapState> flaps) {
  HostWatch& host = add_host(name);
  for (const HostFlapState& known : flaps) {
    PortWatch* port = find_port(host, known.device, known.port);
    if (!port) {
      port = &add_port(host, known.device, known.port, slots_);
      port->present = false;
    }
    links_.restore(*port, known.state);
  }
}

void HostAnalyzer::restore_ports(const std::string& name, std::span<const HostPortSeen> seen) {
  analyzer::restore_ports(add_host(name), seen, slots_);
}

std::vector<HostPortSeen> HostAnalyzer::ports_seen(const std::string& name) const {
  const HostWatch* const host = find_host(name);
  return host ? analyzer::ports_seen(*host) : std::vector<HostPortSeen>();
}

std::uint64_t HostAnalyzer::seen_revision(const std::string& name) const {
  const HostWatch* const host = find_host(name);
  return host ? host->seen_revision : 0;
}

std::vector<HostFlapState> HostAnalyzer::flaps(const std::string& name) const {
  std::vector<HostFlapState> flaps;
  const HostWatch* const host = find_host(name);
  if (!host) return flaps;
  for (const PortWatch& port : host->ports)
    if (const FlapState* const state = links_.flaps(port)) flaps.push_back({port.device, port.number, *state});
  return flaps;
}

void HostAnalyzer::join(std::span<const FabricView> fabrics) {
  // Without a host that tells of its losses nobody asks where packets went.
  losses_.watch(hosts_.empty() ? std::span<const FabricView>() : fabrics);
  std::vector<Subnet> subnets;
  for (const FabricView& view : fabrics)
    if (view.watching && view.sweep && view.sweep->topology)
      subnets.push_back({view.name, view.sweep->topology, is_blind(view)});
  const bool same = std::ranges::equal(subnets, subnets_, [](const Subnet& a, const Subnet& b) {
    return a.topology == b.topology && a.name == b.name && a.is_blind == b.is_blind;
  });
  if (!same && !(hosts_.empty() && subnets_.empty())) rearrange(std::move(subnets));
  if (!subnets_.empty()) stragglers_.watch(fabrics, hosts_);
}

void HostAnalyzer::hear(const std::string& name, Duration interval, TimePoint now) {
  HostWatch* const known = find_host(name);
  silence_.hear(known ? *known : add_host(name), !known, interval, now);
}

void HostAnalyzer::hear_elsewhere(const std::string& name, const std::string& shard, PortsThere ports, TimePoint now) {
  HostWatch* const host = find_host(name);
  if (!host) return;
  if (!host->elsewhere || host->elsewhere->shard != shard || !host->elsewhere->is_heard(now))
    host->elsewhere = HeardIn{shard, now, now, {}};
  host->elsewhere->last = now;
  host->elsewhere->ports = std::move(ports);
}

void HostAnalyzer::expect(const std::string& name, TimePoint heard, std::vector<std::string> jobs) {
  HostWatch& host = add_host(name);
  host.heard = heard;
  host.jobs = std::move(jobs);
}

void HostAnalyzer::forget(const std::string& name) {
  const auto host = hosts_.find(name);
  if (host == hosts_.end()) return;
  for (const PortWatch& port : host->second.ports) slots_.give_back(port.slot);
  drift_.forget(name);
  parts_.forget(name);
  hangs_.forget(name);
  advisor_.modules().forget(name);
  by_name_.erase(name);
  hosts_.erase(host);
  std::erase_if(host_of_node_, [&](const auto& entry) { return entry.second == name; });
}

/// Which of its ports may go down at that moment without its being a flap.
void HostAnalyzer::mark_exempt(HostWatch& host, TimePoint at) const {
  const bool new_here = host.came != kNever && at >= host.came && at - host.came < thresholds_.bring_up;
  const bool planned = windows_ && std::ranges::any_of(*windows_, [at](const MaintenanceWindow& window) {
                         return state_at(window, at) == MaintenanceState::kActive;
                       });
  for (PortWatch& port : host.ports)
    port.exempt = new_here || (planned && (maintenance_of(*windows_, collector_of(host.name), at) ||
                                           maintenance_of(*windows_, entity_of(host, port), at)));
}

/// Which counters the rules follow, after its series or ports have changed.
void HostAnalyzer::follow(HostWatch& host) {
  if (!host.inventory) return;
  std::vector<std::uint32_t> followed;
  links_.follow(host, followed);
  trends_.follow(host, followed);
  stalls_.follow(host, followed);
  signals_.follow(host, followed);
  pause_storms_.follow(host, followed);
  rdma_errors_.follow(host, followed);
  losses_.follow(host, followed);
  stragglers_.follow(host, followed);
  parts_.follow(host, followed);
  hangs_.follow(host, followed);
  advisor_.follow(host, followed);
  host.memory.follow(*host.inventory, std::move(followed));
}

/// Is a port that was up then missed when it is down now? One whose device is gone is for as long.
bool HostAnalyzer::is_missed_from(const HostWatch& host, TimePoint at) const {
  return host.heard - at <= thresholds_.host_port_forget_after;
}

/// True when a flap was counted.
bool HostAnalyzer::take_reading(HostWatch& host, const HostReading& reading, bool is_late) {
  weigh_history(host, *reading.inventory, is_late);
  if (host.inventory != reading.inventory) {
    take_inventory(host, reading.inventory, slots_);
    follow(host);
  }
  if (!is_late) {
    take_states(host, reading);
    drift_.take(host.name, reading);
    parts_.take(host, reading);
    hangs_.take(host, reading);
    host.jobs = reading.jobs;
    host.has_reading = true;
  } else if (is_missed_from(host, reading.taken)) {
    take_past_states(host);
  }
  host.memory.take(reading, movement_);
  trends_.take(host, movement_, is_late);
  stalls_.take(host, movement_);
  if (!is_late) {
    signals_.take(host, movement_);
    pause_storms_.take(host, movement_);
    parts_.take(host, movement_);
    hangs_.take(host, movement_);
    advisor_.take(host, movement_, reading.facts);
  }
  rdma_errors_.take(host, movement_);
  losses_.take(host, movement_);
  stragglers_.take(host, movement_);
  return links_.take(host, movement_, is_late);
}

bool HostAnalyzer::take(const std::string& name, const HostBatch& batch) {
  HostWatch* const known = find_host(name);
  if (!known) return false;
  HostWatch& host = *known;
  bool flapped = false;
  if (batch.reading && batch.reading->inventory) {
    mark_exempt(host, batch.reading->taken);
    const bool devices = host.inventory != batch.reading->inventory;
    flapped = take_reading(host, *batch.reading, batch.is_late);
    if (devices && (!subnets_.empty() || !known_.empty())) place(host);
  }
  for (const LinkEvent& event : batch.events) {
    mark_exempt(host, event.at);
    if (PortWatch* const port = take_event(host, event, batch.is_late)) {
      if (is_missed_from(host, event.at)) note_up(host, *port, 0, batch.is_late);
      flapped = links_.take_event(*port, event, batch.is_late) || flapped;
    }
  }
  if (links_.has_news(host) && (news_.empty() || news_.back() != name)) news_.push_back(name);
  return flapped;
}

std::vector<Finding> HostAnalyzer::news(TimePoint now) {
  std::vector<Finding> findings;
  for (const std::string& name : std::exchange(news_, {})) {
    if (const HostWatch* const host = find_host(name)) links_.report_news(*host, now, findings);
  }
  job_flaps_.apply(findings, kHostsFabric, false, now);
  note_idle(findings, now);
  advise(findings, now);
  return findings;
}

Analysis HostAnalyzer::judge(TimePoint now) {
  Analysis analysis;
  silence_.judge(hosts_, now, analysis.findings);
  std::erase_if(analysis.findings, [&](const Finding& lost) {
    return lost.cause.kind == EntityKind::kCollector && outages_.is_told(lost.cause.host, now);
  });
  std::vector<Finding> lost;
  losses_.judge(hosts_, now, lost);
  std::vector<Finding> troubles;
  std::size_t ports = 0;
  for (auto& [name, host] : hosts_) {
    if (host.lost || !host.has_reading) continue;
    ports += host.ports.size();
    const bool is_heard = host.unheard <= 1;  // just now
    if (is_heard && forget_missing(host, thresholds_.host_port_forget_after, now, slots_)) follow(host);
    let_go_of_uncabled(host);
    for (const PortWatch& port : host.ports) {
      links_.report(host, port, now, analysis.findings);
      rdma_errors_.report(host, port, now, troubles);
      signals_.report(host, port, now, analysis.findings);
      if (!port.place && pause_storms_.any()) pause_storms_.report(host, port, now, analysis.findings);
    }
    trends_.report(host, now, analysis.findings);
  }
  std::erase_if(troubles, [&](const Finding& trouble) { return losses_.absorb(trouble, lost); });
  add_jobs(lost);
  job_flaps_.apply(analysis.findings, kHostsFabric, true, now);
  job_troubles_.apply_findings(analysis.findings, now);
  job_troubles_.gather(troubles, now);
  for (Finding& loss : lost) {
    // Where the counters of the fabric agree, two have seen it.
    const bool confirmed = std::ranges::find(loss.evidence, "packet_balance", &Evidence::signal) != loss.evidence.end();
    (confirmed ? analysis.findings : troubles).push_back(std::move(loss));
  }
  mass_.hold_back(troubles, ports, all_collectors(), now);
  std::ranges::move(troubles, std::back_inserter(analysis.findings));
  stragglers_.judge(hosts_, stalls_, now, analysis.findings);
  note_idle(analysis.findings, now);
  drift_.judge(
      hosts_, [this](const SubnetPlace& place) { return is_of_a_switch(place); }, now, analysis.findings);
  parts_.judge(hosts_, silence_.is_settled(now), now, analysis.findings);
  parts_.explain(analysis.findings, now);
  hangs_.judge(hosts_, silence_.is_settled(now), now, analysis.findings);
  advise(analysis.findings, now);
  news_.clear();
  analysis.coverage =
      Coverage::of_hosts([this, now](IncidentKind kind, const Entity& cause) { return observed(kind, cause, now); });
  return analysis;
}

bool HostAnalyzer::observed(IncidentKind kind, const Entity& cause, TimePoint now) const {
  const bool settled = silence_.is_settled(now);
  if (kind == IncidentKind::kConfigDrift) return settled && drift_.observed(cause, hosts_);
  // It is told until it is seen to be over.
  if (kind == IncidentKind::kJobHang) return settled;
  if (cause.fabric != kHostsFabric) {
    if (kind == IncidentKind::kSilentLoss) return losses_.has_judged(cause.fabric) || (settled && hosts_.empty());
    if (kind == IncidentKind::kStraggler && !settled) return false;
    const auto is_heard = [this](NodeGuid node) {
      const HostWatch* const host = host_at(node);
      return host && host->has_reading && !host->lost;
    };
    const auto is_over_at = [&](const HostWatch* host) { return host && is_over_elsewhere(kind, *host, cause, now); };
    if (is_ethernet(cause.fabric) && ((settled && is_forgotten_on_ethernet(kind, cause)) ||
                                      is_over_at(host_at(cause.port.node)) || is_over_at(host_at(cause.peer.node))))
      return true;
    if (kind == IncidentKind::kLinkDown && (is_up_without_sweeps(cause.port) || is_up_without_sweeps(cause.peer)))
      return true;
    if (kind != IncidentKind::kRdmaErrors && kind != IncidentKind::kStraggler &&
        (kind != IncidentKind::kLinkDegraded || !is_ethernet(cause.fabric)))
      return false;
    return is_heard(cause.port.node) || (cause.peer.node && is_heard(cause.peer.node)) ||
           (settled && is_forgotten(cause)) || is_over_at(find_host(cause.host));
  }
  if (cause.kind == EntityKind::kCohort) return settled && parts_.observed(kind, cause, nullptr, now);
  if (cause.kind == EntityKind::kFabric)
    return kind == IncidentKind::kTelemetryLost ? silence_.is_telling(now) : settled;
  const HostWatch* const known = find_host(cause.host);
  // Who is forgotten has no trouble any more.
  if (!known) return settled;
  const HostWatch& host = *known;
  if (cause.kind == EntityKind::kCollector) return host.lost ? !silence_.many_lost() : silence_.is_heard(host, now);
  const PortWatch* const port = find_port(host, cause.device, cause.port.port.value);
  // A port that is forgotten has no trouble any more either.
  if (kind == IncidentKind::kStraggler && !settled) return false;
  if (is_over_elsewhere(kind, host, cause, now)) return true;
  if (is_of_parts(kind) && !(settled && parts_.observed(kind, cause, port, now))) return false;
  return host.has_reading && !host.lost && (!port || port->present || is_gone(*port));
}

bool HostAnalyzer::is_over_elsewhere(IncidentKind kind, const HostWatch& host, const Entity& cause,
                                     TimePoint now) const {
  if (!host.elsewhere || !host.elsewhere->is_heard(now)) return false;
  if (kind == IncidentKind::kRdmaErrors || kind == IncidentKind::kStraggler || is_of_parts(kind))
    return host.elsewhere->last - host.elsewhere->since > thresholds_.rdma_error_quiet;
  const PortsThere& there = host.elsewhere->ports;
  const auto is_in = [](const std::vector<std::string>& names, std::string_view device, std::uint32_t number) {
    return std::ranges::find(names, port_name(device, number)) != names.end();
  };
  const auto is_up = [&](const PortWatch& port) {
    if (!port.guid || there.active_guids.empty()) return is_in(there.active, port.device, port.number);
    return std::ranges::find(there.active_guids, port.guid) != there.active_guids.end();
  };
  if (kind == IncidentKind::kLinkDown && cause.kind == EntityKind::kHostPort) {
    const std::uint16_t number = cause.port.port.value;
    if (is_in(there.reported_down, cause.device, number)) return true;
    const PortWatch* const port = find_port(host, cause.device, number);
    return port ? is_up(*port) : is_in(there.active, cause.device, number);
  }
  // A cable is up when one of its ends is; a host that was down has a link again.
  const bool is_link = kind == IncidentKind::kLinkDown && cause.kind == EntityKind::kLink;
  if (!is_link && kind != IncidentKind::kNodeDown) return false;
  return std::ranges::any_of(host.ports, [&](const PortWatch& port) {
    if (!port.place || !port.place->is_ethernet) return false;
    return (is_link ? port.place->link.same_as(cause) : port.place->port.port.node == cause.port.node) && is_up(port);
  });
}

bool HostAnalyzer::is_forgotten(const Entity& cause) const {
  if (!cause.host.empty()) return find_host(cause.host) == nullptr;
  // An older weftd did not note who told: it may be any whose ports are not known.
  return host_at(cause.port.node) == nullptr && host_at(cause.peer.node) == nullptr &&
         std::ranges::all_of(hosts_, [](const auto& entry) { return entry.second.has_reading && !entry.second.lost; });
}

const HostWatch* HostAnalyzer::host_at(NodeGuid node) const {
  return host_in(host_of_node_, node);
}

/// The host that `names` has for the adapter, or null.
const HostWatch* HostAnalyzer::host_in(const std::unordered_map<NodeGuid, std::string>& names, NodeGuid node) const {
  const auto name = names.find(node);
  return name == names.end() ? nullptr : find_host(name->second);
}

void HostAnalyzer::complete(std::string_view fabric, std::vector<Finding>& findings, TimePoint now) {
  const auto find_host = [this](NodeGuid node) {
    const HostWatch* const host = host_at(node);
    return host ? host : host_in(down_before_, node);
  };
  outages_.apply(findings, find_host, now);
  for (const auto& [name, host] : hosts_) {
    if (!pause_storms_.any()) break;
    for (const PortWatch& port : host.ports)
      // A switch pauses for what stands still behind it.
      if (port.place && port.place->port.fabric == fabric && !is_of_a_switch(*port.place))
        pause_storms_.report(host, port, now, findings);
  }
  losses_.apply_findings(findings, now);
  add_jobs(findings);
  job_flaps_.apply(findings, fabric, true, now);
  for (Finding& finding : findings) weigh_jobs(finding);
  note_idle(findings, now);
  job_troubles_.apply_findings(findings, now);
  stragglers_.explain(fabric, hosts_, findings, now);
  for (Finding& finding : findings) {
    if (!is_congestion(finding.kind)) continue;
    losses_.apply_congestion(finding, now);
    for (const PortKey& end : {finding.cause.port, finding.cause.peer}) {
      const HostWatch* const host = end.node ? host_at(end.node) : nullptr;
      if (!host || host->lost) continue;
      for (const PortWatch& port : host->ports) {
        if (!port.place || port.place->port.port != end || port.place->port.fabric != fabric) continue;
        if (finding.kind == IncidentKind::kSlowReceiver && finding.cause.kind == EntityKind::kPort)
          stalls_.add(port, now, finding);
        if (port.place->is_ethernet) signals_.add(port, now, finding);
      }
    }
  }
  parts_.explain(findings, now);
  hangs_.apply_findings(findings, now);
}

void HostAnalyzer::add_jobs(std::vector<Finding>& findings) const {
  if (host_of_node_.empty()) return;
  for (Finding& finding : findings) {
    const auto add = [&](NodeGuid node) {
      const HostWatch* const host = node ? host_at(node) : nullptr;
      if (!host || host->lost) return;
      for (const std::string& job : host->jobs)
        if (finding.jobs.size() < kMostJobs && std::ranges::find(finding.jobs, job) == finding.jobs.end())
          finding.jobs.push_back(job);
    };
    const auto add_entity = [&](const Entity& entity) {
      add(entity.port.node);
      add(entity.peer.node);
    };
    add_entity(finding.cause);
    for (const Entity& entity : finding.affected) add_entity(entity);
  }
}

void HostAnalyzer::note_idle(std::vector<Finding>& findings, TimePoint now) const {
  const auto may_be_idle = [](const Finding& finding) {
    return (finding.kind == IncidentKind::kLinkDown || finding.kind == IncidentKind::kNodeDown) && finding.jobs.empty();
  };
  // Where no collector names a job, none of them may know how.
  const auto names_jobs = [](const auto& entry) { return !entry.second.jobs.empty(); };
  if (std::ranges::none_of(findings, may_be_idle) || std::ranges::none_of(hosts_, names_jobs)) return;
  for (Finding& finding : findings) {
    if (!may_be_idle(finding)) continue;
    for (const NodeGuid node : {finding.cause.port.node, finding.cause.peer.node}) {
      const HostWatch* const host = node ? host_at(node) : nullptr;
      if (!host || !host->jobs.empty() || now - host->heard > kPresent) continue;
      const bool is_switch = std::ranges::any_of(
          host->ports, [this](const PortWatch& port) { return port.place && is_of_a_switch(*port.place); });
      if (is_switch) continue;
      finding.evidence.push_back(
          fact(std::string(kNoJobSignal), "its collector named no job", host->heard, collector_of(host->name)));
      break;
    }
  }
}

}  // namespace weft::analyzer
