// SPDX-License-Identifier: Apache-2.0
#include "analyzer/links/outage_findings.hpp"

#include <algorithm>
#include <utility>

#include "analyzer/links/link_findings.hpp"
#include "analyzer/ports/freshness.hpp"

namespace weft::analyzer {
namespace {

/// Nodes listed as affected: enough for people. Links are not cut off here: a switch has 254 at most, and those that
/// are not activated IncidentManager needs all.
constexpr std::size_t kMostAffectedNodes = 1024;
/// Links of many whose states are shown.
constexpr std::size_t kMostStates = 4;

class Writer {
 public:
  Writer(const OutageView& view, std::vector<Finding>& findings)
      : view_(view), describe_(view.describe), table_(view.table), sweep_(view.sweep), findings_(findings) {}

  void link(const Outage& outage);
  void group(const Outage& outage);
  void whole(const Outage& outage);
  void silent(const Outage& outage);
  void unread(const Outage& outage);
  void not_activated(const Outage& outage);
  void fabric(const Outage& outage);

 private:
  void add_state(Finding& finding, LinkId id, bool high) const;
  void add_states(Finding& finding, const std::vector<LinkId>& links, NodeId node) const;
  void add_nodes(Finding& finding, const std::vector<NodeId>& nodes) const;
  void add_waiting(Finding& finding, const Outage& outage) const;
  void add_live_links(Finding& finding, NodeId node) const;
  void add_waits_for_manager(Finding& finding) const;

  const OutageView& view_;
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

/// Of some links that are down at `node`, what the other end says, or where that is not seen, this one.
void Writer::add_states(Finding& finding, const std::vector<LinkId>& links, NodeId node) const {
  std::size_t shown = 0;
  for (const LinkId id : links) {
    const LinkState& link = table_.links()[id];
    if (shown == kMostStates) break;
    if (link.low_view == EndView::kUnseen && link.high_view == EndView::kUnseen) continue;
    const bool far_is_high = link.low_node == node;
    const bool far_is_seen = (far_is_high ? link.high_view : link.low_view) != EndView::kUnseen;
    add_state(finding, id, far_is_seen == far_is_high);
    ++shown;
  }
}

/// Nodes whose counters wait for the routes that change because of the outage.
void Writer::add_waiting(Finding& finding, const Outage& outage) const {
  if (outage.counters_waiting == 0) return;
  finding.evidence.push_back(
      {.signal = "counters_waiting",
       .description = "the counters of " + std::to_string(outage.counters_waiting) + " nodes could not be read",
       .value = static_cast<double>(outage.counters_waiting),
       .unit = "nodes",
       .observed = sweep_.finished,
       .where = finding.cause});
}

/// It has trained, and the subnet manager was given less than its time.
void Writer::add_waits_for_manager(Finding& finding) const {
  finding.evidence.push_back(fact(std::string(kWaitsForManagerSignal),
                                  "it had trained, and waited for the subnet manager to activate it", sweep_.finished,
                                  finding.cause));
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
  LinkDown down{.sight = LinkDown::Sight::kBothEnds,
                .where = {},
                .behind = behind.size(),
                .has_waited = sweep_.finished - link.view_since >= view_.thresholds.sm_patience,
                .ways = ways_left(table_, view_.ranks, outage.link),
                .critical_ways = view_.thresholds.critical_ways_left};
  if (either(EndView::kDisabled)) {
    down.sight = LinkDown::Sight::kDisabled;
    down.where = end(link.high_view == EndView::kDisabled);
  } else if (link.view == LinkView::kTraining) {
    down.sight = LinkDown::Sight::kTraining;
    if (either(EndView::kUnseen)) down.where = end(link.high_view == EndView::kUnseen);
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
  add_waiting(finding, outage);
  if (down.sight == LinkDown::Sight::kTraining && !down.has_waited) add_waits_for_manager(finding);
  findings_.push_back(std::move(finding));
}

void Writer::group(const Outage& outage) {
  Finding finding = make_finding(IncidentKind::kLinkDown, Severity::kWarning, describe_.node(outage.node));
  std::vector<NodeId> adapters;
  std::vector<WaysLeft> lost;
  std::size_t worst = 0;
  std::size_t training = 0;
  for (const LinkId id : outage.links) {
    finding.affected.push_back(describe_.link(id));
    if (const NodeId adapter = describe_.adapter_of(id); adapter != kNoIndex) adapters.push_back(adapter);
    // What is trained is no fault of the cable, whatever is left meanwhile.
    if (table_.links()[id].view == LinkView::kTraining) {
      ++training;
      continue;
    }
    WaysLeft ways = ways_left(table_, view_.ranks, id);
    if (severity_of(ways, view_.thresholds.critical_ways_left) > finding.severity) {
      finding.severity = Severity::kCritical;
      worst = lost.size();
    }
    if (std::ranges::none_of(lost, [&](const WaysLeft& other) { return other.of == ways.of; }))
      lost.push_back(std::move(ways));
  }
  add_nodes(finding, adapters);
  std::vector<NodeId> behind = outage.nodes;
  std::erase_if(behind, [&](NodeId node) { return std::ranges::find(adapters, node) != adapters.end(); });
  add_nodes(finding, behind);
  add_states(finding, outage.links, outage.node);
  add_waiting(finding, outage);
  finding.confidence = 0.8;
  finding.summary = std::to_string(outage.links_before) + " links of " + finding.cause.label + " went down together";
  if (outage.links.size() < outage.links_before)
    finding.summary += ", " + std::to_string(outage.links.size()) + " of them are not up again";
  if (training > 0)
    finding.summary += ", " + (training == outage.links.size() ? std::string("all") : std::to_string(training)) +
                       " of these are trained and wait for the subnet manager";
  if (!lost.empty() && lost[worst].all > 0) {
    const WaysLeft& most = lost[worst];
    const auto as_much = std::ranges::count_if(lost, [&](const WaysLeft& other) {
      return other.is_host == most.is_host && other.up == most.up && other.all == most.all;
    });
    finding.summary += "; " + in_words(most, static_cast<std::size_t>(as_much) - 1);
  }
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
    disabled = disabled && link.is_disabled();
    if (const NodeId adapter = describe_.adapter_of(id); is_switch && adapter != kNoIndex) hosts.push_back(adapter);
  }
  add_nodes(finding, hosts);
  std::vector<NodeId> behind = outage.nodes;
  std::erase_if(behind, [&](NodeId node) { return std::ranges::find(hosts, node) != hosts.end(); });
  add_nodes(finding, behind);
  add_states(finding, outage.links, outage.node);
  add_waiting(finding, outage);
  finding.confidence = 0.95;
  finding.summary = std::string(is_switch ? "Switch " : "Host ") + finding.cause.label + " is down: none of its " +
                    std::to_string(outage.links.size()) + " links is up";
  if (outage.is_returning) {
    finding.summary = std::string(is_switch ? "Switch " : "Host ") + finding.cause.label +
                      " is coming back: " + std::to_string(outage.links.size()) + " of its " +
                      std::to_string(outage.links_before) + " links " + (outage.links.size() == 1 ? "is" : "are") +
                      " not active yet";
    add_waits_for_manager(finding);
  } else if (disabled) {
    finding.severity = Severity::kWarning;
    finding.summary += ", all administratively disabled";
  }
  if (!hosts.empty()) finding.summary += ", " + std::to_string(hosts.size()) + " adapters are connected to it";
  findings_.push_back(std::move(finding));
}

/// Of a node that does not answer, what its neighbours say of its links. One that is trained and not active carries
/// nothing, and what that costs decides how bad it is.
void Writer::add_live_links(Finding& finding, NodeId node) const {
  std::size_t shown = 0, up = 0;
  for (const LinkId id : table_.links_of(node)) {
    const LinkState& link = table_.links()[id];
    const bool is_trained = link.view == LinkView::kTraining && link.counts();
    if (link.view != LinkView::kUp && !is_trained) continue;
    if (shown++ < kMostStates) add_state(finding, id, link.low_node == node);
    if (!is_trained) {
      ++up;
      continue;
    }
    finding.affected.push_back(describe_.link(id));
    finding.severity = std::max(finding.severity,
                                severity_of(ways_left(table_, view_.ranks, id), view_.thresholds.critical_ways_left));
  }
  finding.summary = finding.cause.label + " does not respond to management requests";
  if (finding.affected.empty())
    finding.summary += ", while its peers report its links as up";
  else if (up == 0)
    finding.summary += "; its links are trained, but the subnet manager cannot activate them";
  else
    finding.summary += "; of its links " + std::to_string(up) + " are up, and " +
                       std::to_string(finding.affected.size()) +
                       " are trained, but the subnet manager cannot activate them";
}

void Writer::silent(const Outage& outage) {
  if (outage.node == kNoIndex) return unread(outage);
  Finding finding = make_finding(IncidentKind::kTelemetryLost, Severity::kWarning, describe_.node(outage.node));
  finding.confidence = 0.9;
  if (outage.kind == OutageKind::kCountersSilent) {
    finding.summary = finding.cause.label + " responds, but its counters can no longer be read";
    finding.evidence.push_back(fact(kCountersReadAt, "the last successful reading of its counters was too old",
                                    sweep_.finished, finding.cause));
  } else {
    add_live_links(finding, outage.node);
  }
  if (!outage.nodes.empty())
    finding.summary += "; " + std::to_string(outage.nodes.size()) + " nodes behind it are unreachable";
  add_nodes(finding, outage.nodes);
  findings_.push_back(std::move(finding));
}

/// The counters of several nodes.
void Writer::unread(const Outage& outage) {
  Finding finding = make_finding(IncidentKind::kTelemetryLost, Severity::kWarning, describe_.fabric());
  finding.confidence = 0.9;
  finding.summary = "The counters of " + std::to_string(outage.nodes.size()) + " nodes of fabric " +
                    finding.cause.label + " cannot be read, although the nodes respond";
  add_nodes(finding, outage.nodes);
  finding.evidence.push_back(fact(
      kCountersReadAt,
      "requests routed by LID were not answered, those on a directed route were: the forwarding tables did not lead "
      "to these nodes, or not back",
      sweep_.finished, finding.cause));
  findings_.push_back(std::move(finding));
}

void Writer::not_activated(const Outage& outage) {
  Finding finding = make_finding(IncidentKind::kLinksNotActivated, Severity::kWarning, describe_.fabric());
  finding.confidence = 0.9;
  finding.summary =
      "The subnet manager of fabric " + finding.cause.label + " has not activated " +
      (outage.links.size() == 1 ? "a link that is" : std::to_string(outage.links.size()) + " links that are") +
      " trained";
  for (const LinkId id : outage.links) {
    finding.affected.push_back(describe_.link(id));
    if (severity_of(ways_left(table_, view_.ranks, id), view_.thresholds.critical_ways_left) == Severity::kCritical)
      finding.severity = Severity::kCritical;
  }
  add_states(finding, outage.links, kNoIndex);
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

void report_outages(const OutageReport& report, const OutageView& view, std::vector<Finding>& findings) {
  Writer writer(view, findings);
  for (const Outage& outage : report.outages) {
    switch (outage.kind) {
      case OutageKind::kLink: {
        const TimePoint since = view.table.links()[outage.link].down_since;
        if (!view.flaps.hides_down(outage.link, since, view.sweep.finished)) writer.link(outage);
        break;
      }
      case OutageKind::kLinkGroup:
        writer.group(outage);
        break;
      case OutageKind::kSwitch:
      case OutageKind::kHost:
        writer.whole(outage);
        break;
      case OutageKind::kNodeSilent:
      case OutageKind::kCountersSilent:
        writer.silent(outage);
        break;
      case OutageKind::kNotActivated:
        writer.not_activated(outage);
        break;
      case OutageKind::kFabric:
        writer.fabric(outage);
        break;
    }
  }
}

}  // namespace weft::analyzer
