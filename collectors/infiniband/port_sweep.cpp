// SPDX-License-Identifier: Apache-2.0
#include "collectors/infiniband/port_sweep.hpp"

#include <algorithm>

namespace weft::infiniband {

MadAddress subnet_address(const Subnet& subnet, NodeIndex node, bool by_lid) {
  if (!by_lid) return {};
  const Node& n = subnet.node(node);
  // Of an adapter any port with a LID of this subnet that is up will do; the agent behind it is one.
  for (PortIndex p = n.first_port; p < n.first_port + n.port_entries(); ++p)
    if (const Port& port = subnet.port(p);
        port.lid.is_unicast() && (port.is_up() || port.number.value == 0) && subnet.is_here(p))
      return {MadClass::kSubnetLidRouted, port.lid, 0, 0, 0, 0};
  return {};
}

std::optional<std::uint16_t> find_pkey(std::span<const std::uint16_t> pkeys, std::uint16_t pkey) {
  constexpr std::uint16_t kFullMember = 0x8000;
  const auto partition = static_cast<std::uint16_t>(pkey & ~kFullMember);
  if (partition == 0) return std::nullopt;
  auto found = std::ranges::find(pkeys, static_cast<std::uint16_t>(partition | kFullMember));
  if (found == pkeys.end() && (pkey & kFullMember)) found = std::ranges::find(pkeys, partition);
  if (found == pkeys.end()) return std::nullopt;
  return static_cast<std::uint16_t>(found - pkeys.begin());
}

std::optional<MadAddress> performance_address(Subnet& subnet, const GeneralServices& services, PortIndex index) {
  const Port& port = subnet.port(index);
  const PerformanceAgent& agent = subnet.agent(port.node);
  MadAddress address{MadClass::kPerformance, port.lid, 1, services.queue_key, agent.service_level, services.pkey_index};
  if (agent.known && agent.info.redirect_lid.is_unicast()) {
    address.lid = agent.info.redirect_lid;
    address.queue_pair = agent.info.redirect_qpn;
    address.queue_key = agent.info.redirect_qkey;
    address.service_level = agent.info.redirect_sl;
    // An agent that names no partition means the one we asked in.
    if (const std::uint16_t pkey = agent.info.redirect_pkey; (pkey & 0x7FFF) != 0) {
      const auto pkey_index = find_pkey(services.pkeys, pkey);
      if (!pkey_index) return std::nullopt;
      address.pkey_index = *pkey_index;
    }
  }
  if (!address.lid.is_unicast()) return std::nullopt;
  return address;
}

// ---- who is there

MadAddress administrator_address(const Subnet& subnet, const GeneralServices& services) {
  return {MadClass::kSubnetAdministration, subnet.subnet_manager_lid(), 1, services.queue_key,
          subnet.subnet_manager_sl(),      services.pkey_index};
}

IdentityCheck::IdentityCheck(Subnet& subnet, std::vector<NodeIndex> nodes, bool directed, std::uint8_t further_tries)
    : subnet_(subnet), nodes_(std::move(nodes)), directed_(directed), further_tries_(further_tries) {
  present_.reserve(nodes_.size());
}

bool IdentityCheck::next(MadRequest& request) {
  if (next_ == nodes_.size()) return false;
  const NodeIndex node = nodes_[next_++];
  request = {};
  request.node = node;
  request.attribute = attribute::kNodeInfo;
  request.tries_left = further_tries_;
  request.address = subnet_address(subnet_, node, !directed_ && subnet_.reach(node).by_lid);
  return true;
}

void IdentityCheck::encode(const MadRequest& request, MadBytes mad) {
  if (request.address.mad_class == MadClass::kSubnetLidRouted) {
    encode_subnet_get(mad, request.attribute, 0, nullptr);
    return;
  }
  const DirectedRoute route = subnet_.route_to(request.node).value_or(DirectedRoute{});
  encode_subnet_get(mad, request.attribute, 0, &route);
}

void IdentityCheck::answered(const MadRequest& request, MadResult result, ConstMadBytes mad, TimePoint) {
  const NodeIndex node = request.node;
  const auto info = result == MadResult::kOk ? decode_node_info(mad) : std::nullopt;
  // Another GUID under this LID: the subnet manager has moved LIDs. Silence of the node itself, as far as we know.
  if (!info || info->guid != subnet_.node(node).guid) {
    missing_.push_back(node);
    if (info && directed_) replaced_.push_back(node);
    return;
  }
  if (info->port_count != subnet_.node(node).port_count) {
    // A LID may lead to a second node with this GUID; the directed route leads to where the first one was.
    if (!directed_) {
      missing_.push_back(node);
      return;
    }
    needs_new_epoch_ = true;
  }
  present_.push_back(node);
}

// ---- states and counters

PortReadings::PortReadings(Subnet& subnet, const GeneralServices& services, std::span<const NodeIndex> nodes,
                           SampleTable& counters, std::vector<TimePoint>& state_read_at)
    : subnet_(subnet),
      services_(services),
      nodes_(nodes),
      counters_(counters),
      state_read_at_(state_read_at),
      packet_errors_{counters.column(CounterId::kReceiveErrors), counters.column(CounterId::kReceiveSwitchRelayErrors),
                     counters.column(CounterId::kTransmitDiscards)},
      link_errors_{counters.column(CounterId::kLinkDowned), counters.column(CounterId::kLinkErrorRecovery),
                   counters.column(CounterId::kLocalLinkIntegrityErrors), counters.column(CounterId::kSymbolErrors)} {}

PortReadings::Errors PortReadings::errors_of(PortIndex port) const {
  const auto sum = [&](std::span<const SampleTable::Column> columns) {
    std::uint64_t total = 0;
    for (const SampleTable::Column column : columns)
      if (counters_.present(port, column)) total += counters_.value(port, column);
    return total;
  };
  return {sum(link_errors_), sum(packet_errors_)};
}

bool PortReadings::next(MadRequest& request) {
  while (group_ < nodes_.size()) {
    const std::size_t members = std::min(kGroup, nodes_.size() - group_);
    for (; member_ < members; ++member_, step_ = kState) {
      const NodeIndex node = nodes_[group_ + member_];
      const Node& n = subnet_.node(node);
      if (entry_ >= n.port_entries()) continue;
      group_has_more_ = true;
      const PortIndex port = n.first_port + entry_;
      while (step_ < kSteps) {
        const auto step = static_cast<Step>(step_++);
        if (prepare(request, node, port, step)) return true;
      }
    }
    member_ = 0;
    step_ = kState;
    ++entry_;
    if (!group_has_more_) {
      entry_ = 0;
      group_ += members;
    }
    group_has_more_ = false;
  }
  return false;
}

bool PortReadings::prepare(MadRequest& request, NodeIndex node, PortIndex index, Step step) {
  const Port& port = subnet_.port(index);
  const PerformanceAgent& agent = subnet_.agent(node);
  if (step == kState) {
    request = {};
    request.attribute = attribute::kPortInfo;
    request.modifier = port.number.value;
    request.address = subnet_address(subnet_, node, subnet_.reach(node).by_lid);
  } else {
    const Node& n = subnet_.node(node);
    if (!agent.known || !subnet_.reach(node).by_lid ||
        (agent.info.capability_mask & PerformanceAgentInfo::kSamplesOnly))
      return false;
    // Port 0 of a switch has counters only when it is an enhanced one.
    if (port.number.value == 0 && !n.enhanced_port0) return false;
    // An adapter's own port that is down cannot be reached; its neighbour's half of the story stays readable.
    if (n.type != NodeType::kSwitch && port.physical_state != PortPhysicalState::kLinkUp) return false;
    if (!subnet_.is_here(index)) return false;
    if (step == kNarrow && agent.info.has_wide_errors()) return false;  // the 64-bit form says all of it
    if (step == kWide && !agent.info.has_extended()) return false;
    const auto address = performance_address(subnet_, services_, index);
    if (!address) return false;
    request = {};
    request.attribute = step == kNarrow ? attribute::kPortCounters : attribute::kPortCountersExtended;
    request.address = *address;
  }
  request.node = node;
  request.port = index;
  return true;
}

void PortReadings::encode(const MadRequest& request, MadBytes mad) {
  if (request.address.mad_class == MadClass::kPerformance) {
    encode_performance_get(mad, request.attribute, subnet_.port(request.port).number);
  } else if (request.address.mad_class == MadClass::kSubnetLidRouted) {
    encode_subnet_get(mad, request.attribute, request.modifier, nullptr);
  } else {
    const DirectedRoute route = subnet_.route_to(request.node).value_or(DirectedRoute{});
    encode_subnet_get(mad, request.attribute, request.modifier, &route);
  }
}

void PortReadings::answered(const MadRequest& request, MadResult result, ConstMadBytes mad, TimePoint now) {
  if (result == MadResult::kBadStatus && request.address.mad_class == MadClass::kPerformance && (status_of(mad) & 0x2))
    subnet_.agent(request.node).known = false;  // redirected: learn where to before the next sweep
  if (result != MadResult::kOk) return;
  const PortIndex port = request.port;
  if (request.attribute == attribute::kPortInfo) {
    state(port, mad, now);
    return;
  }
  const PerformanceAgentInfo& agent = subnet_.agent(request.node).info;
  const bool was_read = counters_.read_at(port) != kNever;
  const Errors before = errors_of(port);
  if (request.attribute == attribute::kPortCounters)
    decode_port_counters(mad, agent, counters_, port);
  else
    decode_port_counters_extended(mad, agent, counters_, port);
  const Errors after = errors_of(port);
  if (after.of_packets != before.of_packets) moved_.push_back(port);
  // What was there at the first reading may be years old.
  if (was_read && after.of_link != before.of_link) troubled_.push_back(port);
  counters_.set_read_at(port, now);
}

void PortReadings::state(PortIndex index, ConstMadBytes mad, TimePoint now) {
  const Port& port = subnet_.port(index);
  const NodeIndex node = port.node;
  const bool is_switch = subnet_.node(node).type == NodeType::kSwitch;
  const bool is_external = is_switch && port.number.value != 0;
  const bool was_up = port.physical_state == PortPhysicalState::kLinkUp;
  std::optional<PortCapabilities> capabilities;
  if (is_external) capabilities = subnet_.switch_capabilities(node);
  const PortInfo info = decode_port_info(mad, capabilities);
  if (is_switch && !is_external) subnet_.switch_capabilities(node) = info.capabilities;
  if (!is_external) subnet_.reach(node).has_other_key = has_other_management_key(mad, services_.management_key);
  state_read_at_[index] = now;
  subnet_.note_subnet_manager(index, info);
  const bool is_up = info.physical_state == PortPhysicalState::kLinkUp;
  if (subnet_.update(index, info)) refresh_wait_tick(subnet_, index);
  if (is_up != was_up) links_changed_ = true;
  const bool is_ours = node == subnet_.local_node() && port.number == subnet_.local_port();
  if (is_up && (is_external || is_ours) && (!was_up || port.peer == kNoIndex)) to_look_behind_.push_back(index);
}

void refresh_wait_tick(Subnet& subnet, PortIndex index) {
  Port& port = subnet.port(index);
  const double rate = link_bits_per_second(port.width_active, port.speed_active);
  if (rate <= 0) return;  // keep the last one: the counter stands still while the port is down
  port.wait_tick_seconds =
      static_cast<float>(wait_tick_seconds(subnet.agent(port.node).tick, lanes(port.width_active), rate));
}

}  // namespace weft::infiniband
