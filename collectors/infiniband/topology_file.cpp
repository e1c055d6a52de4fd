// SPDX-License-Identifier: Apache-2.0
#include "collectors/infiniband/topology_file.hpp"

#include <array>
#include <string>
#include <utility>

#include "collectors/infiniband/node_description.hpp"
#include "collectors/infiniband/topology_draft.hpp"

namespace weft::infiniband {
namespace {

constexpr std::uint32_t kMostLidMaskControl = 7;

/// The lines before a node's own: vendid=0x2c9, devid=…, sysimgguid=…, switchguid=0x…(…).
struct Properties {
  std::uint64_t vendor_id = 0;
  std::uint64_t device_id = 0;
  std::uint64_t system_image_guid = 0;
  NodeGuid guid;
  PortGuid port_guid;
};

/// The text between the first and the last double quote of a comment: descriptions may hold quotes themselves.
struct QuotedParts {
  std::string_view before;
  std::optional<std::string_view> inside;
  std::string_view after;
};

QuotedParts split_at_quotes(std::string_view comment) {
  const std::size_t first = comment.find('"');
  const std::size_t last = comment.rfind('"');
  if (first == last) return {comment, std::nullopt, comment};
  return {comment.substr(0, first), comment.substr(first + 1, last - first - 1), comment.substr(last + 1)};
}

std::optional<std::uint32_t> number_behind(std::string_view text, std::string_view word, std::uint32_t most) {
  const std::size_t at = text.find(word);
  if (at == std::string_view::npos) return std::nullopt;
  LineScanner scan(text.substr(at + word.size()));
  scan.skip_blanks();
  return scan.take_number(most);
}

std::string shortened(std::string_view text) {
  return "'" + to_valid_utf8(text.substr(0, 60)) + (text.size() > 60 ? "…'" : "'");
}

/// "S-2c5eab0300b87b40" → that GUID; a name gives nullopt.
std::optional<std::uint64_t> guid_of_id(std::string_view id) {
  if (id.size() > 2 && id[1] == '-') return parse_guid(id.substr(2));
  return id.starts_with("0x") ? parse_guid(id) : std::nullopt;
}

class NetworkFileParser {
 public:
  bool parse_line(std::size_t number, std::string_view line) {
    line_ = number;
    if (line.size() > TopologyFileLimits::kLongestLine) {
      fault("longer than " + std::to_string(TopologyFileLimits::kLongestLine) + " characters");
    } else {
      parse(line);
    }
    return !faults_.enough();
  }

  Result<Topology> finish() { return draft_.finish(faults_); }

 private:
  enum class Place { kOutside, kInNode, kInBadNode };

  void fault(std::string reason) { faults_.add(line_, std::move(reason)); }
  void parse(std::string_view line);
  void parse_property(std::string_view key, LineScanner value);
  void parse_node(NodeType type, LineScanner scan);
  bool add_node(NodeType type, LineScanner scan);
  void parse_port(LineScanner scan);
  bool parse_peer(LineScanner& scan, DraftPort& port);
  void read_port_comment(std::string_view comment, DraftPort& port);

  std::size_t line_ = 0;
  Place place_ = Place::kOutside;
  NodeIndex node_ = kNoIndex;
  Properties properties_;
  TopologyDraft draft_;
  FileFaults faults_;
};

std::optional<NodeType> node_type_of(std::string_view word) {
  if (word == "Switch") return NodeType::kSwitch;
  if (word == "Ca" || word == "Hca") return NodeType::kChannelAdapter;
  if (word == "Rt" || word == "Router") return NodeType::kRouter;
  return std::nullopt;
}

void NetworkFileParser::parse(std::string_view line) {
  LineScanner scan(line);
  scan.skip_blanks();
  if (scan.rest().empty() || scan.rest().starts_with('#')) return;
  if (scan.rest().starts_with('[')) return parse_port(scan);
  // --grouping puts the chassis between the nodes.
  if (scan.rest().starts_with("Chassis") || scan.rest().starts_with("Non-Chassis")) {
    place_ = Place::kOutside;
    return;
  }
  LineScanner ahead = scan;
  if (const std::optional<NodeType> type = node_type_of(ahead.take_word())) return parse_node(*type, ahead);
  const std::size_t equals = scan.rest().find('=');
  if (equals == std::string_view::npos)
    return fault("expected a node, a port or a property, not " + shortened(scan.rest()));
  const std::string_view key = scan.rest().substr(0, equals);
  scan.take(scan.rest().substr(0, equals + 1));
  parse_property(key, scan);
}

void NetworkFileParser::parse_property(std::string_view key, LineScanner value) {
  place_ = Place::kOutside;
  const std::string_view word = value.rest().substr(0, value.rest().find_first_of(" \t(#"));
  const std::optional<std::uint64_t> number = parse_guid(word);
  const bool is_guid_line = key == "switchguid" || key == "caguid" || key == "hcaguid" || key == "rtguid";
  if (!is_guid_line && key != "vendid" && key != "devid" && key != "sysimgguid")
    return fault("unknown property " + shortened(key));
  if (!number) return fault(std::string(key) + " is not a hexadecimal number: " + shortened(word));
  if (key == "vendid" || key == "devid") {
    const bool is_vendor = key == "vendid";
    if (*number > (is_vendor ? 0xFFFFFFU : 0xFFFFU)) return fault(std::string(key) + " is too large");
    (is_vendor ? properties_.vendor_id : properties_.device_id) = *number;
    return;
  }
  if (key == "sysimgguid") {
    properties_.system_image_guid = *number;
    return;
  }
  if (*number == 0) return fault(std::string(key) + " must not be zero");
  properties_.guid = NodeGuid{*number};
  value.take(word);
  properties_.port_guid = PortGuid{value.take_guid_in_parentheses().value_or(0)};
}

void NetworkFileParser::parse_node(NodeType type, LineScanner scan) {
  place_ = Place::kInBadNode;
  const std::string_view line = scan.rest();
  if (add_node(type, scan)) {
    place_ = Place::kInNode;
  } else if (const std::size_t quote = line.find('"'); quote != std::string_view::npos) {
    const std::string_view behind = line.substr(quote + 1);
    draft_.add_faulty(behind.substr(0, behind.find('"')));
  }
}

bool NetworkFileParser::add_node(NodeType type, LineScanner scan) {
  const auto refuse = [this](std::string reason) {
    fault(std::move(reason));
    return false;
  };
  const Properties properties = std::exchange(properties_, {});
  scan.skip_blanks();
  const std::optional<std::uint32_t> count = scan.take_number(kMostSubnetPorts);
  if (!count || *count == 0) return refuse("a node must have 1 to 254 ports, not " + shortened(scan.take_word()));
  scan.skip_blanks();
  const std::optional<std::string_view> id = scan.take_quoted();
  if (!id || id->empty()) return refuse("after the number of ports there must be an id in double quotes");
  const std::uint64_t guid = properties.guid ? properties.guid.value : guid_of_id(*id).value_or(0);
  if (guid == 0) return refuse(shortened(*id) + " has no GUID: neither a line before it nor its id gives one");
  scan.skip_blanks();
  if (!scan.rest().empty() && !scan.rest().starts_with('#')) return refuse("unexpected " + shortened(scan.rest()));

  const QuotedParts comment = split_at_quotes(scan.rest());
  Node node;
  node.guid = NodeGuid{guid};
  node.system_image_guid = properties.system_image_guid;
  node.type = type;
  node.port_count = static_cast<std::uint16_t>(*count);
  node.vendor_id = static_cast<std::uint32_t>(properties.vendor_id);
  node.device_id = static_cast<std::uint16_t>(properties.device_id);
  node.description = to_valid_utf8(comment.inside.value_or(*id));
  node.aggregation_node = is_aggregation_node(type, node.vendor_id, node.device_id, node.description);
  Lid lid;
  std::uint8_t lid_mask_control = 0;
  PortGuid port_guid;
  if (type == NodeType::kSwitch) {
    node.enhanced_port0 = comment.after.find("enhanced port 0") != std::string_view::npos;
    lid.value = static_cast<std::uint16_t>(number_behind(comment.after, "lid ", 0xFFFF).value_or(0));
    lid_mask_control = static_cast<std::uint8_t>(number_behind(comment.after, "lmc ", kMostLidMaskControl).value_or(0));
    port_guid = properties.port_guid ? properties.port_guid : PortGuid{guid};
  }
  const std::optional<NodeIndex> added =
      draft_.add_node(line_, *id, std::move(node), port_guid, lid, lid_mask_control, faults_);
  if (!added) return false;
  node_ = *added;
  return true;
}

/// `[5]`, `[5][ext 12]`: a port number, and what --grouping calls it on the chassis.
std::optional<std::uint16_t> take_port_number(LineScanner& scan) {
  LineScanner ahead = scan;
  if (!ahead.take("[")) return std::nullopt;
  ahead.skip_blanks();
  const std::optional<std::uint32_t> number = ahead.take_number(kMostSubnetPorts);
  ahead.skip_blanks();
  if (!number || !ahead.take("]")) return std::nullopt;
  if (ahead.take("[ext ")) {
    if (!ahead.take_number(0xFFFF) || !ahead.take("]")) return std::nullopt;
  }
  scan = ahead;
  return static_cast<std::uint16_t>(*number);
}

void NetworkFileParser::parse_port(LineScanner scan) {
  if (place_ == Place::kInBadNode) return;  // its node was complained about
  if (place_ == Place::kOutside) return fault("a port outside of a node");
  DraftPort port;
  port.line = line_;
  const std::string_view shown = scan.rest();
  const std::optional<std::uint16_t> number = take_port_number(scan);
  if (!number) return fault("expected a port number from 1 to 254 in brackets, not " + shortened(shown));
  port.number = *number;
  if (scan.rest().starts_with('(')) {
    const std::optional<std::uint64_t> guid = scan.take_guid_in_parentheses();
    if (!guid) return fault("expected the port's GUID in parentheses, not " + shortened(scan.rest()));
    port.guid = PortGuid{*guid};
  }
  if (!parse_peer(scan, port)) return;
  // ibsim's own settings stand here: w=2 s=4 e=8, masks of what is enabled. They say nothing of what is active.
  scan.skip_blanks();
  while (!scan.rest().empty() && !scan.rest().starts_with('#')) {
    const std::string_view option = scan.take_word();
    if (option.size() < 3 || option[1] != '=') return fault("unexpected " + shortened(option));
    scan.skip_blanks();
  }
  if (!scan.rest().empty()) read_port_comment(scan.rest(), port);
  draft_.add_port(node_, port);
}

bool NetworkFileParser::parse_peer(LineScanner& scan, DraftPort& port) {
  scan.skip_blanks();
  const std::optional<std::string_view> id = scan.take_quoted();
  if (!id || id->empty()) {
    fault("after the port there must be the peer's id in double quotes");
    return false;
  }
  port.peer_id = *id;
  scan.skip_blanks();
  port.peer_number = 1;  // as ibsim takes it when none is given
  if (scan.rest().starts_with('[')) {
    const std::optional<std::uint16_t> number = take_port_number(scan);
    if (!number) {
      fault("expected the peer's port from 1 to 254 in brackets, not " + shortened(scan.rest()));
      return false;
    }
    port.peer_number = *number;
  }
  if (scan.rest().starts_with('(')) {
    const std::optional<std::uint64_t> guid = scan.take_guid_in_parentheses();
    if (!guid) {
      fault("expected the peer port's GUID in parentheses, not " + shortened(scan.rest()));
      return false;
    }
    port.peer_guid = PortGuid{*guid};
  }
  return true;
}

/// `# "description" lid 647 4xNDR` of a switch, `# lid 93 lmc 0 "description" lid 119 4xNDR` of others. It is a
/// comment: what is not recognised in it stays unknown.
void NetworkFileParser::read_port_comment(std::string_view comment, DraftPort& port) {
  const QuotedParts parts = split_at_quotes(comment);
  if (draft_.node(node_).type != NodeType::kSwitch && parts.inside) {
    port.lid.value = static_cast<std::uint16_t>(number_behind(parts.before, "lid ", 0xFFFF).value_or(0));
    port.lid_mask_control =
        static_cast<std::uint8_t>(number_behind(parts.before, "lmc ", kMostLidMaskControl).value_or(0));
  }
  const std::size_t lid = parts.after.find("lid ");
  if (lid == std::string_view::npos) return;
  LineScanner scan(parts.after.substr(lid + 4));
  if (!scan.take_number(0xFFFF)) return;
  scan.skip_blanks();
  port.width = take_width(scan);
  if (port.width != 0) port.speed = parse_speed(scan.take_word());
}

/// The first line that is neither empty nor a comment, without the blanks before it; empty where there is none.
std::string_view first_line(std::string_view text) {
  std::string_view first;
  for_each_line(text, [&](std::size_t, std::string_view line) {
    LineScanner scan(line);
    scan.skip_blanks();
    if (!scan.rest().starts_with('#')) first = scan.rest();
    return first.empty();
  });
  return first;
}

bool is_ports_report(std::string_view line) {
  const std::string_view word = LineScanner(line).take_word();
  return word == "CA" || word == "SW" || word == "RT";
}

}  // namespace

bool is_topology_file(std::string_view text) {
  const std::string_view line = first_line(text);
  if (line.empty() || line.starts_with('[') || is_ports_report(line)) return true;
  if (line.starts_with("Chassis") || line.starts_with("Non-Chassis")) return true;
  if (node_type_of(LineScanner(line).take_word())) return true;
  const std::size_t equals = line.find('=');
  return equals != std::string_view::npos && line.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == equals;
}

Result<Topology> parse_topology_file(std::string_view text) {
  if (is_ports_report(first_line(text))) return parse_ports_report(text);
  NetworkFileParser parser;
  for_each_line(text, [&](std::size_t number, std::string_view line) { return parser.parse_line(number, line); });
  return parser.finish();
}

}  // namespace weft::infiniband
