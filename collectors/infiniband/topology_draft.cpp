// SPDX-License-Identifier: Apache-2.0
#include "collectors/infiniband/topology_draft.hpp"

#include <string>
#include <utility>

#include "collectors/infiniband/node_description.hpp"
#include "collectors/infiniband/topology_file.hpp"

namespace weft::infiniband {

WidthMask take_width(LineScanner& scan) {
  LineScanner ahead = scan;
  const std::optional<std::uint32_t> lane_count = ahead.take_number(12);
  if (!lane_count || !(ahead.take("x") || ahead.take("X"))) return 0;
  for (unsigned bit = 1; bit <= 16; bit <<= 1) {
    const auto width = static_cast<WidthMask>(bit);
    if (lanes(width) != static_cast<int>(*lane_count)) continue;
    scan = ahead;
    return width;
  }
  return 0;
}

SpeedMask parse_speed(std::string_view text) {
  for (unsigned bit = kSpeedSdr; bit <= kSpeedXdr; bit <<= 1)
    if (speed_name(static_cast<SpeedMask>(bit)) == text) return static_cast<SpeedMask>(bit);
  return 0;
}

std::optional<NodeIndex> TopologyDraft::add_node(std::size_t line, std::string_view id, Node node, PortGuid guid,
                                                 Lid lid, std::uint8_t lid_mask_control, FileFaults& faults) {
  const auto index = static_cast<NodeIndex>(nodes_.size());
  if (index >= TopologyFileLimits::kMostNodes) {
    faults.add(line, "more than " + std::to_string(TopologyFileLimits::kMostNodes) + " nodes");
    return std::nullopt;
  }
  if (by_id_.contains(id)) {
    faults.add(line, "the node '" + to_valid_utf8(id) + "' is already described");
    return std::nullopt;
  }
  if (!by_guid_.try_emplace(node.guid, index).second) {
    faults.add(line, "another node has the GUID " + to_string(node.guid) + " already");
    return std::nullopt;
  }
  by_id_.emplace(id, index);
  node.name = node.description;
  nodes_.push_back(std::move(node));
  management_.push_back({guid, lid, lid_mask_control});
  return index;
}

NodeIndex TopologyDraft::find_node(std::string_view id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? kNoIndex : found->second;
}

std::optional<PortIndex> TopologyDraft::place(NodeIndex index, std::uint16_t number) const {
  const Node& node = nodes_[index];
  // Port 0 is a switch's own; no cable ends there.
  if (number == 0 || number > node.port_count) return std::nullopt;
  return node.first_port + number - node.lowest_port();
}

std::vector<Port> TopologyDraft::lay_ports(FileFaults& faults) {
  std::size_t total = 0;
  for (const Node& node : nodes_) total += node.port_entries();
  if (total > TopologyFileLimits::kMostPorts) {
    faults.add(1, "more than " + std::to_string(TopologyFileLimits::kMostPorts) + " ports in all");
    return {};
  }
  std::vector<Port> ports;
  ports.reserve(total);
  for (NodeIndex index = 0; index < nodes_.size(); ++index) {
    Node& node = nodes_[index];
    node.first_port = static_cast<PortIndex>(ports.size());
    const bool is_switch = node.type == NodeType::kSwitch;
    for (std::uint32_t entry = 0; entry < node.port_entries(); ++entry) {
      Port port;
      port.node = index;
      port.number = PortNum{static_cast<std::uint16_t>(entry + node.lowest_port())};
      // A switch's port 0 has no cable: it is there as long as the switch is.
      const bool is_management = port.number.value == 0;
      port.state = is_management ? PortState::kActive : PortState::kDown;
      port.physical_state = is_management ? PortPhysicalState::kLinkUp : PortPhysicalState::kUnknown;
      if (is_switch) {
        port.guid = management_[index].guid;
        port.lid = management_[index].lid;
        port.lid_mask_control = management_[index].lid_mask_control;
      }
      ports.push_back(port);
    }
  }
  return ports;
}

void TopologyDraft::describe(const Listed& listed, Port& port) const {
  if (!listed.port.peer_id.empty()) {
    port.width_active = listed.port.width;
    port.speed_active = listed.port.speed;
  }
  if (nodes_[listed.node].type == NodeType::kSwitch) return;
  port.guid = listed.port.guid;
  port.lid = listed.port.lid;
  port.lid_mask_control = listed.port.lid_mask_control;
}

std::string TopologyDraft::label(PortIndex index, const std::vector<Port>& ports) const {
  const Port& port = ports[index];
  return "'" + nodes_[port.node].name + "' port " + std::to_string(port.number.value);
}

void TopologyDraft::claim_peers(std::vector<Port>& ports, FileFaults& faults) const {
  // Every listed port's line, to find both lines of a contradiction.
  std::unordered_map<PortIndex, const Listed*> lines;
  lines.reserve(listed_.size());
  for (const Listed& listed : listed_) {
    const std::optional<PortIndex> own = place(listed.node, listed.port.number);
    if (!own) {
      faults.add(listed.port.line, "'" + nodes_[listed.node].name + "' has no port " +
                                       std::to_string(listed.port.number) + " to connect, it has 1 to " +
                                       std::to_string(nodes_[listed.node].port_count));
    } else if (const auto [first, is_new] = lines.try_emplace(*own, &listed); !is_new) {
      faults.add(listed.port.line, "port " + std::to_string(listed.port.number) + " is already in line " +
                                       std::to_string(first->second->port.line));
    } else {
      describe(listed, ports[*own]);
    }
    if (faults.enough()) return;
  }
  for (const Listed& listed : listed_) {
    const std::optional<PortIndex> own = place(listed.node, listed.port.number);
    if (!own || listed.port.peer_id.empty() || lines.at(*own) != &listed) continue;
    const NodeIndex peer_node = find_node(listed.port.peer_id);
    if (peer_node == kNoIndex) {
      if (faulty_.contains(listed.port.peer_id)) continue;
      faults.add(listed.port.line, "the peer '" + to_valid_utf8(listed.port.peer_id) + "' is not described anywhere");
      if (faults.enough()) return;
      continue;
    }
    const std::optional<PortIndex> peer = place(peer_node, listed.port.peer_number);
    const auto peer_line = peer ? lines.find(*peer) : lines.end();
    if (!peer) {
      faults.add(listed.port.line, "the peer '" + nodes_[peer_node].name + "' has no port " +
                                       std::to_string(listed.port.peer_number) + " to connect");
    } else if (*peer == *own) {
      faults.add(listed.port.line, "the port is connected to itself");
    } else if (ports[*own].peer != kNoIndex && ports[*own].peer != *peer) {
      faults.add(listed.port.line, label(*own, ports) + " is connected to " + label(*peer, ports) +
                                       " here, but an earlier line connects it to " + label(ports[*own].peer, ports));
    } else if (ports[*peer].peer != kNoIndex && ports[*peer].peer != *own) {
      faults.add(listed.port.line, label(*peer, ports) + " is connected to " + label(*own, ports) +
                                       " here, but an earlier line connects it to " + label(ports[*peer].peer, ports));
    } else {
      ports[*own].peer = *peer;
      ports[*peer].peer = *own;
      const bool peer_is_switch = nodes_[peer_node].type == NodeType::kSwitch;
      if (listed.port.peer_guid && !peer_is_switch) {
        if (!ports[*peer].guid) ports[*peer].guid = listed.port.peer_guid;
        if (ports[*peer].guid != listed.port.peer_guid)
          faults.add(listed.port.line, label(*peer, ports) + " has the GUID " + to_string(listed.port.peer_guid) +
                                           " here, but elsewhere " + to_string(ports[*peer].guid));
      }
      if (peer_line == lines.end()) {  // listed from this end only
        ports[*peer].width_active = listed.port.width;
        ports[*peer].speed_active = listed.port.speed;
      }
    }
    if (faults.enough()) return;
  }
}

Result<Topology> TopologyDraft::finish(FileFaults& faults) {
  if (nodes_.empty() && faults.empty()) faults.add(1, "the file has no nodes");
  std::vector<Port> ports;
  if (!faults.enough()) ports = lay_ports(faults);
  if (!faults.enough() && !ports.empty()) claim_peers(ports, faults);
  if (!faults.empty()) return tl::unexpected<Error>(faults.error());
  for (Port& port : ports) {
    if (port.peer == kNoIndex) continue;
    port.state = PortState::kActive;
    port.physical_state = PortPhysicalState::kLinkUp;
  }
  if (std::string fault = Topology::validate(nodes_, ports); !fault.empty())
    return fail(ErrorCode::kInternal, std::move(fault));
  return Topology(1, std::move(nodes_), std::move(ports), {});
}

}  // namespace weft::infiniband
