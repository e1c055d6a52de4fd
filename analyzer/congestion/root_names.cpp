// SPDX-License-Identifier: Apache-2.0
// What a root is called: where the stream that fills it comes from and goes to, and what stands beside it.
#include <algorithm>

#include "analyzer/congestion/congestion_finder.hpp"

namespace weft::analyzer {
namespace {

float median(std::vector<float>& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace

// How much of what goes over `at` (bits per second) must leave by `next`, because no other link between switches fills
// that. Hosts of the same switch might; but who of them sends to which is not known.
float CongestionFinder::least_through(const CongestionInput& input, PortIndex at, PortIndex next) {
  const Topology& topology = *input.topology;
  const PortIndex arrives = topology.port(at).peer;
  const Node& node = topology.node_of(topology.port(arrives));
  float least = utilization_of(input, next) * input.line_rates[next];
  for (PortIndex port = node.first_port; port < node.first_port + node.port_entries() && least > 0; ++port) {
    const PortIndex peer = topology.port(port).peer;
    if (peer == kNoIndex || port == arrives || port == next || input.line_rates[peer] <= 0) continue;
    if (topology.node_of(topology.port(peer)).type != NodeType::kSwitch) continue;
    if (graph_.carries(peer, next)) least -= std::max(0.0F, utilization_of(input, peer)) * input.line_rates[peer];
  }
  return least;
}

// Several full links in a row may carry one stream. Where does that of `first` end? At the port towards a host, or at a
// link with too few beside it, of which `root` then tells. `sure`: share of the stream that must go on at each switch.
PortIndex CongestionFinder::follow(const CongestionInput& input, const HotLink& first, float sure,
                                   CongestionRoot& root) {
  constexpr unsigned kLongestChain = 4;
  constexpr float kMost = 0.8F, kMuch = 0.35F;
  const Topology& topology = *input.topology;
  const float stream = first.utilization * first.rate;
  HotLink link = first;
  for (unsigned i = 0; i < kLongestChain; ++i) {
    if (CongestionRoot there = root; bereft_[shared_switch(link.egress)] && compare_siblings(input, link, there)) {
      root = std::move(there);
      return link.egress;
    }
    const PortIndex arrives = topology.port(link.egress).peer;
    const Node& node = topology.node_of(topology.port(arrives));
    PortIndex next = kNoIndex;
    for (PortIndex port = node.first_port; port < node.first_port + node.port_entries() && next == kNoIndex; ++port) {
      const PortIndex peer = topology.port(port).peer;
      if (peer == kNoIndex || port == arrives || input.line_rates[port] <= 0) continue;
      const float sent = utilization_of(input, port) * input.line_rates[port];
      if (bereft_[shared_switch(port)] && sent >= kMuch * stream && graph_.carries(link.egress, port)) {
        next = port;
        break;
      }
      if (sent < kMost * stream) continue;
      if (graph_.carries(link.egress, port) && least_through(input, link.egress, port) >= sure * stream) next = port;
    }
    if (next == kNoIndex) return kNoIndex;
    link.egress = next;
    link.utilization = utilization_of(input, next);
    if (topology.node_of(topology.port(topology.port(next).peer)).type == NodeType::kSwitch) continue;
    root.kind = IncidentKind::kCongestionIncast;
    return root.feeders >= 2 ? next : kNoIndex;
  }
  return kNoIndex;
}

// A full link inside the fabric: does the name of its trouble lie further on?
bool CongestionFinder::name_inner(const CongestionInput& input, const HotLink& link, CongestionRoot& root) {
  constexpr float kSure = 0.35F;
  CongestionRoot further = root;
  PortIndex end = follow(input, link, kSure, further);
  if (end == kNoIndex) {
    // What was told before needs less.
    further = root;
    end = follow(input, link, -1, further);
    if (!std::ranges::binary_search(input.known, end)) end = kNoIndex;
  }
  if (end == kNoIndex) return compare_siblings(input, link, root);
  root = std::move(further);
  root.egress = end;
  root.links = {end};
  // Who waits, waits for the stream to come together.
  if (end != link.egress) {
    root.victims.resize(std::min(root.victims.size(), kMostVictims - 1));
    root.waits_for.resize(root.victims.size());
    root.victims.push_back(link.egress);
    root.waits_for.push_back(end);
  }
  return true;
}

// What leaves by a full link and was sent by none of those that wait for it, as a share of its rate: there are others,
// whose own way was slow enough before. 0 where nobody knows who feeds it.
float CongestionFinder::sent_by_others(const CongestionInput& input, const HotLink& link) const {
  float rest = link.utilization * link.rate;
  for (const std::uint32_t waiting : graph_.waiting_for(static_cast<std::uint32_t>(&link - hot_.data()))) {
    if (waiting >= graph_.links()) return 0;
    const PortIndex feeder = hot_[waiting].egress;
    rest -= std::max(0.0F, utilization_of(input, feeder)) * input.line_rates[feeder];
  }
  return std::max(0.0F, rest / link.rate);
}

bool CongestionFinder::classify(const CongestionInput& input, const HotLink& link, CongestionRoot& root) {
  const Topology& topology = *input.topology;
  const Port& port = topology.port(link.egress);
  const Node& from = topology.node_of(port);
  const Node& to = topology.node(topology.port(port.peer).node);
  if (is_suspect(input, link.egress, kFaultyLink) || (link.saturated && below_design(topology, link.egress))) {
    root.kind = IncidentKind::kLinkDegraded;
    return true;
  }
  // A host that sends at its rate, or that is held back with nobody behind it to blame: nothing to say from here.
  if (from.type != NodeType::kSwitch) return false;
  if (to.type != NodeType::kSwitch) {
    const bool takes_nothing = link.utilization < static_cast<float>(thresholds_.deadlock_progress_ratio) &&
                               link.stall >= static_cast<float>(thresholds_.pfc_storm_stalled_ratio);
    root.kind = link.saturated  ? IncidentKind::kCongestionIncast
                : takes_nothing ? IncidentKind::kPfcStorm
                                : IncidentKind::kSlowReceiver;
    if (!link.saturated || root.feeders >= 2) return true;
    // Two senders make an incast, also where one of them comes by a link that does not wait.
    const float others = root.feeders == 1 ? sent_by_others(input, link) : 0;
    if (others < static_cast<float>(thresholds_.harm_ratio)) return false;
    root.from_others = others;
    return true;
  }
  return link.saturated && name_inner(input, link, root);
}

// The switch whose other links could carry what goes over this one.
NodeIndex CongestionFinder::shared_switch(PortIndex egress) const {
  const NodeIndex from = topology_->port(egress).node, to = topology_->port(topology_->port(egress).peer).node;
  return ranks_[to] > ranks_[from] ? from : to;
}

// Switches that have lost half of their ways up, or more.
void CongestionFinder::find_bereft(const CongestionInput& input) {
  bereft_.assign(topology_->nodes().size(), 0);
  for (NodeIndex index = 0; index < bereft_.size(); ++index) {
    const Node& node = topology_->node(index);
    if (node.type != NodeType::kSwitch) continue;
    unsigned ways = 0, lost = 0;
    for (PortIndex port = node.first_port; port < node.first_port + node.port_entries(); ++port) {
      const PortIndex peer = topology_->port(port).peer;
      if (peer == kNoIndex || ranks_[topology_->port(peer).node] <= ranks_[index]) continue;
      ++ways;
      if (is_lost(input, port)) ++lost;
    }
    bereft_[index] = lost > 0 && 2 * lost >= ways;
  }
}

// Upwards, what goes through one uplink could go through any; downwards, what comes to a switch could come from any.
bool CongestionFinder::compare_siblings(const CongestionInput& input, const HotLink& link, CongestionRoot& root) const {
  const Topology& topology = *input.topology;
  const Port& port = topology.port(link.egress);
  const NodeIndex from = port.node, to = topology.port(port.peer).node;
  const bool upwards = ranks_[to] > ranks_[from];
  const NodeIndex hub = shared_switch(link.egress);
  const std::uint8_t far_rank = ranks_[upwards ? to : from];
  std::vector<float> loads;
  std::size_t ways = 1;
  const Node& node = topology.node(hub);
  for (PortIndex p = node.first_port; p < node.first_port + node.port_entries(); ++p) {
    const Port& end = topology.port(p);
    if (end.peer == kNoIndex || ranks_[topology.port(end.peer).node] != far_rank) continue;
    const PortIndex egress = upwards ? p : end.peer;
    if (egress == link.egress) continue;
    ++ways;
    if (is_lost(input, p)) root.lost.push_back(p);
    if (input.line_rates[egress] <= 0) continue;
    if (const float load = utilization_of(input, egress); load >= 0) loads.push_back(load);
  }
  root.siblings = static_cast<unsigned>(loads.size());
  float mean = 0;
  for (const float load : loads) mean += load / static_cast<float>(loads.size());
  root.sibling_median = median(loads);
  const bool uneven = !loads.empty() && link.utilization >= static_cast<float>(thresholds_.uneven_factor) * mean;
  const bool idle =
      !loads.empty() && root.sibling_median < static_cast<float>(thresholds_.idle_sibling_ratio) * link.active;
  // What is left of the ways may be loaded unevenly as well, but that too few are left is the cause.
  const bool bereft = 2 * root.lost.size() >= ways;
  if (uneven && !bereft) {
    root.kind = IncidentKind::kCongestionUnevenLoad;
    root.certain = idle;
    // Some links fill up beside idle ones whenever many flows are spread by chance: only what hurts is worth a word.
    return idle && root.worst_stall >= static_cast<float>(thresholds_.severe_ratio);
  } else {
    root.kind = IncidentKind::kCongestionOversubscribed;
    root.certain = loads.empty() || root.sibling_median >= static_cast<float>(thresholds_.saturated_ratio);
    root.node = hub;
  }
  return true;
}

}  // namespace weft::analyzer
