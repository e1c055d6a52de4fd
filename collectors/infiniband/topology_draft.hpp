// SPDX-License-Identifier: Apache-2.0
#pragma once
// Nodes and cables as a file lists them, before it is sure that they fit together. Inside of topology_file only.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "collectors/infiniband/line_scanner.hpp"
#include "fabric/result.hpp"
#include "fabric/topology.hpp"

namespace weft::infiniband {

/// One port line. The views point into the file's text.
struct DraftPort {
  std::size_t line = 0;
  std::uint16_t number = 0;
  PortGuid guid;  ///< zero where the file does not say
  Lid lid;
  std::uint8_t lid_mask_control = 0;
  WidthMask width = 0;
  SpeedMask speed = 0;
  std::string_view peer_id;  ///< the peer node's id in the file; empty for a port that is only mentioned
  std::uint16_t peer_number = 0;
  PortGuid peer_guid;
};

/// Collects the nodes and port lines of a file.
class TopologyDraft {
 public:
  /// The node's position, or nullopt after a fault was noted (known id or GUID, bounds). `node` has everything but
  /// first_port and name; `lid` and `lid_mask_control` are a switch's.
  std::optional<NodeIndex> add_node(std::size_t line, std::string_view id, Node node, PortGuid guid, Lid lid,
                                    std::uint8_t lid_mask_control, FileFaults& faults);
  /// A node of that id is described, but its line is faulty: whoever names it as a peer is not at fault.
  void add_faulty(std::string_view id) { faulty_.insert(id); }
  /// The node of that id, or kNoIndex.
  NodeIndex find_node(std::string_view id) const;
  Node& node(NodeIndex index) { return nodes_[index]; }
  /// A line of ports of `node`; the number is checked by finish().
  void add_port(NodeIndex node, const DraftPort& port) { listed_.push_back({node, port}); }

  /// Joins the ends of all cables; notes what contradicts.
  Result<Topology> finish(FileFaults& faults);

 private:
  struct Listed {
    NodeIndex node;
    DraftPort port;
  };
  struct Switch {
    PortGuid guid;
    Lid lid;
    std::uint8_t lid_mask_control;
  };

  std::vector<Port> lay_ports(FileFaults& faults);
  std::optional<PortIndex> place(NodeIndex node, std::uint16_t number) const;
  void describe(const Listed& listed, Port& port) const;
  void claim_peers(std::vector<Port>& ports, FileFaults& faults) const;
  std::string label(PortIndex index, const std::vector<Port>& ports) const;

  std::vector<Node> nodes_;
  std::vector<Switch> management_;  ///< for each node: what holds for all ports of a switch
  std::vector<Listed> listed_;
  std::unordered_map<std::string_view, NodeIndex> by_id_;
  std::unordered_set<std::string_view> faulty_;
  std::unordered_map<NodeGuid, NodeIndex> by_guid_;
};

/// "4x" or "12x" (LinkWidthActive as infiniband-diags print it) at the front of the scanner; 0 when it is another text.
WidthMask take_width(LineScanner& scan);
/// "NDR" …; 0 for a text that is no known speed ("???").
SpeedMask parse_speed(std::string_view text);

/// The --ports report, see topology_file.hpp.
Result<Topology> parse_ports_report(std::string_view text);

}  // namespace weft::infiniband
