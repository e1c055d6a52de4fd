// SPDX-License-Identifier: Apache-2.0
#include "collectors/infiniband/own_cable.hpp"

namespace weft::infiniband {

bool OwnCableQuestion::next(MadRequest& request) {
  const Port& own = subnet_.port(subnet_.port_of(subnet_.local_node(), subnet_.local_port()));
  if (is_asked_ || own.physical_state != PortPhysicalState::kLinkUp) return false;
  is_asked_ = true;
  request = {};
  request.attribute = attribute::kNodeInfo;
  return true;
}

void OwnCableQuestion::encode(const MadRequest& request, MadBytes mad) {
  const DirectedRoute route = DirectedRoute{}.then(subnet_.local_port()).value_or(DirectedRoute{});
  encode_subnet_get(mad, request.attribute, 0, &route);
}

void OwnCableQuestion::answered(const MadRequest&, MadResult result, ConstMadBytes mad, TimePoint) {
  if (const auto info = result == MadResult::kOk ? decode_node_info(mad) : std::nullopt) neighbor_ = info->guid;
}

std::optional<NodeGuid> own_neighbor(const Subnet& subnet) {
  const PortIndex peer = subnet.port(subnet.port_of(subnet.local_node(), subnet.local_port())).peer;
  if (peer == kNoIndex) return std::nullopt;
  return subnet.node(subnet.port(peer).node).guid;
}

}  // namespace weft::infiniband
