// SPDX-License-Identifier: Apache-2.0
#include "analyzer/links/compare_cabling.hpp"

#include <algorithm>

namespace weft::analyzer {
namespace {

NamedPort named_port(const Topology& topology, PortIndex port) {
  return {topology.key_of(port), topology.node_of(topology.port(port)).name, std::string(topology.port_name(port))};
}

/// The port that is planned at the other end, or kNoIndex.
PortIndex planned_peer(const Topology& expected, PortKey key) {
  const PortIndex port = expected.find_port(key);
  return port == kNoIndex ? kNoIndex : expected.port(port).peer;
}

/// The port has a cable, and the link is up at one of its ends.
bool has_live_cable(const Topology& seen, PortIndex port) {
  if (port == kNoIndex || seen.port(port).peer == kNoIndex) return false;
  return seen.port(port).is_up() || seen.port(seen.port(port).peer).is_up();
}

bool is_known(const Topology& seen, PortIndex port) {
  return seen.port(port).state != PortState::kUnknown;
}

}  // namespace

CablingDifferences compare_cabling(const Topology& expected, const Topology& seen) {
  CablingDifferences differences;
  for (PortIndex i = 0; i < seen.ports().size(); ++i) {
    const PortIndex peer = seen.port(i).peer;
    if (peer == kNoIndex || peer < i || (!seen.port(i).is_up() && !seen.port(peer).is_up())) continue;
    const PortKey a = seen.key_of(i), b = seen.key_of(peer);
    const PortIndex a_peer = planned_peer(expected, a), b_peer = planned_peer(expected, b);
    const bool is_planned = a_peer != kNoIndex || b_peer != kNoIndex;
    if (!is_planned && (expected.find_node(a.node) == kNoIndex || expected.find_node(b.node) == kNoIndex)) continue;
    ++differences.compared_links;
    if (a_peer != kNoIndex && expected.key_of(a_peer) == b) {  // the plan has it at both ends
      differences.agreed.insert(differences.agreed.end(), {a, b});
      continue;
    }
    const NamedLink found{named_port(seen, i), named_port(seen, peer)};
    if (!is_planned) {
      differences.unplanned.push_back(found);
      continue;
    }
    MisledLink& link = differences.misled.emplace_back(MisledLink{found, {}, {}});
    if (a_peer != kNoIndex) link.a_expects = named_port(expected, a_peer);
    if (b_peer != kNoIndex) link.b_expects = named_port(expected, b_peer);
  }
  for (PortIndex i = 0; i < expected.ports().size(); ++i) {
    const PortIndex peer = expected.port(i).peer;
    if (peer == kNoIndex || peer < i) continue;
    ++differences.planned_links;
    const PortIndex a = seen.find_port(expected.key_of(i)), b = seen.find_port(expected.key_of(peer));
    if (has_live_cable(seen, a) || has_live_cable(seen, b)) continue;
    const NamedLink link{named_port(expected, i), named_port(expected, peer)};
    if (a == kNoIndex || b == kNoIndex || seen.port(a).peer != b)
      differences.missing.push_back(link);
    else if (is_known(seen, a) || is_known(seen, b))
      differences.down.push_back(link);
  }
  for (const Node& node : expected.nodes())
    if (seen.find_node(node.guid) == kNoIndex) differences.absent_nodes.push_back(node.name);
  std::ranges::sort(differences.absent_nodes);
  std::ranges::sort(differences.agreed);
  return differences;
}

}  // namespace weft::analyzer
