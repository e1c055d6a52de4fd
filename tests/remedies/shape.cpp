// SPDX-License-Identifier: Apache-2.0
#include "tests/remedies/shape.hpp"

#include "analyzer/places/place_finder.hpp"

namespace weft::remedies {
namespace {

using analyzer::find_places;

NodeGuid guid(std::uint64_t value) {
  return {0x1000 + value};
}

}  // namespace

Shape::Shape(unsigned spines, unsigned leaves, unsigned hosts) : spines_(spines), leaves_(leaves), hosts_(hosts) {
  const auto add = [this](NodeType type, std::string name, std::uint8_t ports) {
    Node node;
    node.guid = guid(nodes_.size());
    node.type = type;
    node.port_count = ports;
    node.first_port = static_cast<PortIndex>(ports_.size());
    node.name = node.description = std::move(name);
    const auto index = static_cast<NodeIndex>(nodes_.size());
    for (std::uint32_t number = node.lowest_port(); number <= ports; ++number) {
      Port port;
      port.node = index;
      port.number = {static_cast<std::uint8_t>(number)};
      port.guid = {node.guid.value};
      port.state = PortState::kActive;
      port.physical_state = PortPhysicalState::kLinkUp;
      port.width_active = port.width_enabled = port.width_supported = 2;
      port.speed_active = port.speed_enabled = port.speed_supported = kSpeedHdr;
      if (type != NodeType::kSwitch || number == 0) port.lid = {static_cast<std::uint16_t>(index + 1)};
      ports_.push_back(port);
    }
    nodes_.push_back(std::move(node));
    return index;
  };
  const auto connect = [this](PortIndex a, PortIndex b) {
    ports_[a].peer = b;
    ports_[b].peer = a;
  };
  std::vector<NodeIndex> spine_nodes, leaf_nodes;
  for (unsigned s = 0; s < spines; ++s)
    spine_nodes.push_back(add(NodeType::kSwitch, "spine-" + std::to_string(s), static_cast<std::uint8_t>(leaves)));
  for (unsigned l = 0; l < leaves; ++l)
    leaf_nodes.push_back(
        add(NodeType::kSwitch, "leaf-" + std::to_string(l), static_cast<std::uint8_t>(hosts + spines)));
  for (unsigned l = 0; l < leaves; ++l) {
    for (unsigned s = 0; s < spines; ++s) {
      const PortIndex up = nodes_[leaf_nodes[l]].first_port + hosts + s + 1;
      const PortIndex down = nodes_[spine_nodes[s]].first_port + l + 1;
      connect(up, down);
      leaf_ends_.push_back(up);
      const LinkKey key = make_link_key({nodes_[leaf_nodes[l]].guid, ports_[up].number},
                                        {nodes_[spine_nodes[s]].guid, ports_[down].number});
      link_entities_.push_back({.kind = EntityKind::kLink,
                                .fabric = kFabric,
                                .port = key.low,
                                .peer = key.high,
                                .label = nodes_[leaf_nodes[l]].name + " - " + nodes_[spine_nodes[s]].name});
    }
    for (unsigned h = 0; h < hosts; ++h) {
      host_names_.push_back("h" + std::to_string(l * hosts + h));
      const NodeIndex adapter = add(NodeType::kChannelAdapter, host_names_.back(), 1);
      connect(nodes_[leaf_nodes[l]].first_port + h + 1, nodes_[adapter].first_port);
    }
  }
  Places places = find_places(Topology(1, nodes_, ports_, std::vector<DuplicateGuid>{}));
  places.rail_names = {"0", "1"};
  for (unsigned l = 0; l < leaves; ++l)
    for (unsigned h = 0; h < hosts; ++h) {
      const PortIndex access = nodes_[leaf_nodes[l]].first_port + h + 1;
      places.rails[access] = places.rails[ports_[access].peer] = rail_of_leaf(l);
    }
  places_ = std::make_shared<const Places>(std::move(places));
}

std::vector<Port> Shape::ports_with(std::uint32_t up) const {
  std::vector<Port> ports = ports_;
  for (unsigned link = 0; link < links(); ++link) {
    if ((up >> link & 1U) != 0) continue;
    for (const PortIndex end : {leaf_ends_[link], ports[leaf_ends_[link]].peer}) {
      ports[end].state = PortState::kDown;
      ports[end].physical_state = PortPhysicalState::kPolling;
    }
  }
  return ports;
}

std::shared_ptr<const Topology> Shape::topology(std::uint32_t up, const Oddities& odd) const {
  std::vector<Node> nodes = nodes_;
  if (odd.misnamed) {
    Node& node = nodes[spines_ + leaves_ + odd.misnamed->host];
    node.name = node.description = odd.misnamed->name;
  }
  // Cables stay known, and the ports as they were last read.
  for (NodeIndex node = 0; node < nodes.size(); ++node)
    if ((odd.silent >> node & 1U) != 0) nodes[node].reachable = false;
  return std::make_shared<const Topology>(1, std::move(nodes), ports_with(up), std::vector<DuplicateGuid>{});
}

Shape::Picture Shape::draw(std::uint32_t up) const {
  Picture picture;
  picture.topology = std::make_shared<const Topology>(1, nodes_, ports_with(up), std::vector<DuplicateGuid>{});
  // Down to a host of one's own leaf, up by the first spine that has both links, and from there down.
  RouteTables book(1);
  RouteBlock none;
  none.fill(kNoEgress.value);
  const auto host_leaf = [&](NodeIndex node) { return (node - spines_ - leaves_) / hosts_; };
  for (NodeIndex node = 0; node < spines_ + leaves_; ++node) {
    book.set_top(node, {static_cast<std::uint16_t>(nodes_.size())});
    RouteBlock block = none;
    for (NodeIndex to = spines_ + leaves_; to < nodes_.size(); ++to) {
      const unsigned leaf = host_leaf(to);
      std::uint8_t port = kNoEgress.value;
      if (node < spines_) {
        if ((up >> (leaf * spines_ + node) & 1U) != 0) port = static_cast<std::uint8_t>(leaf + 1);
      } else if (node - spines_ == leaf) {
        port = static_cast<std::uint8_t>((to - spines_ - leaves_) % hosts_ + 1);
      } else {
        const unsigned own = node - spines_;
        for (unsigned s = 0; s < spines_ && port == kNoEgress.value; ++s)
          if ((up >> (own * spines_ + s) & 1U) != 0 && (up >> (leaf * spines_ + s) & 1U) != 0)
            port = static_cast<std::uint8_t>(hosts_ + s + 1);
      }
      if (to + 1 < kRouteBlockSize) block[to + 1] = port;
    }
    book.set_block(node, 0, block);
  }
  picture.routes = book.publish();
  return picture;
}

Shape::Picture Shape::picture(std::uint32_t up, std::uint32_t ways) const {
  const auto drawn = [this](std::uint32_t links) -> const Picture& {
    const auto found = pictures_.find(links);
    return found != pictures_.end() ? found->second : pictures_.emplace(links, draw(links)).first->second;
  };
  const auto topology = drawn(up).topology;
  return {topology, drawn(ways).routes};
}

}  // namespace weft::remedies
