// SPDX-License-Identifier: Apache-2.0
#include "analyzer/links/outage_findings.hpp"

#include <algorithm>
#include <utility>

#include "analyzer/links/link_findings.hpp"

namespace weft::analyzer {
namespace {

/// Entities listed as affected: enough for people; links are never cut off, because a switch has 254 at most.
constexpr std::size_t kMostAffectedNodes = 1024;

class Writer {
 public:
  Writer(const Describe& describe, const LinkTable& table, const Sweep& sweep, std::vector<Finding>& findings)
      : describe_(describe), table_(table), sweep_(sweep), findings_(findings) {}

  void link(const Outage& outage);
  void whole(const Outage& outage);
  void silent(const Outage& outage);
  void fabric(const Outage& outage);

 private:
  void add_state(Finding& finding, LinkId id, bool high) const;
  void add_nodes(Finding& finding, const std::vector<NodeId>& nodes) const;

  const Describe& describe_;
  const LinkTable& table_;
  const Sweep& sweep_;
  std::vector<Finding>& findings_;
};

void Writer::add_state(Finding& finding, LinkId id, bool high) const {
  const LinkState& link = table_.links()[id];
  const EndView view = high ? link.high_view : link.low_view;
  const PortIndex index = high ? link.high : link.low;
  const Entity where = describe_.end(id, high);
  const bool unread = table_.nodes()[high ? link.high_node : link.low_node].unread;
  if (unread || view == EndView::kUnseen || index == kNoIndex) {
    if (unread) return;  // nobody asked it
    finding.evidence.push_back(fact("port_unreadable", where.label + " did not respond", sweep_.finished, where));
    return;
  }
  const Port& port = sweep_.topology->port(index);
  const TimePoint read_at = index < sweep_.state_read_at.size() ? sweep_.state_read_at[index] : kNever;
  std::string state = where.label + " was " + to_string(port.state);
  if (port.physical_state != PortPhysicalState::kUnknown || !sweep_.topology->is_ethernet())
    state += std::string(", physical state ") + to_string(port.physical_state);
  finding.evidence.push_back({.signal = "port_state",
                              .description = std::move(state),
                              .value = static_cast<double>(port.state),
                              .threshold = static_cast<double>(PortState::kActive),
                              .unit = "",
                              .observed = read_at == kNever ? sweep_.finished : read_at,
                              .where = where});
}

void Writer::add_nodes(Finding& finding, const std::vector<NodeId>& nodes) const {
  for (std::size_t i = 0; i < std::min(nodes.size(), kMostAffectedNodes); ++i)
    finding.affected.push_back(describe_.node(nodes[i]));
}

void Writer::link(const Outage& outage) {
  const LinkState& link = table_.links()[outage.link];
  std::vector<NodeId> behind = outage.nodes;
  std::erase(behind, describe_.adapter_of(outage.link));
  const auto either = [&](EndView view) { return link.low_view == view || link.high_view == view; };
  const auto end = [&](bool high) { return describe_.end(outage.link, high).label; };
  LinkDown down{.sight = LinkDown::Sight::kBothEnds, .where = {}, .behind = behind.size()};
  if (either(EndView::kDisabled)) {
    down.sight = LinkDown::Sight::kDisabled;
    down.where = end(link.high_view == EndView::kDisabled);
  } else if (link.view == LinkView::kTraining) {
    down.sight = LinkDown::Sight::kTraining;
  } else if (link.view == LinkView::kDisagreement) {
    down.sight = LinkDown::Sight::kDisagreement;
  } else if (either(EndView::kUnseen)) {
    const bool ethernet = sweep_.topology->is_ethernet();
    down.sight = ethernet ? LinkDown::Sight::kOneEnd : LinkDown::Sight::kNoResponse;
    down.where = end(ethernet ? link.low_view == EndView::kUnseen : link.high_view == EndView::kUnseen);
  } else if (either(EndView::kUp)) {
    down.sight = LinkDown::Sight::kNotRead;
    down.where = end(link.high_view == EndView::kUp);
  }
  Finding finding = link_down(reported_link(describe_, outage.link), down);
  add_nodes(finding, behind);
  add_state(finding, outage.link, false);
  add_state(finding, outage.link, true);
  findings_.push_back(std::move(finding));
}

void Writer::whole(const Outage& outage) {
  const bool is_switch = outage.kind == OutageKind::kSwitch;
  Finding finding = make_finding(is_switch ? IncidentKind::kSwitchDown : IncidentKind::kNodeDown, Severity::kCritical,
                                 is_switch ? describe_.node(outage.node) : describe_.host(outage.host));
  bool disabled = true;
  std::vector<NodeId> hosts;
  for (const LinkId id : outage.links) {
    finding.affected.push_back(describe_.link(id));
    const LinkState& link = table_.links()[id];
    disabled = disabled && (link.low_view == EndView::kDisabled || link.high_view == EndView::kDisabled);
    if (const NodeId adapter = describe_.adapter_of(id); is_switch && adapter != kNoIndex) hosts.push_back(adapter);
  }
  add_nodes(finding, hosts);
  std::vector<NodeId> behind = outage.nodes;
  std::erase_if(behind, [&](NodeId node) { return std::ranges::find(hosts, node) != hosts.end(); });
  add_nodes(finding, behind);
  std::size_t shown = 0;
  for (const LinkId id : outage.links) {
    const LinkState& link = table_.links()[id];
    if (shown == 4) break;
    if (link.low_view == EndView::kUnseen && link.high_view == EndView::kUnseen) continue;
    const bool far_is_high = is_switch ? link.low_node == outage.node : link.high_view != EndView::kUnseen;
    add_state(finding, id, far_is_high);
    ++shown;
  }
  finding.confidence = 0.95;
  finding.summary = std::string(is_switch ? "Switch " : "Host ") + finding.cause.label + " is down: none of its " +
                    std::to_string(outage.links.size()) + " links is up";
  if (disabled) {
    finding.severity = Severity::kWarning;
    finding.summary += ", all administratively disabled";
  }
  if (!hosts.empty()) finding.summary += ", " + std::to_string(hosts.size()) + " adapters are connected to it";
  findings_.push_back(std::move(finding));
}

void Writer::silent(const Outage& outage) {
  const bool counters_only = outage.kind == OutageKind::kCountersSilent;
  Finding finding = make_finding(IncidentKind::kTelemetryLost, Severity::kWarning, describe_.node(outage.node));
  finding.confidence = 0.9;
  finding.summary =
      finding.cause.label + (counters_only
                                 ? " responds, but its counters can no longer be read"
                                 : " does not respond to management requests, while its peers report its links as up");
  if (!outage.nodes.empty())
    finding.summary += "; " + std::to_string(outage.nodes.size()) + " nodes behind it are unreachable";
  add_nodes(finding, outage.nodes);
  if (counters_only) {
    finding.evidence.push_back(fact("counters_read_at", "the last successful reading of its counters was too old",
                                    sweep_.finished, finding.cause));
  } else {
    std::size_t shown = 0;
    for (const LinkId id : table_.links_of(outage.node)) {
      const LinkState& link = table_.links()[id];
      if (link.view != LinkView::kUp || shown == 4) continue;
      add_state(finding, id, link.low_node == outage.node);
      ++shown;
    }
  }
  findings_.push_back(std::move(finding));
}

void Writer::fabric(const Outage& outage) {
  Finding finding = make_finding(IncidentKind::kTelemetryLost, Severity::kCritical, describe_.fabric());
  finding.confidence = 0.8;
  finding.summary = "Fabric " + finding.cause.label + " cannot be monitored: " + outage.reason;
  for (const LinkId id : outage.links) {
    finding.affected.push_back(describe_.link(id));
    add_state(finding, id, false);
    add_state(finding, id, true);
  }
  add_nodes(finding, outage.nodes);
  findings_.push_back(std::move(finding));
}

}  // namespace

void report_outages(const OutageReport& report, const Describe& describe, const LinkTable& table,
                    const FlapTracker& flaps, const Sweep& sweep, std::vector<Finding>& findings) {
  Writer writer(describe, table, sweep, findings);
  for (const Outage& outage : report.outages) {
    switch (outage.kind) {
      case OutageKind::kLink: {
        const TimePoint since = table.links()[outage.link].down_since;
        if (!flaps.hides_down(outage.link, since, sweep.finished)) writer.link(outage);
        break;
      }
      case OutageKind::kSwitch:
      case OutageKind::kHost:
        writer.whole(outage);
        break;
      case OutageKind::kNodeSilent:
      case OutageKind::kCountersSilent:
        writer.silent(outage);
        break;
      case OutageKind::kFabric:
        writer.fabric(outage);
        break;
    }
  }
}

}  // namespace weft::analyzer
