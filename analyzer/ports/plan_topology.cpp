// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ports/plan_topology.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft::analyzer {
namespace {

/// FNV-1a (RFC 9923, 64 bits).
constexpr std::uint64_t kFnvBasis = 0xCBF29CE484222325ULL;
constexpr std::uint64_t kFnvPrime = 0x00000100000001B3ULL;

std::uint64_t hash_of(std::string_view text, std::uint64_t hash = kFnvBasis) {
  for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * kFnvPrime;
  return hash;
}

bool is_digit(char letter) {
  return letter >= '0' && letter <= '9';
}

/// The digits at the front, taken off; leading zeros left out.
std::string_view take_number(std::string_view& text) {
  const auto end = static_cast<std::size_t>(std::ranges::find_if_not(text, is_digit) - text.begin());
  std::string_view digits = text.substr(0, end);
  text.remove_prefix(end);
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  return digits;
}

struct InOrder {
  bool operator()(std::string_view a, std::string_view b) const { return comes_before(a, b); }
};

using Ports = std::map<std::string_view, std::size_t, InOrder>;  ///< a port's name: which end of which cable

}  // namespace

bool comes_before(std::string_view a, std::string_view b) {
  std::string_view left = a, right = b;
  while (!left.empty() && !right.empty()) {
    if (is_digit(left.front()) && is_digit(right.front())) {
      const std::string_view low = take_number(left), high = take_number(right);
      if (low.size() != high.size()) return low.size() < high.size();
      if (low != high) return low < high;
      continue;
    }
    if (left.front() != right.front()) return left.front() < right.front();
    left.remove_prefix(1);
    right.remove_prefix(1);
  }
  if (left.empty() != right.empty()) return left.empty();
  return a < b;  // "swp01" and "swp1" differ
}

NodeGuid guid_of_name(std::string_view name) {
  constexpr std::uint64_t kLocal = 0x0200'0000'0000'0000ULL, kGroup = 0x0100'0000'0000'0000ULL;
  // FNV mixes the last letters badly into the upper bits, and names of one fabric differ in those.
  std::uint64_t hash = hash_of(name);
  hash = (hash ^ (hash >> 32)) * 0x9E3779B97F4A7C15ULL;
  hash ^= hash >> 29;
  return {(hash | kLocal) & ~kGroup};
}

Result<std::shared_ptr<const Topology>> make_topology(const CablePlan& plan) {
  // By name, so that the order of the plan makes no difference; of each node its ports.
  std::map<std::string_view, std::pair<bool, Ports>, InOrder> known;
  for (std::size_t cable = 0; cable < plan.cables.size(); ++cable)
    for (const std::size_t side : {0U, 1U}) {
      const CableEnd& end = side == 0 ? plan.cables[cable].a : plan.cables[cable].b;
      auto& [is_switch, ports] = known[plan.nodes[end.node].name];
      is_switch = plan.nodes[end.node].is_switch;
      ports[end.port] = cable * 2 + side;
    }

  std::vector<Node> nodes;
  std::vector<Port> ports;
  std::vector<std::string> names;
  std::vector<PortIndex> index_of_end(plan.cables.size() * 2, kNoIndex);
  std::unordered_map<NodeGuid, std::string> taken;
  std::uint64_t epoch = kFnvBasis;
  const auto add_node = [&](std::string name, NodeType type, std::size_t count) -> Result<void> {
    const NodeGuid guid = guid_of_name(name);
    const auto [same, added] = taken.emplace(guid, name);
    if (!added)
      return fail(ErrorCode::kInvalidArgument,
                  '"' + same->second + "\" and \"" + name + "\" have the same generated GUID; rename one");
    epoch = hash_of(name, epoch);
    Node& node = nodes.emplace_back();
    node.guid = guid;
    node.system_image_guid = guid.value;
    node.type = type;
    node.port_count = static_cast<std::uint16_t>(count);
    node.first_port = static_cast<PortIndex>(ports.size());
    node.description = name;
    node.name = std::move(name);
    return {};
  };
  const auto add_port = [&](std::uint16_t number, std::string_view name, std::size_t end) {
    Port& port = ports.emplace_back();
    port.node = static_cast<NodeIndex>(nodes.size() - 1);
    port.guid = PortGuid{nodes.back().guid.value};
    port.number = PortNum{number};
    if (number > 0) {
      port.wait_tick_seconds = 1e-6F;
      index_of_end[end] = static_cast<PortIndex>(ports.size() - 1);
    }
    names.emplace_back(name);
    epoch = hash_of(name, epoch);
  };
  for (const auto& [name, node] : known) {
    const auto& [is_switch, of_node] = node;
    if (is_switch && of_node.size() > kMostPorts)
      return fail(ErrorCode::kInvalidArgument, "switch \"" + std::string(name) + "\" has cables at " +
                                                   std::to_string(of_node.size()) + " ports; " +
                                                   std::to_string(kMostPorts) + " is the maximum");
    if (is_switch) {
      if (auto added = add_node(std::string(name), NodeType::kSwitch, of_node.size()); !added)
        return tl::unexpected(added.error());
      add_port(0, {}, 0);
    }
    std::uint16_t number = 0;
    for (const auto& [port, end] : of_node) {
      if (!is_switch) {
        if (auto added = add_node(std::string(name) + ' ' + std::string(port), NodeType::kChannelAdapter, 1); !added)
          return tl::unexpected(added.error());
        number = 0;
      }
      add_port(++number, port, end);
    }
  }
  for (std::size_t cable = 0; cable < plan.cables.size(); ++cable) {
    const PortIndex a = index_of_end[cable * 2], b = index_of_end[cable * 2 + 1];
    if (a == kNoIndex || b == kNoIndex)
      return fail(ErrorCode::kInvalidArgument, "a port of the plan has more than one cable");
    ports[a].peer = b;
    ports[b].peer = a;
  }
  for (const Port& port : ports) epoch = (epoch ^ port.peer) * kFnvPrime;
  if (const std::string wrong = Topology::validate(nodes, ports); !wrong.empty())
    return fail(ErrorCode::kInternal, "the cabling is not a valid graph: " + wrong);
  // Clients keep it in numbers of 53 bits.
  constexpr std::uint64_t kEpochBits = (1ULL << 32) - 1;
  return std::make_shared<const Topology>((epoch & kEpochBits) | 1, std::move(nodes), std::move(ports),
                                          std::vector<DuplicateGuid>{}, LinkLayer::kEthernet, std::move(names));
}

}  // namespace weft::analyzer
