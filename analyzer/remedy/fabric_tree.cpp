// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedy/fabric_tree.hpp"

#include <algorithm>
#include <numeric>

namespace weft::analyzer {
namespace {

// Lists of uplinks by one of their ends, one after the other in a flat array.
template <typename End>
void gather(std::span<const Uplink> uplinks, std::size_t nodes, End end, std::vector<std::uint32_t>& first,
            std::vector<UplinkIndex>& all) {
  first.assign(nodes + 1, 0);
  for (const Uplink& uplink : uplinks) ++first[end(uplink) + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  all.resize(uplinks.size());
  std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
  for (UplinkIndex index = 0; index < uplinks.size(); ++index) all[next[end(uplinks[index])]++] = index;
}

}  // namespace

FabricTree::FabricTree(const Topology& topology, const Places& places,
                       std::span<const std::pair<PortIndex, PortIndex>> missing)
    : tiers_(places.tiers) {
  const auto is_tier = [&](NodeIndex node) {
    return topology.node(node).type == NodeType::kSwitch && tiers_[node] != kNoTier;
  };
  by_port_.assign(topology.ports().size(), kNoIndex);
  const auto add = [&](PortIndex lower, PortIndex upper) {
    const NodeIndex child = topology.port(lower).node, parent = topology.port(upper).node;
    if (!is_tier(child) || !is_tier(parent) || tiers_[parent] <= tiers_[child]) return;
    by_port_[lower] = by_port_[upper] = static_cast<UplinkIndex>(uplinks_.size());
    uplinks_.push_back({child, parent, lower});
  };
  for (PortIndex index = 0; index < topology.ports().size(); ++index)
    if (topology.port(index).peer != kNoIndex) add(index, topology.port(index).peer);
  for (const auto& [a, b] : missing) {
    // A port that is cabled otherwise by now is no end of that cable any more.
    if (topology.port(a).peer != kNoIndex || topology.port(b).peer != kNoIndex) continue;
    if (by_port_[a] != kNoIndex || by_port_[b] != kNoIndex) continue;
    add(a, b);
    add(b, a);
  }
  gather(
      uplinks_, tiers_.size(), [](const Uplink& uplink) { return uplink.child; }, up_first_, up_);
  gather(
      uplinks_, tiers_.size(), [](const Uplink& uplink) { return uplink.parent; }, down_first_, down_);

  leaf_of_.assign(tiers_.size(), kNoIndex);
  order_of_.assign(tiers_.size(), kNoIndex);
  for (NodeIndex node = 0; node < tiers_.size(); ++node) {
    if (!is_tier(node)) continue;
    in_order_.push_back(node);
    top_ = std::max(top_, tiers_[node]);
    const auto& ports = topology.ports_of(topology.node(node));
    if (std::ranges::none_of(ports, [&](const Port& port) {
          return port.peer != kNoIndex && tiers_[topology.port(port.peer).node] == 0;
        }))
      continue;
    leaf_of_[node] = static_cast<std::uint32_t>(leaves_.size());
    leaves_.push_back(node);
  }
  std::ranges::stable_sort(in_order_, {}, [this](NodeIndex node) { return tiers_[node]; });
  for (std::uint32_t order = 0; order < in_order_.size(); ++order) order_of_[in_order_[order]] = order;
  find_tops();
  find_rails(topology, places);
}

void FabricTree::find_tops() {
  std::vector<NodeIndex> groups(tiers_.size());
  std::iota(groups.begin(), groups.end(), NodeIndex{0});
  const auto root = [&groups](NodeIndex node) {
    while (groups[node] != node) node = groups[node] = groups[groups[node]];
    return node;
  };
  for (const Uplink& uplink : uplinks_) groups[root(uplink.child)] = root(uplink.parent);
  std::vector<std::uint8_t> top(tiers_.size(), 0);
  for (const NodeIndex node : in_order_) top[root(node)] = std::max(top[root(node)], tiers_[node]);
  is_top_.assign(tiers_.size(), 0);
  for (const NodeIndex node : in_order_) is_top_[node] = tiers_[node] == top[root(node)];
}

void FabricTree::find_rails(const Topology& topology, const Places& places) {
  rails_.assign(leaves_.size(), kNoIndex);
  constexpr std::uint32_t kMixed = kNoIndex - 1;
  for (std::uint32_t leaf = 0; leaf < leaves_.size(); ++leaf) {
    const Node& node = topology.node(leaves_[leaf]);
    for (PortIndex port = node.first_port; port < node.first_port + node.port_entries(); ++port) {
      const PortIndex peer = topology.port(port).peer;
      if (peer == kNoIndex || topology.node_of(topology.port(peer)).type == NodeType::kSwitch) continue;
      const std::uint32_t rail = places.rails[port];
      if (rail == kNoIndex) continue;
      rails_[leaf] = rails_[leaf] == kNoIndex || rails_[leaf] == rail ? rail : kMixed;
    }
    if (rails_[leaf] == kMixed) rails_[leaf] = kNoIndex;
  }
  rail_names_ = places.rail_names;
}

}  // namespace weft::analyzer
