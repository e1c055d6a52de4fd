#include "analyzer/remedy/fabric_tree.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <string_view>

#include "analyzer/congestion/ranks.hpp"

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

FabricTree::FabricTree(const Topology& topology, std::span<const std::pair<PortIndex, PortIndex>> missing)
    : tiers_(node_ranks(topology)) {
  const auto is_tier = [&](NodeIndex node) {
    return topology.node(node).type == NodeType::kSwitch && tiers_[node] != kNoRank;
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
    if (tiers_[node] != 1) continue;
    leaf_of_[node] = static_cast<std::uint32_t>(leaves_.size());
    leaves_.push_back(node);
  }
  std::ranges::stable_sort(in_order_, {}, [this](NodeIndex node) { return tiers_[node]; });
  for (std::uint32_t order = 0; order < in_order_.size(); ++order) order_of_[in_order_[order]] = order;
  find_rails(topology);
}

void FabricTree::find_rails(const Topology& topology) {
  rails_.assign(leaves_.size(), kNoIndex);
  // The adapters of each host in the order of their descriptions: the first is of rail 0.
  std::map<std::string_view, std::vector<PortIndex>> hosts;
  for (const Node& node : topology.nodes()) {
    if (node.type != NodeType::kChannelAdapter || node.aggregation_node) continue;
    for (PortIndex port = node.first_port; port < node.first_port + node.port_entries(); ++port)
      if (topology.port(port).peer != kNoIndex) hosts[host_name(node)].push_back(port);
  }
  constexpr std::uint32_t kMixed = kNoIndex - 1;
  std::uint32_t most = 0;
  for (auto& [name, ports] : hosts) {
    std::ranges::stable_sort(
        ports, {}, [&](PortIndex port) { return std::string_view(topology.node_of(topology.port(port)).description); });
    for (std::uint32_t rail = 0; rail < ports.size(); ++rail) {
      const std::uint32_t leaf = leaf_of_[topology.port(topology.port(ports[rail]).peer).node];
      if (leaf == kNoIndex) continue;
      rails_[leaf] = rails_[leaf] == kNoIndex || rails_[leaf] == rail ? rail : kMixed;
      most = std::max(most, rail + 1);
    }
  }
  const bool mixed = std::ranges::find(rails_, kMixed) != rails_.end();
  if (mixed || most < 2)
    std::ranges::fill(rails_, kNoIndex);
  else
    rail_count_ = most;
}

}  // namespace weft::analyzer
