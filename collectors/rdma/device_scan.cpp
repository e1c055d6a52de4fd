// SPDX-License-Identifier: Apache-2.0
#include "collectors/rdma/device_scan.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>

#include "collectors/rdma/driver_tables.hpp"
#include "collectors/sysfs/sysfs_files.hpp"
#include "collectors/sysfs/sysfs_text.hpp"

namespace weft::rdma {
namespace {

using sysfs::DirectoryEntry;
using sysfs::exists;
using sysfs::link_name;
using sysfs::list_directory;
using sysfs::read_text;

constexpr std::size_t kMostDevices = 1024;

/// Soft-RoCE and soft-iWARP may borrow the function of the adapter below them as their parent, and are no hardware all
/// the same. Only rxe tells its interface in "parent" (drivers/infiniband/sw/rxe/rxe_verbs.c); siw says what it is.
std::string software_driver_of(const std::string& device_path) {
  if (exists(device_path + "/parent")) return "rxe";
  if (read_text(device_path + "/node_desc").starts_with("Software iWARP")) return "siw";
  return {};
}

std::vector<std::string> counter_names(const std::string& path) {
  std::vector<std::string> names;
  for (DirectoryEntry& entry : list_directory(path))
    // "lifespan" is a setting: how long the kernel keeps what it read.
    if (entry.name != "lifespan") names.push_back(std::move(entry.name));
  return names;
}

std::string hardware_driver_of(const std::string& device_path, const std::string& device) {
  if (const std::string bus_driver = link_name(device_path + "/device/driver"); !bus_driver.empty())
    return std::string(rdma_driver_of(bus_driver));
  if (const std::string_view driver = rdma_driver_from_device_name(device); !driver.empty()) return std::string(driver);
  for (const DirectoryEntry& entry : list_directory(device_path + "/ports")) {
    const std::vector<std::string> names = counter_names(device_path + "/ports/" + entry.name + "/hw_counters");
    if (const std::string_view driver = rdma_driver_from_counter_names(names); !driver.empty())
      return std::string(driver);
  }
  return {};
}

/// Among the interfaces of the device's function the one of this port: drivers number them by dev_port from 0. Further
/// interfaces on top (IPoIB children) came later and have larger indices.
std::string netdev_of_function(const std::string& device_path, std::uint8_t number) {
  std::string best;
  std::uint64_t best_index = std::numeric_limits<std::uint64_t>::max();
  for (const DirectoryEntry& entry : list_directory(device_path + "/device/net")) {
    const std::string path = device_path + "/device/net/" + entry.name;
    const std::uint64_t dev_port = sysfs::parse_counter(read_text(path + "/dev_port")).value_or(0);
    const std::uint64_t index = sysfs::parse_counter(read_text(path + "/ifindex")).value_or(0);
    if (dev_port + 1 != number || index >= best_index || sysfs::is_representor(path)) continue;
    best = entry.name;
    best_index = index;
  }
  return best;
}

std::string netdev_of(const std::string& device_path, const std::string& port_path, std::uint8_t number) {
  if (std::string parent = read_text(device_path + "/parent"); !parent.empty()) return parent;
  if (std::string netdev = netdev_of_function(device_path, number); !netdev.empty()) return netdev;
  // The kernel answers EINVAL for an index without a GID, so that it need not be the first one.
  constexpr std::size_t kMostGids = 16;
  std::size_t seen = 0;
  for (const DirectoryEntry& entry : list_directory(port_path + "/gid_attrs/ndevs")) {
    if (std::string netdev = read_text(port_path + "/gid_attrs/ndevs/" + entry.name); !netdev.empty()) return netdev;
    if (++seen == kMostGids) break;
  }
  return {};
}

bool function_has_representors(const std::string& device_path) {
  const std::string folder = device_path + "/device/net/";
  return std::ranges::any_of(list_directory(folder),
                             [&](const DirectoryEntry& entry) { return sysfs::is_representor(folder + entry.name); });
}

/// Of an adapter that switches between its functions (devlink's switchdev mode), mlx5 gives the RDMA device of the
/// physical function a port for each of the others as well: with the function's representor as its interface, or with
/// none while there is no such function. They carry nothing that the functions' own devices do not count.
bool stands_for_another(const std::string& sysfs_root, const HostPort& port) {
  if (port.number <= 1 || port.link_layer != LinkLayer::kEthernet) return false;
  return port.netdev.empty() || sysfs::is_representor(sysfs_root + "/class/net/" + port.netdev);
}

ScannedPort scan_port(const std::string& sysfs_root, const std::string& device_path, const HostPort& device,
                      std::uint8_t number) {
  ScannedPort scanned;
  scanned.path = device_path + "/ports/" + std::to_string(number);
  HostPort& port = scanned.port;
  port = device;
  port.number = number;
  port.link_layer = sysfs::parse_link_layer(read_text(scanned.path + "/link_layer"));
  port.netdev = netdev_of(device_path, scanned.path, number);
  port.bond = sysfs::bond_of(sysfs_root, port.netdev);
  port.port_guid = sysfs::parse_gid(read_text(scanned.path + "/gids/0"), port.link_layer == LinkLayer::kEthernet);
  port.state = sysfs::parse_port_state(read_text(scanned.path + "/state"));
  port.physical_state = sysfs::parse_physical_state(read_text(scanned.path + "/phys_state"));
  port.lid = sysfs::parse_lid(read_text(scanned.path + "/lid"));
  // What the kernel says of a port that is down is its slowest rate, not a fact.
  if (port.state != PortState::kDown) port.rate_bits_per_second = sysfs::parse_rate(read_text(scanned.path + "/rate"));
  scanned.counters = counter_names(scanned.path + "/counters");
  scanned.hw_counters = counter_names(scanned.path + "/hw_counters");
  return scanned;
}

ScannedDevice scan_device(const std::string& sysfs_root, const std::string& name) {
  ScannedDevice scanned;
  scanned.name = name;
  scanned.path = sysfs_root + "/class/infiniband/" + name;
  scanned.driver = software_driver_of(scanned.path);
  const bool is_hardware = scanned.driver.empty();
  if (is_hardware) scanned.driver = hardware_driver_of(scanned.path, name);
  scanned.is_beside_its_port = is_hardware && sysfs::is_beside_its_port(scanned.path + "/device");
  scanned.hw_counters = counter_names(scanned.path + "/hw_counters");
  HostPort device;
  device.device = name;
  device.driver = scanned.driver;
  if (is_hardware) device.pci_address = sysfs::pci_address_in(sysfs::real_path(scanned.path + "/device"));
  device.firmware = read_text(scanned.path + "/fw_ver");
  device.board_id = read_text(scanned.path + "/board_id");
  device.device_type = read_text(scanned.path + "/hca_type");
  device.is_virtual_function = is_hardware && sysfs::is_virtual_function(scanned.path + "/device");
  device.node_guid = sysfs::parse_node_guid(read_text(scanned.path + "/node_guid"));
  const bool has_representors = is_hardware && function_has_representors(scanned.path);
  for (const DirectoryEntry& entry : list_directory(scanned.path + "/ports")) {
    const std::optional<std::uint64_t> number = sysfs::parse_counter(entry.name);
    if (!number || *number == 0 || *number > std::numeric_limits<std::uint8_t>::max()) continue;
    ScannedPort port = scan_port(sysfs_root, scanned.path, device, static_cast<std::uint8_t>(*number));
    if (!has_representors || !stands_for_another(sysfs_root, port.port)) scanned.ports.push_back(std::move(port));
  }
  std::ranges::sort(scanned.ports, {}, [](const ScannedPort& port) { return port.port.number; });
  return scanned;
}

}  // namespace

std::vector<ScannedDevice> scan_devices(const std::string& sysfs_root) {
  std::vector<ScannedDevice> devices;
  for (const DirectoryEntry& entry : list_directory(sysfs_root + "/class/infiniband")) {
    if (devices.size() == kMostDevices) break;
    devices.push_back(scan_device(sysfs_root, entry.name));
  }
  return devices;
}

}  // namespace weft::rdma
