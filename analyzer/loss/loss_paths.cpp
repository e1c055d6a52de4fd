// SPDX-License-Identifier: Apache-2.0
#include "analyzer/loss/loss_paths.hpp"
#include "fabric/graph/multipath.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace weft::analyzer {
namespace {

constexpr std::size_t kMostHops = 16;

}  // namespace

bool LossPaths::walk(PortIndex from, PortIndex to, std::vector<Crossing>& suspects) {
  suspects.clear();
  const bool known = input_.multipath ? walk_equal_costs(from, to, suspects) : walk_tables(from, to, suspects);
  std::ranges::sort(suspects);
  return known;
}

bool LossPaths::walk_tables(PortIndex from, PortIndex to, std::vector<Crossing>& suspects) const {
  const Topology& topology = input_.topology;
  if (!input_.routes) return false;
  const NodeIndex destination = topology.port(to).node;
  NodeIndex node = topology.port(from).node;
  PortIndex out = from;
  for (std::size_t hop = 0; hop < kMostHops; ++hop) {
    const PortIndex peer = topology.port(out).peer;
    if (peer == kNoIndex) return false;
    suspects.emplace_back(device(node), 1);
    suspects.emplace_back(cable(out), 1);
    node = topology.port(peer).node;
    if (node == destination) {
      suspects.emplace_back(device(node), 1);
      return true;
    }
    const Node& next = topology.node(node);
    if (next.type != NodeType::kSwitch) return false;
    const auto egress = input_.routes->egress(node, topology.port(to).lid);
    if (!egress || egress->value == 0 || egress->value > next.port_count) return false;
    out = next.first_port + egress->value;
  }
  return false;
}

bool LossPaths::walk_equal_costs(PortIndex from, PortIndex to, std::vector<Crossing>& suspects) {
  const Topology& topology = input_.topology;
  const Multipath& multipath = *input_.multipath;
  if (!multipath.connects(from, to)) return false;
  const PortIndex last = topology.port(to).peer;
  const NodeIndex first_switch = topology.port(topology.port(from).peer).node;
  // Between two switches with hosts all ports have the same ways.
  const std::uint64_t key = std::uint64_t{first_switch} << 32U | topology.port(last).node;
  const auto [between, is_new] = between_.try_emplace(key);
  if (is_new) {
    std::unordered_map<SuspectId, double> crossed;
    for (const Multipath::Share& share : multipath.shares(from, to)) {
      if (share.sender == from) continue;
      if (share.sender != last) crossed[cable(share.sender)] += share.share;
      crossed[device(topology.port(share.sender).node)] += share.share;
    }
    between->second.assign(crossed.begin(), crossed.end());
  }
  suspects = between->second;
  for (const SuspectId id :
       {device(topology.port(from).node), cable(from), cable(last), device(topology.port(to).node)})
    suspects.emplace_back(id, 1);
  return true;
}

void sort_out(LossHypothesis& hypothesis) {
  for (auto* list : {&hypothesis.senders, &hypothesis.receivers}) {
    std::ranges::sort(*list);
    list->erase(std::unique(list->begin(), list->end()), list->end());
  }
}

void gather_around(const Topology& topology, double certainty, std::vector<LossHypothesis>& found) {
  if (found.front().confidence >= certainty) return;
  const auto switches_of = [&](const LossSuspect& suspect) {
    std::array<NodeIndex, 2> nodes{suspect.node, kNoIndex};
    if (suspect.sender != kNoIndex)
      nodes = {topology.port(suspect.sender).node, topology.port(topology.port(suspect.sender).peer).node};
    for (NodeIndex& node : nodes)
      if (node != kNoIndex && topology.node(node).type != NodeType::kSwitch) node = kNoIndex;
    return nodes;
  };
  std::map<NodeIndex, double> sums;
  for (const LossHypothesis& one : found)
    for (const NodeIndex node : switches_of(one.suspect))
      if (node != kNoIndex) sums[node] += one.confidence;
  const auto surest = std::ranges::max_element(sums, {}, [](const auto& entry) { return entry.second; });
  if (surest == sums.end() || surest->second < certainty) return;
  const NodeIndex centre = surest->first;
  LossHypothesis whole = found.front();
  whole.suspect = {.sender = kNoIndex, .node = centre};
  whole.confidence = surest->second;
  whole.around = true;
  whole.testimony = {};
  double owned_up = 0;
  for (const LossHypothesis& one : found) {
    const auto nodes = switches_of(one.suspect);
    if (std::ranges::find(nodes, centre) == nodes.end()) continue;
    if (one.testimony.owned_up) owned_up += one.confidence;
    whole.lost = std::max(whole.lost, one.lost);
    whole.testimony.passed = std::max(whole.testimony.passed, one.testimony.passed);
    whole.senders.insert(whole.senders.end(), one.senders.begin(), one.senders.end());
    whole.receivers.insert(whole.receivers.end(), one.receivers.begin(), one.receivers.end());
  }
  // Where those that are not silent are as likely as the others, it is not said to be.
  whole.testimony.owned_up = owned_up >= whole.confidence / 2;
  sort_out(whole);
  found.insert(found.begin(), std::move(whole));
}

}  // namespace weft::analyzer
