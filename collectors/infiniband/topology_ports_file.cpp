// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>

#include "collectors/infiniband/node_description.hpp"
#include "collectors/infiniband/topology_draft.hpp"
#include "collectors/infiniband/topology_file.hpp"

namespace weft::infiniband {
namespace {

/// "CA   134  1 0x7cfe9003003b4bde": one end of a line of the report.
struct End {
  NodeType type = NodeType::kUnknown;
  Lid lid;
  std::uint16_t port = 0;
  std::string_view guid_text;
  PortGuid guid;
};

std::optional<End> take_end(LineScanner& scan) {
  End end;
  const std::string_view type = scan.take_word();
  if (type == "SW") end.type = NodeType::kSwitch;
  if (type == "CA") end.type = NodeType::kChannelAdapter;
  if (type == "RT") end.type = NodeType::kRouter;
  scan.skip_blanks();
  const std::optional<std::uint32_t> lid = scan.take_number(0xFFFF);
  scan.skip_blanks();
  const std::optional<std::uint32_t> port = scan.take_number(kMostSubnetPorts);
  scan.skip_blanks();
  end.guid_text = scan.take_word();
  const std::optional<std::uint64_t> guid = parse_guid(end.guid_text);
  if (end.type == NodeType::kUnknown || !lid || !port || *port == 0 || !guid || *guid == 0) return std::nullopt;
  end.lid.value = static_cast<std::uint16_t>(*lid);
  end.port = static_cast<std::uint16_t>(*port);
  end.guid = PortGuid{*guid};
  return end;
}

/// Without the quotes and blanks around it.
std::string_view bare(std::string_view text) {
  constexpr std::string_view kAround = " \t'";
  const std::size_t first = text.find_first_not_of(kAround);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kAround) - first + 1);
}

class PortsReportParser {
 public:
  explicit PortsReportParser(FileFaults& faults) : faults_(faults) {}

  void parse(std::size_t line, LineScanner scan) {
    const std::optional<End> own = take_end(scan);
    if (!own) return faults_.add(line, "expected a type, a LID, a port and a GUID");
    DraftPort port;
    port.line = line;
    port.number = own->port;
    port.guid = own->guid;
    port.lid = own->lid;
    scan.skip_blanks();
    port.width = take_width(scan);
    scan.skip_blanks();
    port.speed = parse_speed(scan.take_word());
    scan.skip_blanks();
    std::string_view name = scan.rest();
    if (scan.take("- ")) {
      const std::optional<End> peer = take_end(scan);
      scan.skip_blanks();
      const std::size_t between = scan.rest().find("' - '");
      if (!peer || !scan.rest().starts_with("( '") || !scan.rest().ends_with("' )") || between < 3 ||
          between == std::string_view::npos)
        return faults_.add(line, "expected the peer and both names after the dash");
      name = scan.rest().substr(3, between - 3);
      std::string_view peer_name = scan.rest().substr(between + 5);
      peer_name.remove_suffix(std::min<std::size_t>(3, peer_name.size()));
      if (!node_of(line, *peer, peer_name)) return;
      port.peer_id = peer->guid_text;
      port.peer_number = peer->port;
      port.peer_guid = peer->guid;
    }
    if (const std::optional<NodeIndex> node = node_of(line, *own, name)) draft_.add_port(*node, port);
  }

  Result<Topology> finish() { return draft_.finish(faults_); }

 private:
  /// The node behind that end, made when this is its first line.
  std::optional<NodeIndex> node_of(std::size_t line, const End& end, std::string_view name) {
    const NodeIndex known = draft_.find_node(end.guid_text);
    if (known != kNoIndex) {
      Node& node = draft_.node(known);
      node.port_count = std::max(node.port_count, end.port);
      return known;
    }
    Node node;
    node.guid = NodeGuid{end.guid.value};
    node.type = end.type;
    node.port_count = end.port;
    node.description = to_valid_utf8(bare(name));
    node.aggregation_node = is_aggregation_node(node.type, 0, 0, node.description);
    return draft_.add_node(line, end.guid_text, std::move(node), end.guid, end.lid, 0, faults_);
  }

  FileFaults& faults_;
  TopologyDraft draft_;
};

}  // namespace

Result<Topology> parse_ports_report(std::string_view text) {
  FileFaults faults;
  PortsReportParser parser(faults);
  for_each_line(text, [&](std::size_t number, std::string_view line) {
    LineScanner scan(line);
    scan.skip_blanks();
    if (line.size() > TopologyFileLimits::kLongestLine) {
      faults.add(number, "longer than " + std::to_string(TopologyFileLimits::kLongestLine) + " characters");
    } else if (!scan.rest().empty() && !scan.rest().starts_with('#')) {
      parser.parse(number, scan);
    }
    return !faults.enough();
  });
  return parser.finish();
}

}  // namespace weft::infiniband
