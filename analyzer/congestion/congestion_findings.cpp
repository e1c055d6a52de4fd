// SPDX-License-Identifier: Apache-2.0
#include "analyzer/congestion/congestion_findings.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analyzer/congestion/congestion_tree.hpp"

namespace weft::analyzer {
namespace {

// Links named where no host suffers, and senders named as contributors.
constexpr std::size_t kMostLinksNamed = 16;
constexpr std::size_t kMostContributors = 4;

bool blames_a_link(IncidentKind kind) {
  return kind == IncidentKind::kLinkDegraded || kind == IncidentKind::kLinkErrors || kind == IncidentKind::kLinkFlap;
}

// Several roots may have one reason.
void say_once(Finding& finding, const char* clause) {
  if (finding.summary.find(clause) == std::string::npos) finding.summary += clause;
}

/// All that is needed to put one root into words.
class Story {
 public:
  Story(const Sweep& sweep, const CounterPass& pass, std::span<const float> line_rates, const LinkTable& table,
        const Describe& describe, const CongestionThresholds& thresholds, const SteadyCongestion& steady)
      : sweep_(sweep),
        topology_(*sweep.topology),
        pass_(pass),
        rates_(*pass.rates),
        line_rates_(line_rates),
        table_(table),
        describe_(describe),
        thresholds_(thresholds),
        steady_(steady),
        root_(steady.root) {}

  /// The cause, what it is called, and what is known of it; nullopt when the link is not known any more.
  std::optional<Finding> tell() const {
    const LinkId link = table_.link_at(root_.egress);
    if (link == kNoIndex) return std::nullopt;
    const Entity cable = describe_.link(link);
    const Port& egress = topology_.port(root_.egress);
    Finding finding = make_finding(root_.kind, severity(), cable);
    finding.confidence = root_.certain ? 0.9 : 0.6;
    // Who is notified may have other ways that are full.
    if (root_.marked >= 0)
      finding.confidence = std::min(finding.confidence, root_.tells_marks || ends_at_a_host() ? 0.8 : 0.6);
    switch (root_.kind) {
      case IncidentKind::kCongestionIncast:
        finding.summary = "Incast: several senders saturate the link to " +
                          node_name(topology_.port(egress.peer).node) + " over " + cable.label;
        break;
      case IncidentKind::kCongestionUnevenLoad:
        finding.summary = "Uneven load: " + cable.label + " is saturated, its parallel links are not";
        break;
      case IncidentKind::kCongestionOversubscribed: {
        const NodeId node = table_.find_node(topology_.node(root_.node).guid);
        if (node == kNoIndex) return std::nullopt;
        finding.cause = describe_.node(node);
        finding.summary = "Oversubscription: traffic through " + finding.cause.label +
                          " exceeds the capacity of its links to other switches";
        if (!root_.lost.empty()) finding.summary += "; some of them are down or degraded";
        break;
      }
      case IncidentKind::kSlowReceiver:
        finding.cause = describe_.port(topology_.key_of(egress.peer));
        finding.summary = finding.cause.label + " is a slow receiver: its link is stalled, but not saturated";
        finding.confidence = 0.8;
        break;
      case IncidentKind::kPfcStorm:
        finding.cause = describe_.port(topology_.key_of(egress.peer));
        finding.summary = finding.cause.label + " receives nothing and stalls all traffic to it";
        break;
      case IncidentKind::kDeadlock:
        finding.summary = std::string(topology_.is_ethernet() ? "PFC deadlock" : "Credit loop") +
                          ": a cycle of blocked links, " + cable.label + " is part of it";
        for (const PortIndex member : root_.links)
          if (const LinkId other = table_.link_at(member); other != kNoIndex && other != link)
            finding.affected.push_back(describe_.link(other));
        break;
      default:
        break;
    }
    add_harm(finding);
    return finding;
  }

  /// Who waits, and the figures.
  void add_harm(Finding& finding) const {
    add_victims(finding);
    add_evidence(finding);
    finding.waiting = describe_waiting(root_, topology_, rates_, line_rates_, describe_);
  }

  /// How full it is, and who waits longest for it: an outage may overload several, and its evidence is bounded.
  void add_overload(Finding& finding) const {
    add_utilization(finding);
    add_worst_wait(finding);
  }

 private:
  void add_evidence(Finding& finding) const {
    const std::string label = port_label(topology_, root_.egress);
    add_utilization(finding);
    if (root_.stall > 0)
      note(finding, "transmit_wait",
           label + " had data to send but no credit for " + share_text(root_.stall) + " of the time", root_.stall,
           thresholds_.stalled_ratio, "", root_.egress);
    if (root_.marked >= 0) {
      add_marks(finding);
    } else if (!root_.victims.empty()) {
      add_worst_wait(finding);
      note(finding, "lost_rate", "throughput that all of them lost together", root_.lost_bits / 1e9, 0, "Gb/s",
           root_.egress);
    }
    if (root_.kind == IncidentKind::kCongestionIncast && root_.marked < 0 && root_.feeders > 1)
      note(finding, "feeders", "stalled links into its switch that fed it", root_.feeders, 2, "links", root_.egress);
    if (root_.from_others > 0)
      note(finding, "other_senders",
           share_text(root_.from_others) + " of its rate came from others than the one that waited", root_.from_others,
           thresholds_.harm_ratio, "", root_.egress);
    if (root_.siblings > 0 || !root_.lost.empty())
      note(finding, "sibling_utilization",
           "median utilisation of the " + std::to_string(root_.siblings) + " parallel links; " +
               std::to_string(root_.lost.size()) + " more were down or degraded",
           root_.sibling_median, thresholds_.idle_sibling_ratio, "", root_.egress);
    add_contributors(finding);
  }

  void add_utilization(Finding& finding) const {
    note(finding, "utilization",
         port_label(topology_, root_.egress) + " sent " + share_text(root_.utilization) + " of its rate",
         root_.utilization, thresholds_.saturated_ratio, "", root_.egress);
  }

  void add_worst_wait(Finding& finding) const {
    if (root_.victims.empty() || root_.marked >= 0) return;
    const PortIndex worst = root_.victims.front();
    note(finding, "victim_wait",
         std::to_string(root_.victim_count) + " links waited for it, the longest wait was at " +
             port_label(topology_, worst) + ", " + share_text(root_.worst_stall) + " of the time",
         root_.worst_stall, thresholds_.harm_ratio, "", worst);
  }

  bool ends_at_a_host() const {
    return topology_.node(topology_.port(topology_.port(root_.egress).peer).node).type != NodeType::kSwitch;
  }

  void add_marks(Finding& finding) const {
    const std::string label = port_label(topology_, root_.egress);
    note(finding, "marked",
         share_text(root_.marked) +
             (root_.tells_marks  ? " of the packets that left by " + label + " got an ECN mark there"
              : ends_at_a_host() ? " of the packets that passed " + label + " had an ECN mark"
                                 : " of the packets that a host behind " + label + " received had an ECN mark"),
         root_.marked, thresholds_.marked_ratio, "", root_.egress);
    if (root_.victims.empty()) return;
    const PortIndex worst = root_.victims.front();
    note(finding, "notified",
         std::to_string(root_.victim_count) +
             " ports of hosts were slowed down by congestion notifications (CNP), the most " +
             port_label(topology_, worst) + ", by " + share_text(root_.worst_stall) + " of its rate",
         root_.worst_stall, thresholds_.harm_ratio, "", worst);
  }

  Severity severity() const {
    if (root_.kind == IncidentKind::kDeadlock || root_.kind == IncidentKind::kPfcStorm) return Severity::kCritical;
    return steady_.severe ? Severity::kWarning : Severity::kInfo;
  }

  std::string node_name(NodeIndex index) const { return topology_.node(index).name; }

  void add_victims(Finding& finding) const {
    const auto add = [&](Entity entity) {
      const auto known = [&](const Entity& other) { return other.same_as(entity); };
      if (!std::ranges::any_of(finding.affected, known) && !finding.cause.same_as(entity))
        finding.affected.push_back(std::move(entity));
    };
    bool hosts = false;
    for (const PortKey& victim : steady_.victims) {
      const NodeId node = table_.find_node(victim.node);
      if (node == kNoIndex || table_.nodes()[node].type == NodeType::kSwitch) continue;
      hosts = true;
      add(describe_.node(node));
    }
    if (hosts) return;
    std::size_t named = 0;
    for (const PortKey& victim : steady_.victims) {
      const PortIndex port = topology_.find_port(victim);
      const LinkId link = port == kNoIndex ? kNoIndex : table_.link_at(port);
      if (link != kNoIndex && named++ < kMostLinksNamed) add(describe_.link(link));
    }
  }

  void note(Finding& finding, std::string signal, std::string text, double value, double threshold, std::string unit,
            PortIndex port) const {
    finding.evidence.push_back(
        {.signal = std::move(signal),
         .description = std::move(text),
         .value = value,
         .threshold = threshold,
         .unit = std::move(unit),
         .observed = sweep_.finished,
         .where = describe_.port(topology_.key_of(port)),
         .window = std::chrono::duration_cast<Duration>(std::chrono::duration<float>(pass_.elapsed_seconds[port]))});
  }

  // Of the hosts that wait, those that send most: what fills the root comes from them.
  void add_contributors(Finding& finding) const {
    std::vector<std::pair<double, PortIndex>> senders;
    for (const PortIndex victim : root_.victims) {
      const double rate = rates_[victim].transmit_bits_per_second;
      if (topology_.node_of(topology_.port(victim)).type != NodeType::kSwitch && std::isfinite(rate))
        senders.emplace_back(rate, victim);
    }
    std::ranges::sort(senders, std::greater{});
    if (senders.size() > kMostContributors) senders.resize(kMostContributors);
    for (const auto& [rate, port] : senders)
      note(finding, "contributor", port_label(topology_, port) + " contributed traffic", rate / 1e9, 0, "Gb/s", port);
  }

  const Sweep& sweep_;
  const Topology& topology_;
  const CounterPass& pass_;
  const std::vector<PortRates>& rates_;
  std::span<const float> line_rates_;
  const LinkTable& table_;
  const Describe& describe_;
  const CongestionThresholds& thresholds_;
  const SteadyCongestion& steady_;
  const CongestionRoot& root_;
};

}  // namespace

void Congestion::mark_suspects(const Topology& topology, std::span<const Finding> findings) {
  suspects_.assign(topology.ports().size(), 0);
  faults_.assign(topology.ports().size(), 0);
  const auto mark = [&](PortKey key, std::size_t finding, std::uint8_t suspect) {
    const PortIndex port = topology.find_port(key);
    if (port == kNoIndex) return;
    for (const PortIndex end : {port, topology.port(port).peer}) {
      if (end == kNoIndex) continue;
      suspects_[end] |= suspect;
      faults_[end] = static_cast<std::uint32_t>(finding + 1);
    }
  };
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const Finding& finding = findings[i];
    if (blames_a_link(finding.kind)) mark(finding.cause.port, i, kFaultyLink);
    if (finding.kind == IncidentKind::kLinkFlap) mark(finding.cause.port, i, kUnsteady);
    if (finding.kind == IncidentKind::kLinkDown) mark(finding.cause.port, i, 0);
    // Of a switch, or of links of one that went down together.
    if (finding.kind == IncidentKind::kSwitchDown || finding.kind == IncidentKind::kLinkDown)
      for (const Entity& part : finding.affected)
        if (part.kind == EntityKind::kLink) mark(part.port, i, 0);
    // All ones in an error counter says nothing against the others.
    if (finding.kind == IncidentKind::kCounterStuck && finding.severity >= Severity::kWarning)
      if (const PortIndex port = topology.find_port(finding.cause.port); port != kNoIndex)
        suspects_[port] |= kBrokenCounters;
  }
}

Finding* Congestion::only_reason(const CongestionRoot& root, std::vector<Finding>& findings) const {
  std::uint32_t reason = 0;
  for (const PortIndex port : root.lost) {
    if (faults_[port] == 0 || faults_[port] == reason) continue;
    const Finding& finding = findings[faults_[port] - 1];
    const bool is_group = finding.kind == IncidentKind::kLinkDown && finding.cause.kind == EntityKind::kNode;
    // Several: that too few ways are left is a trouble of its own.
    if (reason != 0 || is_group) return nullptr;
    reason = faults_[port];
  }
  return reason == 0 ? nullptr : &findings[reason - 1];
}

void Congestion::take_marks(const Topology& topology, std::span<const MarkedPort> marks) {
  marks_.assign(marks.empty() ? 0 : topology.ports().size(), PortMarks{});
  for (const MarkedPort& marked : marks)
    if (const PortIndex port = topology.find_port(marked.port); port != kNoIndex) marks_[port] = marked.marks;
}

std::span<const PortIndex> Congestion::known_roots(const Topology& topology) {
  known_.clear();
  if (epoch_ == topology.epoch())
    for (const SteadyCongestion& steady : tracker_.steady())
      known_.insert(known_.end(), steady.root.links.begin(), steady.root.links.end());
  epoch_ = topology.epoch();
  std::ranges::sort(known_);
  return known_;
}

void Congestion::report(const Sweep& sweep, const CounterPass& pass, std::span<const float> line_rates,
                        const LinkTable& table, const Describe& describe, std::span<const MarkedPort> marks,
                        std::vector<Finding>& findings) {
  mark_suspects(*sweep.topology, findings);
  take_marks(*sweep.topology, marks);
  const auto& roots = finder_.find({.topology = sweep.topology,
                                    .routes = sweep.routes,
                                    .multipath = sweep.multipath,
                                    .rates = *pass.rates,
                                    .elapsed = pass.elapsed_seconds,
                                    .line_rates = line_rates,
                                    .suspects = suspects_,
                                    .marks = marks_,
                                    .known = known_roots(*sweep.topology),
                                    .recent = tracker_.recent(sweep.topology->epoch())});
  for (auto& [key, told] : told_) --told.left;
  std::erase_if(told_, [](const auto& entry) { return entry.second.left == 0; });
  for (const SteadyCongestion& steady : tracker_.update(*sweep.topology, roots)) {
    const Story story(sweep, pass, line_rates, table, describe, thresholds_, steady);
    // The fault of the link is the cause, and known as such: the congestion behind it is its consequence.
    if (steady.root.kind == IncidentKind::kLinkDegraded) {
      const std::uint32_t fault = faults_[steady.root.egress];
      if (fault == 0 || !blames_a_link(findings[fault - 1].kind)) continue;
      Finding& whole = findings[fault - 1];
      whole.severity = std::max(whole.severity, Severity::kWarning);
      say_once(whole, "; traffic through it is stalled");
      story.add_harm(whole);
      continue;
    }
    // So is what fills up because another way is gone, unless it was there before.
    Finding* const reason = only_reason(steady.root, findings);
    Told& told = told_.try_emplace(steady.key, Told{reason != nullptr, 1}).first->second;
    if (reason || !told.folded) told.left = CongestionTracker::kLongWindows;
    if (!told.folded) {
      if (auto finding = story.tell()) findings.push_back(std::move(*finding));
    } else if (reason) {
      say_once(*reason, "; the rerouted traffic overloads the remaining links");
      if (is_outage(reason->kind))
        story.add_overload(*reason);  // whom an outage affects is down
      else
        story.add_harm(*reason);
    }
  }
}

}  // namespace weft::analyzer
