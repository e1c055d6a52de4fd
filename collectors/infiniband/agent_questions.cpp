// SPDX-License-Identifier: Apache-2.0
// What performance agents can do, what else they count, and the speeds that vendors have of their own.

#include <algorithm>

#include "collectors/infiniband/port_sweep.hpp"

namespace weft::infiniband {
namespace {

// One reply may be lost, and a few with it; who has not answered in so many sweeps does not have the attribute.
constexpr std::uint8_t kSilenceMeansUnsupported = 4;
// An answer may be lost, and a link may train at another speed between two sweeps: asked again after so many.
constexpr std::uint64_t kVendorSpeedsAgainAfter = 64;
// A node that does not know the attribute may do so with another firmware.
constexpr std::uint64_t kVendorSpeedsUnsupportedFor = 4096;

PortNum first_external(const Subnet& subnet, NodeIndex node, PortIndex speaking) {
  return subnet.node(node).type == NodeType::kSwitch ? PortNum{1} : subnet.port(speaking).number;
}

}  // namespace

PortIndex speaking_port(const Subnet& subnet, NodeIndex node) {
  const Node& n = subnet.node(node);
  for (PortIndex p = n.first_port; p < n.first_port + n.port_entries(); ++p)
    if (const Port& port = subnet.port(p);
        port.lid.is_unicast() && (port.is_up() || port.number.value == 0) && subnet.is_here(p))
      return p;
  return kNoIndex;
}

AgentQuestions::AgentQuestions(Subnet& subnet, const GeneralServices& services, std::vector<NodeIndex> nodes)
    : subnet_(subnet), services_(services) {
  questions_.reserve(nodes.size() * 2);
  for (const NodeIndex node : nodes) questions_.emplace_back(node, attribute::kClassPortInfo);
}

bool AgentQuestions::next(MadRequest& request) {
  while (next_ < questions_.size()) {
    const auto [node, attribute] = questions_[next_++];
    const PortIndex port = speaking_port(subnet_, node);
    if (port == kNoIndex) continue;
    // ClassPortInfo is asked of the node itself: it is what tells of a redirection.
    const bool known = subnet_.agent(node).known;
    if (attribute == attribute::kClassPortInfo) subnet_.agent(node).known = false;
    const auto address = performance_address(subnet_, services_, port);
    subnet_.agent(node).known = known;
    if (!address) continue;
    request = {};
    request.node = node;
    request.port = port;
    request.attribute = attribute;
    request.address = *address;
    request.optional = attribute == attribute::kPortSamplesControl;
    return true;
  }
  return false;
}

void AgentQuestions::encode(const MadRequest& request, MadBytes mad) {
  encode_performance_get(mad, request.attribute, first_external(subnet_, request.node, request.port));
}

void AgentQuestions::answered(const MadRequest& request, MadResult result, ConstMadBytes mad, TimePoint) {
  PerformanceAgent& agent = subnet_.agent(request.node);
  if (request.attribute == attribute::kClassPortInfo) {
    const bool redirected = result == MadResult::kBadStatus && (status_of(mad) & 0x2);
    if (result != MadResult::kOk && !redirected) return;
    agent.info = decode_performance_class_port_info(mad);
    agent.known = true;
    if (!agent.tick_asked && !agent.spared) questions_.emplace_back(request.node, attribute::kPortSamplesControl);
    return;
  }
  if (result == MadResult::kOk) agent.tick = decode_samples_tick(mad);
  // An agent that just answered ClassPortInfo and is silent now does not have it: some drop what they do not know.
  agent.tick_asked = true;
  const Node& node = subnet_.node(request.node);
  for (PortIndex p = node.first_port; p < node.first_port + node.port_entries(); ++p) refresh_wait_tick(subnet_, p);
  subnet_.mark_changed();
}

DetailReadings::DetailReadings(Subnet& subnet, const GeneralServices& services, std::vector<PortIndex> ports,
                               SampleTable& details)
    : subnet_(subnet), services_(services), ports_(std::move(ports)), details_(details) {}

bool DetailReadings::is_left_alone(NodeIndex node, std::size_t which) const {
  const auto silent = silent_.find(node);
  const unsigned bits = subnet_.agent(node).unsupported_details | (silent == silent_.end() ? 0U : silent->second);
  return (bits >> which) & 1;
}

bool DetailReadings::next(MadRequest& request) {
  constexpr std::size_t kSpeeds = kDetailAttributes.size() - 1;
  while (port_ < ports_.size()) {
    const PortIndex index = ports_[port_];
    const Port& port = subnet_.port(index);
    const PerformanceAgent& agent = subnet_.agent(port.node);
    while (attribute_ < kDetailAttributes.size()) {
      const std::size_t which = attribute_++;
      if (!agent.known || agent.spared || is_left_alone(port.node, which)) continue;
      const auto address = performance_address(subnet_, services_, index);
      if (!address) continue;
      if (which == kSpeeds) {
        // Slower links than EDR know no Reed-Solomon, faster ones nothing else; where the agent counts it at all.
        const bool counts_rs = agent.info.capability_mask & PerformanceAgentInfo::kRsFecCounters;
        if (!counts_rs || port.speed_active != kSpeedEdr) {
          mode_known_.emplace_back(index, counts_rs && port.speed_active > kSpeedEdr);
          continue;
        }
        request = {};
        request.attribute = attribute::kPortInfoExtended;
        request.modifier = port.number.value;
        request.address = {MadClass::kSubnetLidRouted, port.lid, 0, 0, 0, 0};
      } else {
        request = {};
        request.attribute = kDetailAttributes[which];
        request.address = *address;
      }
      request.node = port.node;
      request.port = index;
      request.optional = true;
      return true;
    }
    ++port_;
    attribute_ = 0;
  }
  while (next_known_ < mode_known_.size()) {
    const auto [index, rs_fec] = mode_known_[next_known_++];
    const auto address = performance_address(subnet_, services_, index);
    if (!address || is_left_alone(subnet_.port(index).node, kSpeeds)) continue;
    request = {};
    request.node = subnet_.port(index).node;
    request.port = index;
    request.attribute = kDetailAttributes[kSpeeds];
    request.address = *address;
    request.tag = rs_fec;
    request.optional = true;
    return true;
  }
  return false;
}

void DetailReadings::encode(const MadRequest& request, MadBytes mad) {
  if (request.address.mad_class == MadClass::kSubnetLidRouted)
    encode_subnet_get(mad, request.attribute, request.modifier, nullptr);
  else
    encode_performance_get(mad, request.attribute, subnet_.port(request.port).number);
}

void DetailReadings::answered(const MadRequest& request, MadResult result, ConstMadBytes mad, TimePoint now) {
  PerformanceAgent& agent = subnet_.agent(request.node);
  if (request.address.mad_class == MadClass::kSubnetLidRouted) {
    if (result != MadResult::kTimeout)
      mode_known_.emplace_back(request.port, result == MadResult::kOk && decode_rs_fec_active(mad));
    return;
  }
  // Some agents say "unsupported", some say nothing: in both cases it is left alone for a while.
  const auto which =
      static_cast<std::size_t>(std::ranges::find(kDetailAttributes, request.attribute) - kDetailAttributes.begin());
  std::uint8_t& unanswered = agent.details_unanswered[which];
  if (result != MadResult::kTimeout) {
    unanswered = 0;
  } else if (!is_left_alone(request.node, which)) {
    ++unanswered;
    silent_[request.node] |= static_cast<std::uint8_t>(1U << which);
  }
  if (result == MadResult::kUnsupported || unanswered >= kSilenceMeansUnsupported)
    agent.unsupported_details |= static_cast<std::uint8_t>(1U << which);
  if (result != MadResult::kOk) return;
  if (decode_detail(request.attribute, mad, request.tag != 0, details_, request.port))
    details_.set_read_at(request.port, now);
}

VendorSpeedQuestions::VendorSpeedQuestions(Subnet& subnet, std::vector<PortIndex> ports, std::uint64_t sweep)
    : subnet_(subnet), ports_(std::move(ports)), sweep_(sweep) {}

bool VendorSpeedQuestions::next(MadRequest& request) {
  while (next_ < ports_.size()) {
    const PortIndex index = ports_[next_++];
    const Port& port = subnet_.port(index);
    if (subnet_.reach(port.node).ask_vendor_at > sweep_) continue;  // it has just said that it does not have it
    request = {};
    request.node = port.node;
    request.port = index;
    request.attribute = attribute::kVendorPortInfo;
    request.modifier = port.number.value;
    request.address = subnet_address(subnet_, port.node, subnet_.reach(port.node).by_lid);
    request.optional = true;
    return true;
  }
  return false;
}

void VendorSpeedQuestions::encode(const MadRequest& request, MadBytes mad) {
  if (request.address.mad_class == MadClass::kSubnetLidRouted) {
    encode_subnet_get(mad, request.attribute, request.modifier, nullptr);
    return;
  }
  const DirectedRoute route = subnet_.route_to(request.node).value_or(DirectedRoute{});
  encode_subnet_get(mad, request.attribute, request.modifier, &route);
}

void VendorSpeedQuestions::answered(const MadRequest& request, MadResult result, ConstMadBytes mad, TimePoint) {
  subnet_.vendor_speeds(request.port).ask_at = sweep_ + kVendorSpeedsAgainAfter;
  if (result == MadResult::kOk) {
    const VendorPortInfo info = decode_vendor_port_info(mad);
    if (subnet_.update_vendor_speeds(request.port, info)) refresh_wait_tick(subnet_, request.port);
    // Both ends of a link run at one speed: that of one that is spared the question, too.
    const PortIndex peer = subnet_.port(request.port).peer;
    if (peer == kNoIndex || !subnet_.agent(subnet_.port(peer).node).spared) return;
    if (subnet_.update_vendor_speeds(peer, {info.speed_active, info.speed_active, info.speed_active}))
      refresh_wait_tick(subnet_, peer);
    return;
  }
  const bool refused = result == MadResult::kUnsupported || result == MadResult::kBadStatus;
  subnet_.reach(request.node).ask_vendor_at =
      sweep_ + (refused ? kVendorSpeedsUnsupportedFor : kVendorSpeedsAgainAfter);
}

bool is_due_for_vendor_speeds(Subnet& subnet, PortIndex index, std::uint64_t sweep) {
  const Port& port = subnet.port(index);
  if (port.speed_active != kSpeedQdr && port.speed_active != kSpeedFdr10) return false;
  const Node& node = subnet.node(port.node);
  if (port.number.value == 0 || !has_vendor_port_info(node.vendor_id, node.device_id)) return false;
  const Reach& reach = subnet.reach(port.node);
  return node.reachable && reach.silent_sweeps == 0 && reach.ask_vendor_at <= sweep &&
         subnet.vendor_speeds(index).ask_at <= sweep && !subnet.agent(port.node).spared && subnet.is_here(index);
}

CounterClears::CounterClears(Subnet& subnet, const GeneralServices& services, std::vector<Selection> what)
    : subnet_(subnet), services_(services), what_(std::move(what)) {}

bool CounterClears::next(MadRequest& request) {
  while (next_ < what_.size()) {
    const auto [port, select] = what_[next_++];
    const auto address = performance_address(subnet_, services_, port);
    if (!address) continue;
    request = {};
    request.node = subnet_.port(port).node;
    request.port = port;
    request.attribute = attribute::kPortCounters;
    request.tag = select;
    request.address = *address;
    return true;
  }
  return false;
}

void CounterClears::encode(const MadRequest& request, MadBytes mad) {
  encode_performance_clear(mad, subnet_.port(request.port).number, static_cast<std::uint16_t>(request.tag));
}

}  // namespace weft::infiniband
