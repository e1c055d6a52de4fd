// SPDX-License-Identifier: Apache-2.0
#include "tests/fakes/fake_mad_port.hpp"

#include <infiniband/mad.h>

#include <algorithm>
#include <cstring>
#include <thread>

namespace weft::fakes {
namespace {

using infiniband::MadClass;

std::uint32_t get(FakeMadPort::Reply& mad, int base, MAD_FIELDS field) {
  return mad_get_field(mad.data(), base, field);
}
void put(FakeMadPort::Reply& mad, int base, MAD_FIELDS field, std::uint32_t value) {
  mad_set_field(mad.data(), base, field, value);
}

}  // namespace

std::size_t FakeMadPort::add_adapter(std::uint64_t guid, std::string description, std::uint8_t ports) {
  FakeNode node;
  node.guid = guid;
  node.type = 1;
  node.description = std::move(description);
  node.ports.resize(ports + 1U);
  for (std::uint8_t p = 1; p <= ports; ++p) node.ports[p].lid = next_lid_++;
  nodes_.push_back(std::move(node));
  return nodes_.size() - 1;
}

std::size_t FakeMadPort::add_switch(std::uint64_t guid, std::string description, std::uint8_t ports) {
  FakeNode node;
  node.guid = guid;
  node.type = 2;
  node.description = std::move(description);
  node.ports.resize(ports + 1U);
  node.ports[0].lid = next_lid_++;
  nodes_.push_back(std::move(node));
  return nodes_.size() - 1;
}

void FakeMadPort::connect(std::size_t a, std::uint8_t a_port, std::size_t b, std::uint8_t b_port) {
  for (const auto& [node, number] : {std::pair{a, a_port}, std::pair{b, b_port}}) {
    FakePort& end = port(node, number);
    if (end.peer_node != SIZE_MAX) port(end.peer_node, end.peer_port).peer_node = SIZE_MAX;
  }
  port(a, a_port).peer_node = b;
  port(a, a_port).peer_port = b_port;
  port(b, b_port).peer_node = a;
  port(b, b_port).peer_port = a_port;
}

void FakeMadPort::set_link(std::size_t node, std::uint8_t number, bool up) {
  FakePort& end = port(node, number);
  FakePort& other = port(end.peer_node, end.peer_port);
  end.state = other.state = up ? 4 : 1;
  end.physical = other.physical = up ? 5 : 2;
}

bool FakeMadPort::is_up(std::size_t node, std::uint8_t number) const {
  const FakePort& port = nodes_[node].ports[number];
  return port.peer_node != SIZE_MAX && port.physical == 5;
}

Result<infiniband::LocalPort> FakeMadPort::describe() const {
  if (gone) return fail(ErrorCode::kUnavailable, "it is gone");
  infiniband::LocalPort local;
  local.adapter = "fake0";
  local.number = {1};
  local.lid = {nodes_[0].ports[1].lid};
  local.state = is_up(0, 1) ? PortState::kActive : PortState::kDown;
  local.pkeys = pkeys;
  local.guid = {nodes_[0].guid + 1};
  local.subnet_prefix = 0xfe80'0000'0000'0000;  // the default one (vol. 1, 4.1.1)
  return local;
}

bool FakeMadPort::is_reachable(std::size_t wanted) const {
  std::vector<bool> seen(nodes_.size(), false);
  std::vector<std::size_t> queue{0};
  seen[0] = true;
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const std::size_t here = queue[head];
    if (here == wanted) return true;
    if (nodes_[here].type != 2 && here != 0) continue;
    for (std::size_t p = 1; p < nodes_[here].ports.size(); ++p) {
      const FakePort& port = nodes_[here].ports[p];
      if (!is_up(here, static_cast<std::uint8_t>(p)) || seen[port.peer_node]) continue;
      seen[port.peer_node] = true;
      queue.push_back(port.peer_node);
    }
  }
  return false;
}

std::size_t FakeMadPort::by_lid(std::uint16_t lid, std::uint8_t& number) const {
  for (std::size_t n = 0; n < nodes_.size(); ++n)
    for (std::size_t p = 0; p < nodes_[n].ports.size(); ++p)
      if (lid != 0 && nodes_[n].ports[p].lid == lid && is_reachable(n)) {
        number = static_cast<std::uint8_t>(p);
        return n;
      }
  return SIZE_MAX;
}

std::size_t FakeMadPort::by_route(const Reply& mad, std::uint8_t& entered) const {
  std::size_t here = 0;
  entered = 1;
  const std::size_t hops = mad[7];
  for (std::size_t hop = 1; hop <= hops; ++hop) {
    const std::uint8_t exit = mad[128 + hop];
    if (exit >= nodes_[here].ports.size() || !is_up(here, exit)) return SIZE_MAX;
    if (hop > 1 && nodes_[here].type != 2) return SIZE_MAX;
    const FakePort& port = nodes_[here].ports[exit];
    here = port.peer_node;
    entered = port.peer_port;
  }
  return here;
}

Result<void> FakeMadPort::send(const infiniband::MadAddress& to, infiniband::ConstMadBytes bytes,
                               std::chrono::milliseconds) {
  if (gone) return fail(ErrorCode::kUnavailable, "it is gone");
  ++requests;
  Reply mad;
  std::memcpy(mad.data(), bytes.data(), mad.size());
  if (mad[3] != IB_MAD_METHOD_GET) {
    ++sets;
    last_set = mad;
  }
  const Reply request = mad;
  std::uint8_t entered = 0;
  const std::size_t index =
      to.mad_class == MadClass::kSubnetDirectedRoute ? by_route(mad, entered) : by_lid(to.lid.value, entered);
  std::size_t length = 0;
  if (index != SIZE_MAX && !nodes_[index].silent && !(loses && loses(request)) && answer(to, index, entered, mad)) {
    mad[3] = IB_MAD_METHOD_GET_RESPONSE;
    length = tamper ? tamper(to, mad) : mad.size();
  }
  auto& outstanding = outstanding_by_lid[to.lid.value];
  most_by_lid[to.lid.value] = std::max(most_by_lid[to.lid.value], ++outstanding);
  if (length > 0)
    arrivals_.push_back({mad, length, false, to.lid.value});
  else if (answers_time_outs)
    arrivals_.push_back({request, 24, true, to.lid.value});
  most_outstanding = std::max(most_outstanding, static_cast<std::uint32_t>(arrivals_.size()));
  return {};
}

Result<std::optional<infiniband::MadPort::Arrival>> FakeMadPort::receive(infiniband::MadBytes mad) {
  if (gone) return fail(ErrorCode::kUnavailable, "it is gone");
  if (arrivals_.empty()) return std::optional<Arrival>{};
  const Waiting waiting = arrivals_.front();
  arrivals_.pop_front();
  --outstanding_by_lid[waiting.lid];
  std::memcpy(mad.data(), waiting.reply.data(), mad.size());
  return std::optional<Arrival>{{waiting.timed_out, waiting.length}};
}

void FakeMadPort::wait(std::chrono::milliseconds timeout) {
  if (arrivals_.empty()) std::this_thread::sleep_for(timeout);
}

bool FakeMadPort::answer(const infiniband::MadAddress& to, std::size_t index, std::uint8_t entered, Reply& mad) {
  FakeNode& node = nodes_[index];
  const auto attribute = get(mad, 0, IB_MAD_ATTRID_F);
  if (to.mad_class == MadClass::kPerformance) {
    service_levels.insert(to.service_level);
    // A packet of another partition is dropped, not answered (vol. 1, 10.9.3).
    const std::uint16_t pkey = to.pkey_index < pkeys.size() ? pkeys[to.pkey_index] : std::uint16_t{0};
    if (node.partition != 0 && (pkey & 0x7FFF) != (node.partition & 0x7FFF)) return false;
    answer_performance(node, entered, mad);
    return true;
  }
  if (to.mad_class == MadClass::kSubnetAdministration) {
    ++path_records;
    const auto special =
        path_service_levels.find(static_cast<std::uint16_t>(get(mad, IB_SA_DATA_OFFS, IB_SA_PR_DLID_F)));
    put(mad, IB_SA_DATA_OFFS, IB_SA_PR_SL_F,
        special == path_service_levels.end() ? path_service_level : special->second);
    return to.lid.value == subnet_manager_lid && !administrator_hangs;
  }
  if (!may_ask(node, mad)) return false;
  if (attribute == IB_ATTR_MLNX_EXT_PORT_INFO) ++vendor_questions;
  switch (attribute) {
    case IB_ATTR_NODE_INFO:
      put(mad, IB_SMP_DATA_OFFS, IB_NODE_BASE_VERS_F, 1);
      put(mad, IB_SMP_DATA_OFFS, IB_NODE_TYPE_F, node.type);
      put(mad, IB_SMP_DATA_OFFS, IB_NODE_NPORTS_F, static_cast<std::uint32_t>(node.ports.size() - 1));
      put(mad, IB_SMP_DATA_OFFS, IB_NODE_LOCAL_PORT_F, entered);
      put(mad, IB_SMP_DATA_OFFS, IB_NODE_VENDORID_F, node.vendor_id);
      put(mad, IB_SMP_DATA_OFFS, IB_NODE_DEVID_F, node.device_id);
      mad_set_field64(mad.data(), IB_SMP_DATA_OFFS, IB_NODE_GUID_F, node.guid);
      mad_set_field64(mad.data(), IB_SMP_DATA_OFFS, IB_NODE_SYSTEM_GUID_F, node.guid);
      mad_set_field64(mad.data(), IB_SMP_DATA_OFFS, IB_NODE_PORT_GUID_F, node.guid + entered);
      return true;
    case IB_ATTR_NODE_DESC:
      std::memcpy(mad.data() + IB_SMP_DATA_OFFS, node.description.data(),
                  std::min<std::size_t>(64, node.description.size()));
      return true;
    case IB_ATTR_SWITCH_INFO:
      put(mad, IB_SMP_DATA_OFFS, IB_SW_LINEAR_FDB_TOP_F,
          node.forwarding.empty() ? 0U : static_cast<std::uint32_t>(node.forwarding.size() - 1));
      put(mad, IB_SMP_DATA_OFFS, IB_SW_STATE_CHANGE_F, node.port_state_change);
      return true;
    case IB_ATTR_LINEARFORWTBL: {
      ++forwarding_blocks;
      const std::size_t first = get(mad, 0, IB_MAD_ATTRMOD_F) * 64U;
      for (std::size_t i = 0; i < 64; ++i)
        mad[IB_SMP_DATA_OFFS + i] = first + i < node.forwarding.size() ? node.forwarding[first + i] : 255;
      return true;
    }
    case IB_ATTR_PORT_INFO: {
      auto number = static_cast<std::uint8_t>(get(mad, 0, IB_MAD_ATTRMOD_F));  // without bit 31
      if (number == 0 && node.type != 2) number = entered;
      if (number >= node.ports.size()) return false;
      if (mad[3] == IB_MAD_METHOD_SET) set_port_info(node, number, mad);
      answer_port_info(node, index, number, mad);
      return true;
    }
    case IB_ATTR_MLNX_EXT_PORT_INFO:
      if (node.runs_at_fdr10) {
        put(mad, IB_SMP_DATA_OFFS, IB_MLNX_EXT_PORT_LINK_SPEED_SUPPORTED_F, 1);
        put(mad, IB_SMP_DATA_OFFS, IB_MLNX_EXT_PORT_LINK_SPEED_ENABLED_F, 1);
        put(mad, IB_SMP_DATA_OFFS, IB_MLNX_EXT_PORT_LINK_SPEED_ACTIVE_F, 1);
        return true;
      }
      [[fallthrough]];
    default:
      put(mad, 0, IB_MAD_STATUS_F, IB_MAD_STS_METHOD_ATTR_NOT_SUPPORTED);
      return true;
  }
}

bool FakeMadPort::may_ask(const FakeNode& node, const Reply& mad) const {
  if (node.management_key == 0 || (mad[3] == IB_MAD_METHOD_GET && node.key_protection < 2)) return true;
  return mad_get_field64(const_cast<std::uint8_t*>(mad.data()), 0, IB_MAD_MKEY_F) == node.management_key;
}

// As hardware does: with one end Disabled the other one polls, and both come up again together.
void FakeMadPort::set_port_info(FakeNode& node, std::uint8_t number, Reply& mad) {
  if (node.set_status != 0) put(mad, 0, IB_MAD_STATUS_F, node.set_status);
  if (node.set_status != 0 || !node.hears_sets) return;
  const auto wanted = static_cast<std::uint8_t>(mad_get_field(mad.data(), IB_SMP_DATA_OFFS, IB_PORT_PHYS_STATE_F));
  FakePort& port = node.ports[number];
  if (wanted == 0 || port.peer_node == SIZE_MAX) return;
  FakePort& peer = nodes_[port.peer_node].ports[port.peer_port];
  const bool up = wanted == 2 && peer.physical != 3;
  port.physical = up ? 5 : wanted;
  port.state = peer.state = 2;  // Initialize, until a subnet manager comes
  if (peer.physical != 3) peer.physical = up ? 5 : 2;
}

void FakeMadPort::answer_port_info(const FakeNode& node, std::size_t index, std::uint8_t number, Reply& mad) const {
  const FakePort& port = node.ports[number];
  const bool management = number == 0;
  const bool up = management || is_up(index, number);
  const auto set = [&mad](MAD_FIELDS field, std::uint32_t value) { put(mad, IB_SMP_DATA_OFFS, field, value); };
  set(IB_PORT_STATE_F, management ? 4U : up ? port.state : 1U);
  set(IB_PORT_PHYS_STATE_F, management ? 5U : port.peer_node == SIZE_MAX ? 2U : port.physical);
  set(IB_PORT_LID_F, port.lid);
  set(IB_PORT_SMLID_F, subnet_manager_lid);
  set(IB_PORT_LOCAL_PORT_F, number);
  set(IB_PORT_CAPMASK_F, 1U << 14);
  const bool has_key = management || node.type != 2;  // a switch has one, in port 0
  const bool knows = mad_get_field64(mad.data(), 0, IB_MAD_MKEY_F) == node.management_key;
  mad_set_field64(mad.data(), IB_SMP_DATA_OFFS, IB_PORT_MKEY_F,
                  has_key && (knows || node.key_protection == 0) ? node.management_key : 0);
  set(IB_PORT_MKEY_PROT_BITS_F, has_key ? node.key_protection : 0U);
  set(IB_PORT_OPER_VLS_F, 3);
  set(IB_PORT_LINK_DOWN_DEF_F, 2);
  set(IB_PORT_LINK_WIDTH_ACTIVE_F, 2);
  set(IB_PORT_LINK_WIDTH_ENABLED_F, 3);
  set(IB_PORT_LINK_WIDTH_SUPPORTED_F, 3);
  set(IB_PORT_LINK_SPEED_ACTIVE_F, 4);
  set(IB_PORT_LINK_SPEED_ENABLED_F, 7);
  set(IB_PORT_LINK_SPEED_SUPPORTED_F, 7);
  if (node.runs_at_fdr10) return;
  set(IB_PORT_LINK_SPEED_EXT_ACTIVE_F, 4);
  set(IB_PORT_LINK_SPEED_EXT_ENABLED_F, 7);
  set(IB_PORT_LINK_SPEED_EXT_SUPPORTED_F, 7);
}

void FakeMadPort::answer_performance(FakeNode& node, std::uint8_t entered, Reply& mad) {
  const auto attribute = get(mad, 0, IB_MAD_ATTRID_F);
  if (attribute == CLASS_PORT_INFO) {
    put(mad, IB_PC_DATA_OFFS, IB_CPI_CAPMASK_F, node.performance_capabilities);
    put(mad, IB_PC_DATA_OFFS, IB_CPI_REDIRECT_LID_F, node.redirect_lid);
    put(mad, IB_PC_DATA_OFFS, IB_CPI_REDIRECT_QP_F, 1);
    put(mad, IB_PC_DATA_OFFS, IB_CPI_REDIRECT_PKEY_F, node.redirect_pkey);
    return;
  }
  const auto select = get(mad, IB_PC_DATA_OFFS, IB_PC_PORT_SELECT_F);
  FakePort& port = node.ports[node.type == 2 && select < node.ports.size() ? select : entered];
  if (attribute == IB_GSI_PORT_COUNTERS && mad[3] == IB_MAD_METHOD_GET) {
    for (const auto& [field, value] : port.counters)
      put(mad, IB_PC_DATA_OFFS, static_cast<MAD_FIELDS>(field), static_cast<std::uint32_t>(value));
  } else if (attribute == IB_GSI_PORT_COUNTERS) {
    port.counters.clear();
  } else if (attribute == IB_GSI_PORT_COUNTERS_EXT) {
    for (const auto& [field, value] : port.extended_counters)
      mad_set_field64(mad.data(), IB_PC_DATA_OFFS, static_cast<MAD_FIELDS>(field), value);
  } else if (attribute != IB_GSI_PORT_RCV_ERROR_DETAILS || !node.details) {
    put(mad, 0, IB_MAD_STATUS_F, IB_MAD_STS_METHOD_ATTR_NOT_SUPPORTED);
  }
}

}  // namespace weft::fakes
