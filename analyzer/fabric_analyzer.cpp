// SPDX-License-Identifier: Apache-2.0
#include "analyzer/fabric_analyzer.hpp"

#include <algorithm>
#include <utility>

#include "analyzer/advice/link_cases.hpp"
#include "analyzer/congestion/congestion_findings.hpp"
#include "analyzer/incidents/mass_alarms.hpp"
#include "analyzer/links/degraded.hpp"
#include "analyzer/links/error_windows.hpp"
#include "analyzer/links/fec_trend.hpp"
#include "analyzer/links/flaps.hpp"
#include "analyzer/links/joined_state.hpp"
#include "analyzer/links/miscabled.hpp"
#include "analyzer/links/outage_findings.hpp"
#include "analyzer/links/outages.hpp"
#include "analyzer/links/planned_links.hpp"
#include "analyzer/links/stuck.hpp"
#include "analyzer/places/place_finder.hpp"
#include "analyzer/places/ranks.hpp"
#include "analyzer/ports/describe.hpp"
#include "analyzer/ports/double_guids.hpp"
#include "analyzer/ports/freshness.hpp"
#include "analyzer/ports/link_table.hpp"
#include "analyzer/ports/named_plan.hpp"
#include "analyzer/ports/rates.hpp"

namespace weft::analyzer {
namespace {

MassAlarmScope mass_scope(const Thresholds& thresholds) {
  MassAlarmScope scope{.limits = {}, .hold = thresholds.mass_hold};
  for (const IncidentKind kind :
       {IncidentKind::kLinkErrors, IncidentKind::kLinkFlap, IncidentKind::kLinkDegraded, IncidentKind::kCounterStuck})
    scope.limits.push_back({kind, thresholds.mass_minimum_links, thresholds.mass_alarm_share});
  return scope;
}

}  // namespace

struct FabricAnalyzer::Implementation {
  Implementation(std::string name, Thresholds limits)
      : fabric(std::move(name)),
        thresholds(limits),
        table(thresholds),
        describe(fabric, table),
        outages(thresholds),
        flaps(thresholds),
        errors(thresholds),
        fec_trends(thresholds),
        stuck(thresholds),
        mass(mass_scope(thresholds)),
        congestion(thresholds.congestion),
        cabling(thresholds) {}
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;

  Coverage coverage(const Sweep& sweep, const OtherSubnets& others) const;
  bool has_left(const Entity& cause, const OtherSubnets& others) const;
  bool match_expected(const Topology& seen);

  // The parts below refer to these two and to the table: the object never moves.
  std::string fabric;
  Thresholds thresholds;
  LinkTable table;
  DoubleGuids doubles;
  PlannedLinks planned;
  Describe describe;
  CounterTracker counters;
  OutageFinder outages;
  FlapTracker flaps;
  ErrorWindows errors;
  DegradedLinks degraded;
  FecTrends fec_trends;
  LinkCases cases;
  StuckCounters stuck;
  MassAlarms mass;
  Congestion congestion;
  Cabling cabling;
  ExpectedCabling expected;
  bool is_matched = true;  ///< what is expected is in force: the first sweep afterwards makes it so

  std::shared_ptr<const std::vector<AbsentLink>> absent_links;
  std::shared_ptr<const Topology> topology;  ///< of the last sweep
  std::vector<std::uint8_t> ranks;           ///< of its nodes
  TimePoint last_sweep = kNever;
  TimePoint silent_since = kNever;
  Duration interval = std::chrono::seconds(1);
};

FabricAnalyzer::FabricAnalyzer(std::string fabric, Thresholds thresholds)
    : implementation_(std::make_unique<Implementation>(std::move(fabric), thresholds)) {}
FabricAnalyzer::~FabricAnalyzer() = default;
FabricAnalyzer::FabricAnalyzer(FabricAnalyzer&&) noexcept = default;
FabricAnalyzer& FabricAnalyzer::operator=(FabricAnalyzer&&) noexcept = default;

const std::string& FabricAnalyzer::fabric() const {
  return implementation_->fabric;
}

void FabricAnalyzer::expect(ExpectedCabling expected) {
  Implementation& self = *implementation_;
  self.expected = std::move(expected);
  self.is_matched = false;
  // Links by their GUIDs are known before the first sweep, and remember() may ask for them.
  if (self.expected.by_guid) self.table.expect(self.expected.by_guid.get());
}

void FabricAnalyzer::restore(const AnalyzerState& state) {
  implementation_->table.restore(state.links);
  implementation_->flaps.restore(state.flaps, implementation_->table);
  implementation_->errors.restore(state.errors);
  implementation_->fec_trends.restore(state.fec_baselines);
}

void FabricAnalyzer::rename_subnet(std::string_view before, const std::string& since) {
  implementation_->doubles.rename_subnet(before, since);
}

void FabricAnalyzer::remember(const Incident& incident) {
  implementation_->doubles.remember(incident, implementation_->fabric);
  if (incident.finding.cause.fabric != implementation_->fabric) return;
  implementation_->outages.remember(implementation_->table, incident);
  implementation_->errors.remember(incident);
}

void FabricAnalyzer::set_maintenance_windows(MaintenanceListPtr windows) {
  implementation_->planned.set(std::move(windows));
}

AnalyzerState FabricAnalyzer::state() const {
  const Implementation& self = *implementation_;
  return {self.table.known_links(), self.flaps.state(self.table), self.errors.state(), self.fec_trends.baselines()};
}

std::optional<AnalyzerState> FabricAnalyzer::joined_state(const AnalyzerState& stored) const {
  return analyzer::joined_state(implementation_->table, state(), stored);
}

std::vector<NodeGuid> FabricAnalyzer::switches() const {
  return implementation_->table.known_switches();
}

std::uint64_t FabricAnalyzer::links_revision() const {
  return implementation_->table.revision();
}

std::uint64_t FabricAnalyzer::history_revision() const {
  return implementation_->flaps.revision() + implementation_->errors.revision();
}

/// Puts what is expected in force: when it is new, and where it names nodes, when other nodes are seen. True when it
/// has changed.
bool FabricAnalyzer::Implementation::match_expected(const Topology& seen) {
  std::shared_ptr<const Topology> matched = expected.by_guid;
  std::vector<IgnoredCable> ignored;
  if (expected.by_name) {
    PlanOnSubnet plan = seen.is_ethernet() ? plan_on_ethernet(*expected.by_name, seen)
                                           : plan_on_subnet(*expected.by_name, seen, table.nodes());
    matched = std::move(plan.topology);
    ignored = std::move(plan.ignored);
  }
  const auto same_guids = [&] {
    const Topology& before = *cabling.expected();
    if (!std::ranges::equal(matched->nodes(), before.nodes(), {}, &Node::guid, &Node::guid)) return false;
    // Of a fabric that is found ports get their numbers as they are found.
    return !seen.is_ethernet() || std::ranges::equal(matched->ports(), before.ports(), {}, &Port::peer, &Port::peer);
  };
  if (std::exchange(is_matched, true) &&
      (matched == cabling.expected() || (matched && cabling.expected() && same_guids())))
    return false;
  table.expect(matched.get());
  cabling.expect(std::move(matched), std::move(ignored));
  return true;
}

Coverage FabricAnalyzer::Implementation::coverage(const Sweep& sweep, const OtherSubnets& others) const {
  const Topology& seen = *sweep.topology;
  const Duration stale = stale_after(sweep, thresholds);
  std::vector<std::uint8_t> ports(seen.ports().size(), 0);
  const bool have_counters = sweep.counters && sweep.counters->rows() >= ports.size();
  for (PortIndex port = 0; port < ports.size(); ++port) {
    unsigned bits = 0;
    if (table.state_fresh(port)) {
      bits |= Coverage::kStateFresh;
      if (seen.port(port).is_up()) bits |= Coverage::kActive;
    }
    if (have_counters) {
      const TimePoint read_at = sweep.counters->read_at(port);
      if (read_at != kNever && read_at + stale >= sweep.finished) bits |= Coverage::kCountersFresh;
    }
    if (errors.judged(port)) bits |= Coverage::kErrorsJudged;
    ports[port] = static_cast<std::uint8_t>(bits);
  }
  return Coverage(
      sweep.topology, std::move(ports), stuck.warm(), [this](NodeGuid node) { return table.is_cut_off(node); },
      [this, others](const Entity& cause) { return has_left(cause, others); });
}

// What the rules still expect here they judge themselves.
bool FabricAnalyzer::Implementation::has_left(const Entity& cause, const OtherSubnets& others) const {
  const auto is_there = [&](PortKey end) {
    const NodeId id = table.find_node(end.node);
    if (doubles.has(end.node)) return false;
    if (end.port.value == 0) return others.find_node(end.node) != nullptr;
    const bool is_switch = id != kNoIndex && table.nodes()[id].type == NodeType::kSwitch;
    return others.find_end(end, is_switch, kNever) != nullptr;
  };
  const auto is_up_elsewhere_here = [&](PortKey end, LinkId link) {
    const PortIndex port = topology ? topology->find_port(end) : kNoIndex;
    const LinkId present = port == kNoIndex ? kNoIndex : table.link_at(port);
    return present != kNoIndex && present != link && table.links()[present].view == LinkView::kUp;
  };
  if (cause.kind == EntityKind::kLink) {
    const LinkId link = table.find_link(make_link_key(cause.port, cause.peer));
    const bool is_expected = link != kNoIndex && table.links()[link].counts();
    return !is_expected && (is_there(cause.port) || is_there(cause.peer) || is_up_elsewhere_here(cause.port, link) ||
                            is_up_elsewhere_here(cause.peer, link));
  }
  if (cause.kind == EntityKind::kPort) return !table.is_expected_at(cause.port) && is_there(cause.port);
  // A switch has left whatever it left behind.
  const NodeId node = table.find_node(cause.port.node);
  const bool is_adapter = node != kNoIndex && table.nodes()[node].type != NodeType::kSwitch;
  const bool is_expected = is_adapter && std::ranges::any_of(table.links_of(node),
                                                             [&](LinkId link) { return table.links()[link].counts(); });
  return !is_expected && is_there({cause.port.node, PortNum{}});
}

Analysis FabricAnalyzer::analyze(const Sweep& sweep, TimePoint now, std::span<const MarkedPort> marks,
                                 const OtherSubnets& others) {
  Implementation& self = *implementation_;
  if (!sweep.topology || (sweep.counters && sweep.counters->rows() < sweep.topology->ports().size()))
    return silent(now, "the last sweep was not complete");
  bool changed = self.topology != sweep.topology;
  const bool new_epoch = !self.topology || self.topology->epoch() != sweep.topology->epoch();
  const bool recabled = !self.topology || (changed && !same_cabling(*self.topology, *sweep.topology));
  self.topology = sweep.topology;
  self.last_sweep = std::max(now, sweep.finished);
  self.silent_since = kNever;
  self.interval = effective_interval(sweep);

  if (changed || !self.is_matched) changed = self.match_expected(*sweep.topology) || changed;
  self.doubles.observe(sweep, others);
  self.table.observe(sweep, others, self.doubles);
  const CounterPass& pass = self.counters.update(sweep, stale_after(sweep, self.thresholds));
  const OutageReport outages = self.outages.find(self.table, sweep, now);
  self.planned.update(self.table, *sweep.topology, self.fabric, now);
  self.flaps.update(self.table, pass, self.planned, new_epoch || outages.blind, now);
  self.errors.update(*sweep.topology, pass, self.counters.line_rates(), self.planned, now);
  self.errors.release(*sweep.topology, self.table);
  self.fec_trends.update(sweep, self.counters.line_rates(), pass.errors);
  self.cases.update(sweep, self.table, pass, now);
  self.stuck.update(sweep, self.table, pass);
  if (changed) {
    if (recabled) self.ranks = node_ranks(*sweep.topology);
    self.degraded.update(*sweep.topology, self.table);
    self.cabling.update(*sweep.topology, self.table, self.describe, now);
    auto absent = self.table.absent_links();
    self.absent_links = absent.empty() ? nullptr : std::make_shared<const std::vector<AbsentLink>>(std::move(absent));
  }

  Analysis analysis;
  analysis.rates = pass.rates;
  analysis.cabling = self.cabling.differences();
  analysis.absent_links = self.absent_links;
  std::vector<Finding>& findings = analysis.findings;
  report_outages(outages, {self.describe, self.table, self.flaps, sweep, self.ranks, self.thresholds}, findings);
  if (outages.blind) return analysis;
  self.flaps.report(self.describe, self.table, now, findings);
  self.degraded.report(*sweep.topology, self.table, self.describe, now, findings);
  self.fec_trends.report(*sweep.topology, self.table, self.describe, now, findings);
  self.errors.report(*sweep.topology, self.table, self.describe, now, findings);
  self.stuck.report(sweep, self.describe, pass, findings);
  self.mass.hold_back(findings, self.table.links().size(), self.describe.fabric(), now);
  self.congestion.report(sweep, pass, self.counters.line_rates(), self.table, self.describe, marks, findings);
  findings.insert(findings.end(), self.cabling.findings().begin(), self.cabling.findings().end());
  report_duplicates(*sweep.topology, self.table, self.describe, now, findings);
  self.doubles.report(self.describe, self.table, now, findings);
  analysis.cases =
      self.cases.cases(sweep, self.table, self.describe, findings, self.flaps.flapped_since(now - kInTrouble), now);
  for (LinkCase& one : analysis.cases)
    one.is_slow_by_configuration = self.degraded.is_by_configuration(self.table.find_link(one.key));
  // Behind all others: it is neither a reason for them nor one of many alarms.
  self.flaps.report_single(self.describe, now, findings);
  analysis.coverage = self.coverage(sweep, others);
  return analysis;
}

Analysis FabricAnalyzer::silent(TimePoint now, std::string_view reason, std::string_view otherwise) {
  Implementation& self = *implementation_;
  // A clock that was set back must not hide the silence until it has caught up.
  self.last_sweep = std::min(self.last_sweep, now);
  self.silent_since = std::min(self.silent_since, now);
  if (self.silent_since == kNever) self.silent_since = self.last_sweep == kNever ? now : self.last_sweep;
  Analysis analysis;
  const Duration age = now - self.silent_since;
  Duration patience = self.interval * self.thresholds.telemetry_lost_intervals;
  if (self.last_sweep == kNever) patience = std::max(patience, self.thresholds.telemetry_start_grace);
  if (reason.empty() && age < patience) return analysis;
  // Where the reason is not known the next sweep may only be late.
  const bool may_be_late = reason.empty() && age < self.thresholds.telemetry_lost_hold;
  Finding finding = make_finding(IncidentKind::kTelemetryLost, may_be_late ? Severity::kWarning : Severity::kCritical,
                                 self.describe.fabric());
  finding.confidence = 0.99;
  finding.summary = "Fabric " + self.fabric + " is not monitored: " + std::string(reason.empty() ? otherwise : reason);
  finding.evidence.push_back(
      {.signal = "sweep_age",
       .description = self.last_sweep == kNever
                          ? "no sweep since the start"
                          : "the last sweep was " + short_duration(now - self.last_sweep) + " old",
       .value = seconds(age),
       .threshold = seconds(patience),
       .unit = "s",
       .observed = now,
       .where = finding.cause});
  analysis.findings.push_back(std::move(finding));
  return analysis;
}

}  // namespace weft::analyzer
