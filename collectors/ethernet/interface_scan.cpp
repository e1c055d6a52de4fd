// SPDX-License-Identifier: Apache-2.0
#include "collectors/ethernet/interface_scan.hpp"

#include <net/if_arp.h>

#include <algorithm>
#include <limits>

#include "collectors/sysfs/sysfs_files.hpp"
#include "collectors/sysfs/sysfs_text.hpp"

namespace weft::ethernet {
namespace {

constexpr std::size_t kMostInterfaces = 2048;

const HostPort* port_on(std::span<const HostPort> ports, const std::string& interface) {
  const HostPort* found = nullptr;
  for (const HostPort& port : ports) {
    if (port.netdev != interface) continue;
    // Soft-RoCE may sit on an adapter's interface beside the adapter's own RDMA device: the hardware comes first.
    if (found == nullptr || (found->pci_address.empty() && !port.pci_address.empty())) found = &port;
  }
  return found;
}

HostPort port_alone(const std::string& sysfs_root, const Interface& interface) {
  const std::string path = sysfs_root + "/class/net/" + interface.name;
  HostPort port;
  port.device = interface.name;
  port.netdev = interface.name;
  port.driver = interface.driver;
  port.bond = sysfs::bond_of(sysfs_root, interface.name);
  port.pci_address = sysfs::pci_address_in(sysfs::real_path(path + "/device"));
  port.is_virtual_function = sysfs::is_virtual_function(path + "/device");
  port.link_layer = interface.is_infiniband ? LinkLayer::kInfiniBand : LinkLayer::kEthernet;
  return port;
}

}  // namespace

bool is_watched_alone(const std::string& sysfs_root, const std::string& name, const std::regex* also) {
  if (also && std::regex_search(name, *also)) return true;
  const std::string path = sysfs_root + "/class/net/" + name;
  return sysfs::exists(path + "/device") && !sysfs::is_representor(path);
}

InterfaceScan scan_interfaces(const std::string& sysfs_root, std::span<const HostPort> rdma_ports,
                              const std::regex* also) {
  InterfaceScan scan;
  for (const sysfs::DirectoryEntry& entry : sysfs::list_directory(sysfs_root + "/class/net")) {
    if (scan.interfaces.size() == kMostInterfaces) break;
    const HostPort* port = port_on(rdma_ports, entry.name);
    if (port == nullptr && !is_watched_alone(sysfs_root, entry.name, also)) continue;
    const std::string path = sysfs_root + "/class/net/" + entry.name;
    const auto index = sysfs::parse_counter(sysfs::read_text(path + "/ifindex"));
    if (!index || *index == 0 || *index > std::numeric_limits<std::uint32_t>::max()) continue;
    Interface interface;
    interface.name = entry.name;
    interface.index = static_cast<std::uint32_t>(*index);
    interface.driver = sysfs::link_name(path + "/device/driver");
    interface.device = port != nullptr ? port->device : entry.name;
    interface.port = port != nullptr ? port->number : std::uint8_t{0};
    interface.is_infiniband = sysfs::parse_counter(sysfs::read_text(path + "/type")) == ARPHRD_INFINIBAND;
    interface.is_beside_its_port = sysfs::is_beside_its_port(path + "/device");
    interface.is_software_rdma = port != nullptr && port->pci_address.empty();
    if (port == nullptr) scan.alone.push_back(port_alone(sysfs_root, interface));
    scan.interfaces.push_back(std::move(interface));
  }
  return scan;
}

}  // namespace weft::ethernet
