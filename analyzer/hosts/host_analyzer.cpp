// SPDX-License-Identifier: Apache-2.0
#include "analyzer/hosts/host_analyzer.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "analyzer/hosts/host_findings.hpp"
#include "analyzer/ports/describe.hpp"

namespace weft::analyzer {
namespace {

/// A judgement that comes after so many times the usual time means that the clock was set, or this process stood still.
constexpr int kLeap = 3;

Entity all_collectors() {
  return {.kind = EntityKind::kFabric, .fabric = {}, .port = {}, .peer = {}, .label = "collectors of many hosts"};
}

/// What hosts count that adapters do not break together. Hosts are judged each second, in windows of their own.
MassAlarmScope mass_scope(const Thresholds& thresholds) {
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
      started_(now),
      losses_(thresholds.loss),
      stragglers_(thresholds),
      job_troubles_(thresholds),
      mass_(mass_scope(thresholds)) {}

void HostAnalyzer::remember(const Incident& incident) {
  const Entity& cause = incident.finding.cause;
  if (!incident.is_open() || cause.kind != EntityKind::kHostPort) return;
  HostWatch& host = hosts_[cause.host];
  host.name = cause.host;
  if (find_port(host, cause.device, cause.port.port.value)) return;
  PortWatch& port = host.ports.emplace_back();
  port.device = cause.device;
  port.number = cause.port.port.value;
  port.label = cause.label;
  port.present = false;
  port.was_up = true;
  port.down_reported = incident.finding.kind == IncidentKind::kLinkDown;
}

void HostAnalyzer::restore(const std::string& name, std::span<const HostFlapState> flaps) {
  HostWatch& host = hosts_[name];
  host.name = name;
  for (const HostFlapState& known : flaps) {
    PortWatch* port = find_port(host, known.device, known.port);
    if (!port) {
      port = &host.ports.emplace_back();
      port->device = known.device;
      port->number = known.port;
      port->present = false;
    }
    port->flaps = std::make_unique<FlapRecord>();
    port->flaps->restore(known.state, thresholds_);
  }
}

std::vector<HostFlapState> HostAnalyzer::flaps(const std::string& name) const {
  std::vector<HostFlapState> flaps;
  const auto found = hosts_.find(name);
  if (found == hosts_.end()) return flaps;
  for (const PortWatch& port : found->second.ports)
    if (port.flaps) flaps.push_back({port.device, port.number, port.flaps->state});
  return flaps;
}

void HostAnalyzer::join(std::span<const FabricView> fabrics) {
  // Without a host that tells of its losses nobody asks where packets went.
  losses_.watch(hosts_.empty() ? std::span<const FabricView>() : fabrics);
  std::vector<Subnet> subnets;
  for (const FabricView& view : fabrics)
    if (view.watching && view.sweep && view.sweep->topology) subnets.push_back({view.name, view.sweep->topology});
  const bool same = std::ranges::equal(
      subnets, subnets_, [](const Subnet& a, const Subnet& b) { return a.topology == b.topology && a.name == b.name; });
  if (!same && !(hosts_.empty() && subnets_.empty())) rearrange(std::move(subnets));
  if (!subnets_.empty()) stragglers_.watch(fabrics, hosts_);
}

void HostAnalyzer::hear(const std::string& name, Duration interval, TimePoint now) {
  const auto [found, added] = hosts_.try_emplace(name);
  HostWatch& host = found->second;
  // After our own start those come that were there all the time.
  if (added && now - started_ >= thresholds_.telemetry_start_grace) host.came = now;
  host.name = name;
  host.heard = now;
  host.unheard = 0;
  host.interval = interval;
}

void HostAnalyzer::expect(const std::string& name, TimePoint heard) {
  HostWatch& host = hosts_[name];
  host.name = name;
  host.heard = heard;
}

void HostAnalyzer::forget(const std::string& name) {
  hosts_.erase(name);
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

bool HostAnalyzer::take(const std::string& name, const HostBatch& batch) {
  const auto found = hosts_.find(name);
  if (found == hosts_.end()) return false;
  HostWatch& host = found->second;
  bool flapped = false;
  if (batch.reading && batch.reading->inventory) {
    mark_exempt(host, batch.reading->taken);
    const bool devices = host.inventory != batch.reading->inventory;
    flapped = take_reading(host, *batch.reading, batch.is_late, thresholds_);
    if (devices && !subnets_.empty()) place(host);
  }
  for (const LinkEvent& event : batch.events) {
    mark_exempt(host, event.at);
    flapped = take_event(host, event, batch.is_late, thresholds_) || flapped;
  }
  const bool news = std::ranges::any_of(host.ports, &PortWatch::news);
  if (news && (news_.empty() || news_.back() != name)) news_.push_back(name);
  return flapped;
}

std::vector<Finding> HostAnalyzer::news(TimePoint now) {
  std::vector<Finding> findings;
  for (const std::string& name : std::exchange(news_, {})) {
    const auto found = hosts_.find(name);
    if (found == hosts_.end()) continue;
    for (PortWatch& port : found->second.ports)
      if (std::exchange(port.news, false)) report_link(found->second, port, true, thresholds_, now, findings);
  }
  return findings;
}

Duration HostAnalyzer::patience(const HostWatch& host) const {
  return std::max(host.interval * thresholds_.telemetry_lost_intervals, thresholds_.collector_silence_minimum);
}

bool HostAnalyzer::is_lost(const HostWatch& host, TimePoint now) const {
  // After our own start collectors need a moment to find us again.
  if (host.heard < started_ && now - started_ < thresholds_.telemetry_start_grace) return false;
  return host.unheard >= kSilentJudgements && now - host.heard > patience(host);
}

void HostAnalyzer::tolerate_clock_jump(TimePoint now) {
  const Duration step = judged_ == kNever ? Duration::zero() : now - judged_;
  const bool leapt = step_ > Duration::zero() && step > kLeap * step_ && step > thresholds_.collector_silence_minimum;
  judged_ = now;
  step_ = leapt ? 2 * step_ : step;  // unless it stays so slow
  if (!leapt) return;
  for (auto& [name, host] : hosts_)
    if (host.heard != kNever) host.heard = std::min(host.heard + step, now);
}

void HostAnalyzer::report_lost(TimePoint now, std::vector<Finding>& findings) {
  tolerate_clock_jump(now);
  std::vector<HostWatch*> lost;
  for (auto& [name, host] : hosts_) {
    host.heard = std::min(host.heard, now);  // the clock may have been set back
    host.unheard = std::min(host.unheard + 1, kSilentJudgements);
    host.lost = is_lost(host, now);
    if (host.lost) lost.push_back(&host);
    host.lost_alone = host.lost_alone && host.lost;
  }
  const double share = static_cast<double>(lost.size()) / static_cast<double>(std::max<std::size_t>(1, hosts_.size()));
  // Once they are many, half as many are still many: no going to and fro at the limit.
  const double ease = many_lost_ ? 0.5 : 1.0;
  many_lost_ = static_cast<double>(lost.size()) >= ease * thresholds_.telemetry_mass_minimum &&
               (static_cast<double>(lost.size()) >= ease * thresholds_.telemetry_mass_nodes ||
                share >= ease * thresholds_.telemetry_mass_share);
  const auto evidence = [&](const Entity& where, std::string text, double value, double limit, const char* unit) {
    return Evidence{.signal = "collector_silence",
                    .description = std::move(text),
                    .value = value,
                    .threshold = limit,
                    .unit = unit,
                    .observed = now,
                    .where = where};
  };
  if (many_lost_) {
    Finding finding = make_finding(IncidentKind::kTelemetryLost, Severity::kCritical, all_collectors());
    finding.confidence = 0.9;
    finding.summary =
        "Collectors of many hosts are silent at once; suspected cause: the network between them and weftd";
    // Those with an incident of their own first: they become part of this one.
    std::stable_partition(lost.begin(), lost.end(), [](const HostWatch* host) { return host->lost_alone; });
    for (HostWatch* host : lost) {
      if (finding.affected.size() < kMostAffected) finding.affected.push_back(collector_of(host->name));
      host->lost_alone = false;
    }
    finding.evidence.push_back(evidence(
        finding.cause, std::to_string(lost.size()) + " of " + std::to_string(hosts_.size()) + " collectors are silent",
        static_cast<double>(lost.size()), 0, "hosts"));
    findings.push_back(std::move(finding));
    return;
  }
  for (HostWatch* host : lost) {
    host->lost_alone = true;
    Finding finding = make_finding(IncidentKind::kTelemetryLost, Severity::kWarning, collector_of(host->name));
    finding.confidence = 0.99;
    finding.jobs = host->jobs;
    finding.summary = "No data from the collector of " + host->name;
    finding.evidence.push_back(evidence(finding.cause,
                                        "its last data came " + short_duration(now - host->heard) + " ago",
                                        seconds(now - host->heard), seconds(patience(*host)), "s"));
    findings.push_back(std::move(finding));
  }
}

Analysis HostAnalyzer::judge(TimePoint now) {
  Analysis analysis;
  report_lost(now, analysis.findings);
  std::vector<Finding> lost;
  losses_.judge(hosts_, now, lost);
  std::vector<Finding> troubles;
  std::size_t ports = 0;
  for (auto& [name, host] : hosts_) {
    if (host.lost || !host.has_reading) continue;
    ports += host.ports.size();
    if (host.unheard <= 1) forget_missing(host, thresholds_, now);  // it was heard just now
    for (PortWatch& port : host.ports) {
      report_link(host, port, std::exchange(port.news, false), thresholds_, now, analysis.findings);
      report_troubles(host, port, thresholds_, now, troubles);
      report_pauses(host, port, thresholds_, now, analysis.findings);
    }
    report_trends(host, thresholds_, now, analysis.findings);
  }
  std::erase_if(troubles, [&](const Finding& trouble) { return losses_.absorb(trouble, lost); });
  add_jobs(lost);
  job_troubles_.apply_findings(analysis.findings, now);
  job_troubles_.gather(troubles, now);
  for (Finding& loss : lost) {
    // Where the counters of the fabric agree, two have seen it.
    const bool confirmed = std::ranges::find(loss.evidence, "packet_balance", &Evidence::signal) != loss.evidence.end();
    (confirmed ? analysis.findings : troubles).push_back(std::move(loss));
  }
  mass_.hold_back(troubles, ports, all_collectors(), now);
  std::ranges::move(troubles, std::back_inserter(analysis.findings));
  stragglers_.judge(hosts_, now, analysis.findings);
  news_.clear();
  analysis.coverage =
      Coverage::of_hosts([this, now](IncidentKind kind, const Entity& cause) { return observed(kind, cause, now); });
  return analysis;
}

bool HostAnalyzer::observed(IncidentKind kind, const Entity& cause, TimePoint now) const {
  const bool settled = now - started_ >= thresholds_.telemetry_start_grace;
  if (cause.fabric != kHostsFabric) {
    if (kind == IncidentKind::kSilentLoss) return losses_.has_judged(cause.fabric);
    if (kind == IncidentKind::kStraggler && !settled) return false;
    const auto is_heard = [this](NodeGuid node) {
      const HostWatch* const host = host_at(node);
      return host && host->has_reading && !host->lost;
    };
    if (kind == IncidentKind::kLinkDegraded)
      return is_degradable(cause) && (is_heard(cause.port.node) || is_heard(cause.peer.node));
    if (kind != IncidentKind::kRdmaErrors && kind != IncidentKind::kStraggler) return false;
    return is_heard(cause.port.node);
  }
  if (cause.kind == EntityKind::kFabric) return settled;
  const auto found = hosts_.find(cause.host);
  // Who is forgotten has no trouble any more.
  if (found == hosts_.end()) return settled;
  const HostWatch& host = found->second;
  if (cause.kind == EntityKind::kCollector) return !many_lost_ || !host.lost;
  const PortWatch* const port = find_port(host, cause.device, cause.port.port.value);
  // A port that is forgotten has no trouble any more either.
  if (kind == IncidentKind::kStraggler && !settled) return false;
  return host.has_reading && !host.lost && (!port || port->present || is_gone(*port));
}

const HostWatch* HostAnalyzer::host_at(NodeGuid node) const {
  const auto name = host_of_node_.find(node);
  if (name == host_of_node_.end()) return nullptr;
  const auto found = hosts_.find(name->second);
  return found == hosts_.end() ? nullptr : &found->second;
}

void HostAnalyzer::complete(std::string_view fabric, std::vector<Finding>& findings, TimePoint now) {
  losses_.apply_findings(findings, now);
  add_jobs(findings);
  job_troubles_.apply_findings(findings, now);
  stragglers_.explain(fabric, hosts_, findings, now);
  for (Finding& finding : findings) {
    if (!is_congestion(finding.kind)) continue;
    for (const PortKey& end : {finding.cause.port, finding.cause.peer}) {
      const HostWatch* const host = end.node ? host_at(end.node) : nullptr;
      if (!host || host->lost) continue;
      for (const PortWatch& port : host->ports) {
        if (!port.place || port.place->port.port != end || port.place->port.fabric != fabric) continue;
        if (finding.kind == IncidentKind::kSlowReceiver && finding.cause.kind == EntityKind::kPort)
          add_stalls(port, thresholds_, now, finding);
        if (port.place->is_ethernet) add_signals(port, now, finding);
      }
    }
  }
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

}  // namespace weft::analyzer
