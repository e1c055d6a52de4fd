// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who is who on a fabric. Strong types: a LID never becomes a port number by accident.

#include <compare>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace weft {

/// EUI-64 of a node (NodeInfo.NodeGUID, InfiniBand Architecture vol. 1, 14.2.5.3). The identity of a node: names repeat
/// and change, GUIDs are not supposed to. Zero means none.
struct NodeGuid {
  std::uint64_t value = 0;
  auto operator<=>(const NodeGuid&) const = default;
  /// False for 0, which means none.
  explicit operator bool() const { return value != 0; }
};

/// EUI-64 of an end port (NodeInfo.PortGUID). A switch has one, that of port 0. Zero means none.
struct PortGuid {
  std::uint64_t value = 0;
  auto operator<=>(const PortGuid&) const = default;
  /// False for 0, which means none.
  explicit operator bool() const { return value != 0; }
};

/// Local identifier (vol. 1, 4.1.3). 0 and 0xFFFF in dumps mean none; unicast is 1..0xBFFF.
struct Lid {
  std::uint16_t value = 0;
  auto operator<=>(const Lid&) const = default;
  /// True for 1..0xBFFF.
  bool is_unicast() const { return value >= 1 && value <= 0xBFFF; }
};

/// Most external ports of a node of an InfiniBand subnet: NodeInfo.NumPorts has 8 bits (vol. 1, 14.2.5.3), and 255 is
/// no port in a linear forwarding table (14.2.5.10).
inline constexpr unsigned kMostSubnetPorts = 254;
/// Most external ports of a switch of an Ethernet fabric: what PortNum can number.
inline constexpr unsigned kMostPorts = 65'535;

/// Port number on its node: 0 is a switch's management port, external ports count from 1.
struct PortNum {
  std::uint16_t value = 0;
  auto operator<=>(const PortNum&) const = default;
};

/// A port for ever: node GUID and port number, whatever its LID or name are today.
struct PortKey {
  NodeGuid node;
  PortNum port;
  auto operator<=>(const PortKey&) const = default;
};

/// A cable for ever: its two ports, the smaller key first, so that both ends name the same link.
struct LinkKey {
  PortKey low;
  PortKey high;
  auto operator<=>(const LinkKey&) const = default;
};

/// The link between `a` and `b`, in whichever order they come.
inline LinkKey make_link_key(PortKey a, PortKey b) {
  return a < b ? LinkKey{a, b} : LinkKey{b, a};
}

/// Position of a node in Topology::nodes(); stable while the topology's epoch stays the same.
using NodeIndex = std::uint32_t;
/// Position of a port in Topology::ports(); stable while the topology's epoch stays the same.
using PortIndex = std::uint32_t;
inline constexpr std::uint32_t kNoIndex = std::numeric_limits<std::uint32_t>::max();

/// "0x2c5eab0300b87b40": sixteen hexadecimal digits behind 0x, as infiniband-diags print GUIDs.
std::string to_string(NodeGuid guid);
std::string to_string(PortGuid guid);

/// Reads a GUID as people write one: with or without 0x, 1..16 hexadecimal digits, colons allowed between digits
/// (as in /sys/class/infiniband/*/node_guid). Anything else gives nullopt.
std::optional<std::uint64_t> parse_guid(std::string_view text);

}  // namespace weft

template <>
struct std::hash<weft::NodeGuid> {
  std::size_t operator()(weft::NodeGuid guid) const noexcept {
    // GUIDs of one vendor share their high half: mix before the table takes the low bits.
    return static_cast<std::size_t>((guid.value ^ (guid.value >> 29)) * 0x9E3779B97F4A7C15ULL >> 7);
  }
};

template <>
struct std::hash<weft::PortKey> {
  std::size_t operator()(const weft::PortKey& key) const noexcept {
    return std::hash<weft::NodeGuid>{}(key.node) * 257 + key.port.value;
  }
};

template <>
struct std::hash<weft::LinkKey> {
  std::size_t operator()(const weft::LinkKey& key) const noexcept {
    return std::hash<weft::PortKey>{}(key.low) * 31 + std::hash<weft::PortKey>{}(key.high);
  }
};
