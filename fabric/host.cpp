// SPDX-License-Identifier: Apache-2.0
#include "fabric/host.hpp"

#include <set>

namespace weft {

std::string adapter_key(const HostPort& port) {
  return port.pci_address.empty() ? port.device : port.pci_address.substr(0, port.pci_address.rfind('.'));
}

std::string port_name(std::string_view device, std::uint32_t number) {
  return std::string(device) + ' ' + std::to_string(number);
}

std::uint64_t adapters_of(const HostInventory& inventory) {
  std::set<std::uint64_t> guids;
  for (const HostPort& port : inventory.ports)
    if (port.node_guid && !port.is_virtual_function) guids.insert(port.node_guid.value);
  if (guids.empty()) return 0;
  std::uint64_t hash = 0xcbf29ce484222325;  // RFC 9923: the same in every build
  for (const std::uint64_t guid : guids)
    for (unsigned shift = 0; shift < 64; shift += 8) hash = (hash ^ (guid >> shift & 0xFF)) * 0x100000001b3;
  return hash == 0 ? 1 : hash;
}

const char* to_string(Direction direction) {
  switch (direction) {
    case Direction::kTransmit:
      return "transmit";
    case Direction::kReceive:
      return "receive";
    case Direction::kNone:
      break;
  }
  return "";
}

const char* to_string(CollectorState state) {
  switch (state) {
    case CollectorState::kConnected:
      return "connected";
    case CollectorState::kSilent:
      return "silent";
    case CollectorState::kDisconnected:
      break;
  }
  return "disconnected";
}

}  // namespace weft
