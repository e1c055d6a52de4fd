// SPDX-License-Identifier: Apache-2.0
#include "collectors/gnmi/leaf_table.hpp"

#include <algorithm>
#include <array>

namespace weft::gnmi {
namespace {

constexpr auto kTransmit = Direction::kTransmit;
constexpr auto kReceive = Direction::kReceive;

constexpr Leaf counter(std::string_view path, std::string_view name, Direction direction = Direction::kNone,
                       std::uint8_t priority = kNoPriority) {
  return {path, LeafKind::kCounter, name, direction, priority};
}
constexpr Leaf other(std::string_view path, LeafKind kind) {
  return {path, kind, {}, Direction::kNone, kNoPriority};
}

constexpr auto kLeaves = std::to_array<Leaf>({
    // openconfig-interfaces.yang, openconfig-if-ethernet.yang
    other("/interfaces/interface[name=PORT]/state/oper-status", LeafKind::kOperStatus),
    other("/interfaces/interface[name=PORT]/state/admin-status", LeafKind::kAdminStatus),
    other("/interfaces/interface[name=PORT]/state/type", LeafKind::kType),
    other("/interfaces/interface[name=PORT]/state/description", LeafKind::kDescription),
    other("/interfaces/interface[name=PORT]/ethernet/state/port-speed", LeafKind::kSpeed),
    other("/interfaces/interface[name=PORT]/ethernet/state/mac-address", LeafKind::kMac),
    other("/interfaces/interface[name=PORT]/state/counters/carrier-transitions", LeafKind::kCarrierTransitions),
    counter("/interfaces/interface[name=PORT]/state/counters/out-octets", "transmit_bytes"),
    counter("/interfaces/interface[name=PORT]/state/counters/in-octets", "receive_bytes"),
    counter("/interfaces/interface[name=PORT]/state/counters/out-pkts", "transmit_packets"),
    counter("/interfaces/interface[name=PORT]/state/counters/in-pkts", "receive_packets"),
    counter("/interfaces/interface[name=PORT]/state/counters/out-unicast-pkts", "unicast_transmit_packets"),
    counter("/interfaces/interface[name=PORT]/state/counters/in-unicast-pkts", "unicast_receive_packets"),
    counter("/interfaces/interface[name=PORT]/state/counters/out-multicast-pkts", "multicast_transmit_packets"),
    counter("/interfaces/interface[name=PORT]/state/counters/in-multicast-pkts", "multicast_receive_packets"),
    counter("/interfaces/interface[name=PORT]/state/counters/in-errors", "receive_errors"),
    counter("/interfaces/interface[name=PORT]/state/counters/out-errors", "transmit_errors"),
    counter("/interfaces/interface[name=PORT]/state/counters/in-discards", "receive_discards"),
    counter("/interfaces/interface[name=PORT]/state/counters/out-discards", "transmit_discards"),
    counter("/interfaces/interface[name=PORT]/ethernet/state/counters/in-crc-errors", "crc_errors"),
    counter("/interfaces/interface[name=PORT]/state/counters/in-fcs-errors", "crc_errors"),
    counter("/interfaces/interface[name=PORT]/ethernet/state/counters/in-symbol-error", "physical_symbol_errors"),
    counter("/interfaces/interface[name=PORT]/ethernet/state/counters/fec-uncorrectable-blocks",
            "fec_uncorrectable_blocks"),
    counter("/interfaces/interface[name=PORT]/ethernet/state/counters/in-mac-pause-frames", "pause_frames", kReceive),
    counter("/interfaces/interface[name=PORT]/ethernet/state/counters/out-mac-pause-frames", "pause_frames", kTransmit),
    // openconfig-qos.yang. A queue is no priority: which goes into which is the switch's configuration.
    counter("/qos/interfaces/interface[interface-id=PORT]/output/queues/queue[name=PART]/state/ecn-marked-pkts",
            "ecn_marks_made"),
    // openconfig-lldp.yang, openconfig-lldp-types.yang
    other("/lldp/state/chassis-id", LeafKind::kChassisId),
    other("/lldp/state/chassis-id-type", LeafKind::kChassisIdType),
    other("/lldp/state/system-name", LeafKind::kSystemName),
    other("/lldp/interfaces/interface[name=PORT]/neighbors/neighbor[id=NEIGHBOUR]/state/chassis-id",
          LeafKind::kNeighbourChassisId),
    other("/lldp/interfaces/interface[name=PORT]/neighbors/neighbor[id=NEIGHBOUR]/state/chassis-id-type",
          LeafKind::kNeighbourChassisIdType),
    other("/lldp/interfaces/interface[name=PORT]/neighbors/neighbor[id=NEIGHBOUR]/state/port-id",
          LeafKind::kNeighbourPortId),
    other("/lldp/interfaces/interface[name=PORT]/neighbors/neighbor[id=NEIGHBOUR]/state/port-id-type",
          LeafKind::kNeighbourPortIdType),
    other("/lldp/interfaces/interface[name=PORT]/neighbors/neighbor[id=NEIGHBOUR]/state/port-description",
          LeafKind::kNeighbourPortDescription),
    other("/lldp/interfaces/interface[name=PORT]/neighbors/neighbor[id=NEIGHBOUR]/state/system-name",
          LeafKind::kNeighbourSystemName),
    other("/lldp/interfaces/interface[name=PORT]/neighbors/neighbor[id=NEIGHBOUR]/state/management-address",
          LeafKind::kNeighbourAddress),
    // Arista: arista-exp-eos augments of openconfig-interfaces.
    counter("/interfaces/interface[name=PORT]/ethernet/pfc/priorities/priority[index=PRIORITY]/state/in-frames",
            "pfc_frames", kReceive),
    counter("/interfaces/interface[name=PORT]/ethernet/pfc/priorities/priority[index=PRIORITY]/state/out-frames",
            "pfc_frames", kTransmit),
    // NVIDIA Cumulus Linux: "gNMI Streaming", Metrics, of its user guide. Which key its counters of PFC by priority
    // have, that does not say.
    other("/interfaces/interface[name=PORT]/ethernet/state/counters/carrier-transitions",
          LeafKind::kCarrierTransitions),
    counter("/interfaces/interface[name=PORT]/ethernet/phy/state/rs-fec-uncorrectable-blocks",
            "fec_uncorrectable_blocks"),
    counter("/interfaces/interface[name=PORT]/ethernet/phy/state/symbol-errors", "physical_symbol_errors"),
    // Nokia: srl_nokia-qos.yang
    counter("/qos/interfaces/interface[interface-id=PORT]/pfc/statistics/pfc-priority[index=PRIORITY]/"
            "pfc-pause-frames-received",
            "pfc_frames", kReceive),
    counter("/qos/interfaces/interface[interface-id=PORT]/pfc/statistics/pfc-priority[index=PRIORITY]/"
            "pfc-pause-frames-generated",
            "pfc_frames", kTransmit),
    // SONiC: tables of COUNTERS_DB by port name, with the names of saiport.h. An answer has the path that was asked
    // for,
    // with its "*", and JSON with a port's name on top.
    counter("/COUNTERS/*/{PORT}/SAI_PORT_STAT_IF_OUT_OCTETS", "transmit_bytes"),
    counter("/COUNTERS/*/{PORT}/SAI_PORT_STAT_IF_IN_OCTETS", "receive_bytes"),
    counter("/COUNTERS/*/{PORT}/SAI_PORT_STAT_IF_OUT_UCAST_PKTS", "unicast_transmit_packets"),
    counter("/COUNTERS/*/{PORT}/SAI_PORT_STAT_IF_IN_UCAST_PKTS", "unicast_receive_packets"),
    counter("/COUNTERS/*/{PORT}/SAI_PORT_STAT_IF_IN_ERRORS", "receive_errors"),
    counter("/COUNTERS/*/{PORT}/SAI_PORT_STAT_IF_OUT_ERRORS", "transmit_errors"),
    counter("/COUNTERS/*/{PORT}/SAI_PORT_STAT_IF_IN_DISCARDS", "receive_discards"),
    counter("/COUNTERS/*/{PORT}/SAI_PORT_STAT_IF_OUT_DISCARDS", "transmit_discards"),
    counter("/COUNTERS/*/{PORT}/SAI_PORT_STAT_IF_IN_FEC_NOT_CORRECTABLE_FRAMES", "fec_uncorrectable_blocks"),
    counter("/COUNTERS/*/{PORT}/SAI_PORT_STAT_IF_IN_FEC_CORRECTABLE_FRAMES", "fec_corrected_blocks"),
    counter("/COUNTERS/*/{PORT}/SAI_PORT_STAT_PFC_0_RX_PKTS", "pfc_frames", kReceive, 0),
    counter("/COUNTERS/*/{PORT}/SAI_PORT_STAT_PFC_0_TX_PKTS", "pfc_frames", kTransmit, 0),
    counter("/COUNTERS/*/{PORT}/SAI_PORT_STAT_PFC_1_RX_PKTS", "pfc_frames", kReceive, 1),
    counter("/COUNTERS/*/{PORT}/SAI_PORT_STAT_PFC_1_TX_PKTS", "pfc_frames", kTransmit, 1),
    counter("/COUNTERS/*/{PORT}/SAI_PORT_STAT_PFC_2_RX_PKTS", "pfc_frames", kReceive, 2),
    counter("/COUNTERS/*/{PORT}/SAI_PORT_STAT_PFC_2_TX_PKTS", "pfc_frames", kTransmit, 2),
    counter("/COUNTERS/*/{PORT}/SAI_PORT_STAT_PFC_3_RX_PKTS", "pfc_frames", kReceive, 3),
    counter("/COUNTERS/*/{PORT}/SAI_PORT_STAT_PFC_3_TX_PKTS", "pfc_frames", kTransmit, 3),
    counter("/COUNTERS/*/{PORT}/SAI_PORT_STAT_PFC_4_RX_PKTS", "pfc_frames", kReceive, 4),
    counter("/COUNTERS/*/{PORT}/SAI_PORT_STAT_PFC_4_TX_PKTS", "pfc_frames", kTransmit, 4),
    counter("/COUNTERS/*/{PORT}/SAI_PORT_STAT_PFC_5_RX_PKTS", "pfc_frames", kReceive, 5),
    counter("/COUNTERS/*/{PORT}/SAI_PORT_STAT_PFC_5_TX_PKTS", "pfc_frames", kTransmit, 5),
    counter("/COUNTERS/*/{PORT}/SAI_PORT_STAT_PFC_6_RX_PKTS", "pfc_frames", kReceive, 6),
    counter("/COUNTERS/*/{PORT}/SAI_PORT_STAT_PFC_6_TX_PKTS", "pfc_frames", kTransmit, 6),
    counter("/COUNTERS/*/{PORT}/SAI_PORT_STAT_PFC_7_RX_PKTS", "pfc_frames", kReceive, 7),
    counter("/COUNTERS/*/{PORT}/SAI_PORT_STAT_PFC_7_TX_PKTS", "pfc_frames", kTransmit, 7),
});

/// What a model is called in the answer to Capabilities; empty: it is asked for anyway.
std::string_view mark_of(Model model) {
  switch (model) {
    case Model::kOpenConfig:
      return "";
    case Model::kSonicCounters:
      return "sonic";
    case Model::kEosPfc:
      return "arista";
    case Model::kNvidia:
      return "nvidia";
    case Model::kSrLinux:
      return "srl_nokia";
  }
  return "";
}

}  // namespace

std::span<const Leaf> leaves() {
  return kLeaves;
}

const char* to_string(Model model) {
  switch (model) {
    case Model::kOpenConfig:
      return "openconfig";
    case Model::kSonicCounters:
      return "sonic";
    case Model::kEosPfc:
      return "eos";
    case Model::kNvidia:
      return "nvidia";
    case Model::kSrLinux:
      return "srlinux";
  }
  return "unknown";
}

const std::vector<Group>& groups() {
  static const std::vector<Group> kGroups{
      {.name = "state",
       .pace = Pace::kChange,
       .is_needed = true,
       .paths = {"/interfaces/interface[name=*]/state/oper-status", "/interfaces/interface[name=*]/state/admin-status",
                 "/interfaces/interface[name=*]/state/type", "/interfaces/interface[name=*]/state/description",
                 "/interfaces/interface[name=*]/ethernet/state/port-speed",
                 "/interfaces/interface[name=*]/ethernet/state/mac-address"}},
      {.name = "counters", .is_needed = true, .paths = {"/interfaces/interface[name=*]/state/counters"}},
      {.name = "ethernet counters", .paths = {"/interfaces/interface[name=*]/ethernet/state/counters"}},
      {.name = "lldp",
       .pace = Pace::kChange,
       .is_needed = true,
       .paths = {"/lldp/state", "/lldp/interfaces/interface[name=*]/neighbors/neighbor[id=*]/state"}},
      {.name = "queues",
       .paths = {"/qos/interfaces/interface[interface-id=*]/output/queues/queue[name=*]/state/ecn-marked-pkts"}},
      {.name = "sonic counters",
       .model = Model::kSonicCounters,
       .target = "COUNTERS_DB",
       .paths = {"/COUNTERS/Ethernet*"}},
      {.name = "eos pfc",
       .model = Model::kEosPfc,
       .paths = {"/interfaces/interface[name=*]/ethernet/pfc/priorities/priority[index=*]/state"}},
      {.name = "nvidia phy", .model = Model::kNvidia, .paths = {"/interfaces/interface[name=*]/ethernet/phy/state"}},
      {.name = "srlinux pfc",
       .model = Model::kSrLinux,
       .origin = "srl_nokia",
       .paths = {"/qos/interfaces/interface[interface-id=*]/pfc/statistics/pfc-priority[index=*]"}},
  };
  return kGroups;
}

bool is_asked_for(const Group& group, std::span<const std::string> models) {
  const std::string_view mark = mark_of(group.model);
  return mark.empty() || std::ranges::any_of(models, [&](const std::string& name) { return name.starts_with(mark); });
}

LeafIndex::LeafIndex() : nodes_(1) {
  for (const Leaf& leaf : kLeaves) enter(leaf);
}

std::uint32_t LeafIndex::child_of(std::uint32_t parent, const Node& node) {
  for (const std::uint32_t child : nodes_[parent].children)
    if (nodes_[child].name == node.name && nodes_[child].key == node.key && nodes_[child].key_role == node.key_role)
      return child;
  const auto place = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back(node);
  nodes_[parent].children.push_back(place);
  return place;
}

void LeafIndex::enter(const Leaf& leaf) {
  const auto role_of = [](std::string_view word) {
    if (word == "PORT" || word == "{PORT}") return Role::kPort;
    if (word == "NEIGHBOUR") return Role::kNeighbour;
    if (word == "PRIORITY") return Role::kPriority;
    return word == "PART" ? Role::kPart : Role::kNone;
  };
  const auto path = parse_path(leaf.path);  // the tests parse all of them
  if (!path) return;
  std::uint32_t at = 0;
  for (const Element& element : path->elements) {
    Node node{.name = element.name};
    node.element = role_of(element.name);
    node.is_any = element.name == "*" || node.element != Role::kNone;
    if (element.key_count > 0) {
      node.key = path->keys[element.first_key].name;
      node.key_role = role_of(path->keys[element.first_key].value);
    }
    at = child_of(at, node);
  }
  nodes_[at].leaf = &leaf;
}

bool LeafIndex::take(Role role, std::string_view text, Place& place) {
  constexpr std::size_t kLongestName = 64;
  if (role == Role::kNone) return true;
  if (text.empty() || text == "*") return false;
  if (role == Role::kPriority) {
    if (text.size() != 1 || text.front() < '0' || text.front() > '7') return false;
    place.priority = static_cast<std::uint8_t>(text.front() - '0');
    return true;
  }
  if (role == Role::kPort) {
    if (text.size() > kLongestName) return false;
    place.port = text;
  }
  if (role == Role::kNeighbour) place.neighbour = text;
  if (role == Role::kPart) place.part = text;
  return true;
}

bool LeafIndex::follow(const Path& path, std::size_t depth, std::uint32_t at, bool to_leaf, Place& place) const {
  const Node& node = nodes_[at];
  if (depth == path.elements.size()) {
    if (to_leaf && node.leaf == nullptr) return false;
    place.leaf = node.leaf;
    if (node.leaf && node.leaf->priority != kNoPriority) place.priority = node.leaf->priority;
    return true;
  }
  const Element& element = path.elements[depth];
  const std::string_view name = without_module(element.name);
  for (const std::uint32_t child : node.children) {
    const Node& next = nodes_[child];
    if (!next.is_any && next.name != name) continue;
    const Place before = place;
    bool fits = take(next.element, name, place);
    if (fits && next.key_role != Role::kNone) {
      const auto key = path.key_of(element, next.key);
      fits = key && take(next.key_role, *key, place);
    }
    if (fits && follow(path, depth + 1, child, to_leaf, place)) return true;
    place = before;
  }
  return false;
}

std::optional<Place> LeafIndex::find(const Path& path) const {
  Place place;
  if (!follow(path, 0, 0, true, place)) return std::nullopt;
  return place;
}

std::optional<Place> LeafIndex::find_part(const Path& path) const {
  Place place;
  if (!follow(path, 0, 0, false, place)) return std::nullopt;
  return place;
}

}  // namespace weft::gnmi
