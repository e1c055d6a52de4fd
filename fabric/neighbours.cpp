// SPDX-License-Identifier: Apache-2.0
#include "fabric/neighbours.hpp"

#include <tuple>
#include <utility>

namespace weft {

const char* to_string(ChassisIdType type) {
  switch (type) {
    case ChassisIdType::kUnknown:
      break;
    case ChassisIdType::kComponent:
      return "component";
    case ChassisIdType::kInterfaceAlias:
      return "interface alias";
    case ChassisIdType::kPortComponent:
      return "port component";
    case ChassisIdType::kMac:
      return "mac";
    case ChassisIdType::kNetworkAddress:
      return "address";
    case ChassisIdType::kInterfaceName:
      return "interface name";
    case ChassisIdType::kLocal:
      return "local";
  }
  return "unknown";
}

const char* to_string(PortIdType type) {
  switch (type) {
    case PortIdType::kUnknown:
      break;
    case PortIdType::kInterfaceAlias:
      return "interface alias";
    case PortIdType::kPortComponent:
      return "port component";
    case PortIdType::kMac:
      return "mac";
    case PortIdType::kNetworkAddress:
      return "address";
    case PortIdType::kInterfaceName:
      return "interface name";
    case PortIdType::kAgentCircuit:
      return "agent circuit";
    case PortIdType::kLocal:
      return "local";
  }
  return "unknown";
}

std::string plain_text(std::string_view text, std::size_t most) {
  std::string plain(text.substr(0, most));
  std::ranges::replace_if(
      plain, [](unsigned char letter) { return letter < 0x20 || letter > 0x7E; }, '?');
  return plain;
}

namespace {

using Limits = NeighbourLimits;

void clean(Neighbour& neighbour) {
  neighbour.chassis.id = plain_text(neighbour.chassis.id, Limits::kIdLength);
  neighbour.port.id = plain_text(neighbour.port.id, Limits::kIdLength);
  neighbour.system_name = plain_text(neighbour.system_name, Limits::kTextLength);
  neighbour.port_description = plain_text(neighbour.port_description, Limits::kTextLength);
  for (std::string& address : neighbour.addresses) address = plain_text(address, Limits::kTextLength);
  std::ranges::sort(neighbour.addresses);
  auto& addresses = neighbour.addresses;
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());  // clang 14: no ranges::unique
  if (neighbour.addresses.size() > Limits::kAddresses) neighbour.addresses.resize(Limits::kAddresses);
}

std::size_t bytes_of(const Neighbour& one) {
  constexpr std::size_t kBesides = 32;
  std::size_t bytes =
      kBesides + one.chassis.id.size() + one.port.id.size() + one.system_name.size() + one.port_description.size();
  for (const std::string& address : one.addresses) bytes += address.size() + 1;
  return bytes;
}

void keep(NeighbourPort& port, std::size_t most) {
  if (port.neighbours.size() <= most) return;
  port.left_out += static_cast<std::uint32_t>(port.neighbours.size() - most);
  port.neighbours.resize(most);
}

}  // namespace

NeighbourTable tidy(NeighbourTable table) {
  table.chassis.id = plain_text(table.chassis.id, Limits::kIdLength);
  table.system_name = plain_text(table.system_name, Limits::kTextLength);
  for (NeighbourPort& port : table.ports) {
    port.interface = plain_text(port.interface, Limits::kTextLength);
    port.own.id = plain_text(port.own.id, Limits::kIdLength);
    port.own_description = plain_text(port.own_description, Limits::kTextLength);
  }
  std::ranges::sort(table.ports, {}, &NeighbourPort::interface);
  const auto is_twin = [](const NeighbourPort& a, const NeighbourPort& b) { return a.interface == b.interface; };
  table.ports.erase(std::unique(table.ports.begin(), table.ports.end(), is_twin), table.ports.end());
  if (table.ports.size() > Limits::kPorts) table.ports.resize(Limits::kPorts);
  const auto who = [](const Neighbour& one) { return std::tie(one.chassis, one.port); };
  for (NeighbourPort& port : table.ports) {
    for (Neighbour& neighbour : port.neighbours) clean(neighbour);
    std::ranges::sort(port.neighbours, [&](const Neighbour& a, const Neighbour& b) {
      return std::tuple(a.since, who(a)) < std::tuple(b.since, who(b));
    });
    keep(port, Limits::kOfPort);
  }
  // Every interface's first before any one's second.
  std::size_t room = Limits::kNeighbours, bytes = Limits::kBytes;
  std::vector<std::size_t> kept(table.ports.size(), 0);
  for (std::size_t rank = 0; rank < Limits::kOfPort; ++rank)
    for (std::size_t i = 0; i < table.ports.size() && room > 0; ++i) {
      if (kept[i] != rank || table.ports[i].neighbours.size() <= rank) continue;
      const std::size_t weight = bytes_of(table.ports[i].neighbours[rank]);
      if (weight > bytes) continue;
      kept[i] = rank + 1;
      bytes -= weight;
      --room;
    }
  for (std::size_t i = 0; i < table.ports.size(); ++i) {
    keep(table.ports[i], kept[i]);
    std::ranges::sort(table.ports[i].neighbours, {}, who);
    auto& heard = table.ports[i].neighbours;
    const auto is_same = [&who](const Neighbour& a, const Neighbour& b) { return who(a) == who(b); };
    heard.erase(std::unique(heard.begin(), heard.end(), is_same), heard.end());
  }
  return table;
}

}  // namespace weft
