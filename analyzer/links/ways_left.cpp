// SPDX-License-Identifier: Apache-2.0
#include "analyzer/links/ways_left.hpp"

#include <algorithm>

#include "analyzer/places/ranks.hpp"

namespace weft::analyzer {
namespace {

void count(const LinkState& link, WaysLeft& ways) {
  if (!link.counts()) return;
  ++ways.all;
  if (link.view == LinkView::kUp) ++ways.up;
}

std::uint8_t rank_of(const KnownNode& node, std::span<const std::uint8_t> ranks) {
  return node.index < ranks.size() ? ranks[node.index] : kNoTier;
}

WaysLeft of_host(const LinkTable& table, NodeId adapter) {
  const KnownNode& node = table.nodes()[adapter];
  if (node.host == kNoIndex) return {};
  WaysLeft ways{.of = table.host_name_of(node.host), .is_host = true};
  for (const NodeId each : table.hosts()[node.host])
    for (const LinkId id : table.links_of(each)) count(table.links()[id], ways);
  return ways;
}

WaysLeft of_switch(const LinkTable& table, std::span<const std::uint8_t> ranks, NodeId node, NodeId towards) {
  const std::uint8_t own = rank_of(table.nodes()[node], ranks);
  const std::uint8_t other = rank_of(table.nodes()[towards], ranks);
  if (own > other) return {};
  WaysLeft ways{.of = table.nodes()[node].name};
  for (const LinkId id : table.links_of(node)) {
    const LinkState& link = table.links()[id];
    const KnownNode& peer = table.nodes()[link.low_node == node ? link.high_node : link.low_node];
    if (peer.type != NodeType::kSwitch) continue;
    const std::uint8_t rank = rank_of(peer, ranks);
    if (own == other ? rank >= own : rank > own) count(link, ways);
  }
  return ways;
}

double share(const WaysLeft& ways) {
  return ways.all == 0 ? 1 : static_cast<double>(ways.up) / static_cast<double>(ways.all);
}

}  // namespace

WaysLeft ways_left(const LinkTable& table, std::span<const std::uint8_t> ranks, LinkId link) {
  const LinkState& state = table.links()[link];
  WaysLeft worst;
  const auto look = [&](NodeId node, NodeId towards) {
    const bool is_switch = table.nodes()[node].type == NodeType::kSwitch;
    const bool to_host = table.nodes()[towards].type == NodeType::kChannelAdapter;
    if (is_switch && to_host) return;  // what a switch loses with one host is that host
    const WaysLeft ways = is_switch ? of_switch(table, ranks, node, towards) : of_host(table, node);
    if (ways.all > 0 && (worst.all == 0 || share(ways) < share(worst))) worst = ways;
  };
  look(state.low_node, state.high_node);
  look(state.high_node, state.low_node);
  return worst;
}

Severity severity_of(const WaysLeft& ways, double critical) {
  return ways.all == 0 || share(ways) <= critical ? Severity::kCritical : Severity::kWarning;
}

std::string in_words(const WaysLeft& ways, std::size_t others) {
  if (ways.all == 0) return {};
  const std::string what = ways.is_host ? "link" : "uplink";
  const std::string of_all = ways.of + " and " + std::to_string(others) + (others == 1 ? " other" : " others");
  if (ways.all == 1)
    return others == 0 ? "it is the only " + what + " of " + ways.of : of_all + " have lost their only " + what;
  const std::string left =
      (ways.up == 0 ? "none" : std::to_string(ways.up)) + " of " + std::to_string(ways.all) + ' ' + what + 's';
  const std::string up = ways.up == 1 ? " is up" : " are up";
  return others == 0 ? left + " of " + ways.of + up : left + up + " at " + of_all;
}

}  // namespace weft::analyzer
