// SPDX-License-Identifier: Apache-2.0
#include "collectors/infiniband/discovery.hpp"

#include <algorithm>

#include "collectors/infiniband/node_description.hpp"

namespace weft::infiniband {

namespace {

// Far beyond any subnet (48K LIDs): a fabric that goes on for ever is a fault or an attack.
constexpr std::size_t kMostNodes = 131'072;
constexpr std::size_t kMostPorts = 4'000'000;

}  // namespace

void Discovery::begin() {
  ask({Kind::kSelf});
}

void Discovery::look_behind(PortIndex port) {
  if (port >= looked_behind_.size()) looked_behind_.resize(std::max<std::size_t>(port + 1, subnet_.port_count()));
  if (looked_behind_[port]) return;
  looked_behind_[port] = true;
  ask({Kind::kBehind, subnet_.port(port).node, port});
}

void Discovery::refresh_description(NodeIndex node) {
  ask({Kind::kDescription, node});
  if (subnet_.node(node).type == NodeType::kSwitch)
    ask({Kind::kSwitchInfo, node});  // its one answer may have been lost
}

bool Discovery::goes_behind(Kind kind) {
  return kind == Kind::kBehind || kind == Kind::kOldCable || kind == Kind::kOtherSide || kind == Kind::kOldPlace ||
         kind == Kind::kSecondName;
}

bool Discovery::next(MadRequest& request) {
  while (next_ < questions_.size()) {
    const Question& question = questions_[next_];
    request = {};
    request.tag = static_cast<std::uint32_t>(next_++);
    request.node = question.node;
    request.port = question.port;
    switch (question.kind) {
      case Kind::kSelf:
      case Kind::kBehind:
      case Kind::kOldCable:
      case Kind::kOldPlace:
        request.attribute = attribute::kNodeInfo;
        request.node = kNoIndex;  // an answer or silence of the one behind says nothing of this node
        break;
      case Kind::kDescription:
        request.attribute = attribute::kNodeDescription;
        break;
      case Kind::kSwitchInfo:
        request.attribute = attribute::kSwitchInfo;
        break;
      case Kind::kPortInfo:
        request.attribute = attribute::kPortInfo;
        request.modifier = subnet_.port(question.port).number.value;
        break;
      case Kind::kOtherSide:
        request.attribute = attribute::kPortInfo;
        request.modifier = subnet_.port(question.other).number.value;
        request.node = kNoIndex;
        break;
      case Kind::kOwnSide:
        request.attribute = attribute::kPortInfo;
        request.modifier = subnet_.port(question.other).number.value;
        break;
      case Kind::kSecondName:
        request.attribute = attribute::kNodeDescription;
        request.node = kNoIndex;
        break;
    }
    const bool goes_further = goes_behind(question.kind);
    if (question.kind != Kind::kSelf) {
      const auto route = subnet_.route_to(question.node);
      if (!route || (goes_further && !route->then(subnet_.port(question.port).number))) continue;
    }
    return true;
  }
  return false;
}

void Discovery::encode(const MadRequest& request, MadBytes mad) {
  const Question& question = questions_[request.tag];
  DirectedRoute route;
  if (question.kind != Kind::kSelf) route = subnet_.route_to(question.node).value_or(DirectedRoute{});
  if (goes_behind(question.kind)) route = route.then(subnet_.port(question.port).number).value_or(route);
  encode_subnet_get(mad, request.attribute, request.modifier, &route);
}

void Discovery::answered(const MadRequest& request, MadResult result, ConstMadBytes mad, TimePoint) {
  const Question question = questions_[request.tag];
  if (result != MadResult::kOk) return;  // silence leaves the far end unknown; the sweep asks again
  switch (question.kind) {
    case Kind::kSelf:
    case Kind::kBehind:
    case Kind::kOldCable:
    case Kind::kOldPlace: {
      const auto info = decode_node_info(mad);
      if (!info) {
        ++absurd_replies_;
        return;
      }
      if (question.kind == Kind::kSelf) {
        const NodeIndex self = subnet_.add(*info);
        subnet_.set_local_port({info->local_port});
        ask_about(self);
      } else if (question.kind == Kind::kBehind) {
        found(question.port, *info);
      } else if (question.kind == Kind::kOldPlace) {
        const NodeIndex known = subnet_.find(info->guid);
        const PortIndex peer = subnet_.port(question.port).peer;
        const bool unchanged = known != kNoIndex && peer != kNoIndex && subnet_.port(peer).node == known &&
                               subnet_.node(known).port_count == info->port_count &&
                               subnet_.node(known).type == info->type;
        if (unchanged)
          report_duplicate(info->guid, question.port, question.other);
        else
          needs_new_epoch_ = true;
      } else {
        // `other` claims the same far end as `port` had. Both see it: two nodes with one GUID. Else the cable moved.
        const PortIndex old_peer = subnet_.port(question.port).peer;
        const bool still_there = old_peer != kNoIndex && info->guid == subnet_.node(subnet_.port(old_peer).node).guid &&
                                 info->local_port == subnet_.port(old_peer).number.value;
        if (still_there)
          report_duplicate(info->guid, question.port, question.other);
        else if (old_peer != kNoIndex)
          connect(question.other, old_peer);
      }
      return;
    }
    case Kind::kDescription:
      subnet_.describe(question.node, decode_node_description(mad), names_);
      return;
    case Kind::kSwitchInfo: {
      Node& node = subnet_.node(question.node);
      const bool enhanced = decode_switch_info(mad).enhanced_port0;
      if (node.enhanced_port0 != enhanced) subnet_.mark_changed();
      node.enhanced_port0 = enhanced;
      return;
    }
    case Kind::kPortInfo:
      port_info(question.port, mad);
      return;
    case Kind::kSecondName: {
      const auto bytes = std::as_bytes(decode_node_description(mad));
      for (DuplicateGuid& duplicate : subnet_.duplicates())
        if (duplicate.second_seen_behind == subnet_.key_of(question.port))
          duplicate.second_description = to_valid_utf8(bytes);
      subnet_.mark_changed();
      return;
    }
    case Kind::kOtherSide: {
      // Asked through the cable in question, the port says it is up; asked by the node's own route it says it is not.
      const PortInfo info = decode_port_info(mad, std::nullopt);
      const Port& other = subnet_.port(question.other);
      if (info.is_link_up() && other.physical_state != PortPhysicalState::kLinkUp)
        ask({Kind::kOwnSide, other.node, question.port, question.other});
      return;
    }
    case Kind::kOwnSide: {
      port_info(question.other, mad);
      const Port& other = subnet_.port(question.other);
      if (other.physical_state == PortPhysicalState::kLinkUp) return;
      const Node& node = subnet_.node(other.node);
      PortIndex first = kNoIndex;
      for (PortIndex p = node.first_port; p < node.first_port + node.port_entries() && first == kNoIndex; ++p)
        if (subnet_.port(p).physical_state == PortPhysicalState::kLinkUp) first = subnet_.port(p).peer;
      if (first != kNoIndex) report_duplicate(node.guid, first, question.port);
      return;
    }
  }
}

void Discovery::ask_about(NodeIndex node) {
  ask({Kind::kDescription, node});
  const bool is_switch = subnet_.node(node).type == NodeType::kSwitch;
  if (is_switch) ask({Kind::kSwitchInfo, node});
  const PortIndex first = subnet_.node(node).first_port;
  for (PortIndex p = first; p < first + subnet_.node(node).port_entries(); ++p) ask({Kind::kPortInfo, node, p});
}

void Discovery::found(PortIndex behind, const NodeInfo& info) {
  const NodeIndex known = subnet_.find(info.guid);
  if (known == kNoIndex) {
    if (subnet_.node_count() >= kMostNodes || subnet_.port_count() + info.port_count + 1U > kMostPorts) {
      ++absurd_replies_;
      return;
    }
    const NodeIndex parent = subnet_.port(behind).node;
    const NodeIndex node = subnet_.add(info);
    Reach& reach = subnet_.reach(node);
    reach.parent = parent;
    reach.parent_exit = subnet_.port(behind).number;
    reach.hops = static_cast<std::uint8_t>(subnet_.reach(parent).hops + 1);
    connect(behind, subnet_.port_of(node, {info.local_port}));
    ask_about(node);
    return;
  }
  if (subnet_.node(known).port_count != info.port_count || subnet_.node(known).type != info.type) {
    found_different(known, behind);
    return;
  }
  const PortIndex arrival = subnet_.port_of(known, {info.local_port});
  if (arrival == kNoIndex || arrival == behind) {
    ++absurd_replies_;  // a switch that says we came in by a port it does not have, or a plug that answers itself
    return;
  }
  if (subnet_.node(known).type != NodeType::kSwitch) subnet_.port(arrival).guid = info.port_guid;
  const PortIndex had = subnet_.port(arrival).peer;
  const bool had_is_up =
      had != kNoIndex && had != behind && subnet_.port(had).physical_state == PortPhysicalState::kLinkUp;
  if (had_is_up)
    ask({Kind::kOldCable, subnet_.port(had).node, had, behind});
  else
    connect(behind, arrival);
}

// The GUID of a known node, another number of ports or another type: it was rebuilt, or it is a second one.
void Discovery::found_different(NodeIndex known, PortIndex behind) {
  PortIndex first = kNoIndex;
  if (known == subnet_.local_node()) {
    first = subnet_.port(subnet_.port_of(known, subnet_.local_port())).peer;
    if (first == behind) needs_new_epoch_ = true;
    if (first == behind || first == kNoIndex) return;  // ours has not been looked behind yet: next time
    report_duplicate(subnet_.node(known).guid, first, behind);
    return;
  }
  const Reach& reach = subnet_.reach(known);
  if (subnet_.node(known).reachable && reach.parent != kNoIndex)
    first = subnet_.port_of(reach.parent, reach.parent_exit);
  if (first == kNoIndex || first == behind || subnet_.port(first).physical_state != PortPhysicalState::kLinkUp)
    needs_new_epoch_ = true;
  else
    ask({Kind::kOldPlace, reach.parent, first, behind});
}

void Discovery::connect(PortIndex a, PortIndex b) {
  if (a == kNoIndex || b == kNoIndex || a == b) return;
  subnet_.connect(a, b);
  connected_.push_back(a);
}

void Discovery::port_info(PortIndex port, ConstMadBytes mad) {
  const NodeIndex index = subnet_.port(port).node;
  const bool is_switch = subnet_.node(index).type == NodeType::kSwitch;
  const bool is_external = is_switch && subnet_.port(port).number.value != 0;
  std::optional<PortCapabilities> capabilities;
  if (is_external) capabilities = subnet_.switch_capabilities(index);
  const PortInfo info = decode_port_info(mad, capabilities);
  if (is_switch && !is_external) subnet_.switch_capabilities(index) = info.capabilities;
  subnet_.update(port, info);
  subnet_.note_subnet_manager(port, info);
  // Adapters do not forward: only switches and the port we sit on have something behind them that we can ask.
  const bool is_ours = index == subnet_.local_node() && subnet_.port(port).number == subnet_.local_port();
  if (info.is_link_up() && (is_external || (is_ours && !is_switch)) && subnet_.port(port).peer == kNoIndex)
    look_behind(port);
}

void Discovery::report_duplicate(NodeGuid guid, PortIndex first_behind, PortIndex second_behind) {
  auto& all = subnet_.duplicates();
  const PortKey second = subnet_.key_of(second_behind);
  if (std::any_of(all.begin(), all.end(), [&](const DuplicateGuid& d) { return d.second_seen_behind == second; }))
    return;
  all.push_back({guid, subnet_.key_of(first_behind), second, {}});
  ask({Kind::kSecondName, subnet_.port(second_behind).node, second_behind});
  subnet_.mark_changed();
}

void Discovery::finish() {
  for (const PortIndex a : connected_) {
    const PortIndex b = subnet_.port(a).peer;
    if (b == kNoIndex) continue;
    for (const auto& [up, down] : {std::pair{a, b}, std::pair{b, a}}) {
      const Port& far = subnet_.port(down);
      const bool contradicts = subnet_.port(up).physical_state == PortPhysicalState::kLinkUp &&
                               far.physical_state != PortPhysicalState::kLinkUp &&
                               far.physical_state != PortPhysicalState::kUnknown;
      const bool may_leave_by_it = subnet_.node(subnet_.port(up).node).type == NodeType::kSwitch;
      if (contradicts && may_leave_by_it) ask({Kind::kOtherSide, subnet_.port(up).node, up, down});
    }
  }
  connected_.clear();
  if (!has_questions()) {
    questions_.clear();
    next_ = 0;
    looked_behind_.assign(looked_behind_.size(), false);
  }
}

}  // namespace weft::infiniband
