// SPDX-License-Identifier: Apache-2.0
#include "collectors/rdma/kernel_files.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "collectors/sysfs/sysfs_files.hpp"
#include "collectors/sysfs/sysfs_text.hpp"

namespace weft::rdma {
namespace {

constexpr std::size_t kMostKernelDevices = 1024;

FileValues read_folder(const std::string& path) {
  FileValues values;
  for (const sysfs::DirectoryEntry& entry : sysfs::list_directory(path))
    if (const auto value = sysfs::parse_counter(sysfs::read_text(path + '/' + entry.name)))
      values.emplace(entry.name, *value);
  return values;
}

PortFiles read_port_files(const std::string& path, std::uint8_t number) {
  PortFiles port;
  port.number = number;
  port.state = sysfs::parse_numbered(sysfs::read_text(path + "/state"));
  port.physical_state = sysfs::parse_numbered(sysfs::read_text(path + "/phys_state"));
  if (const std::uint64_t rate = sysfs::parse_rate(sysfs::read_text(path + "/rate")); rate != 0)
    port.rate_bits_per_second = rate;
  port.counters = read_folder(path + "/counters");
  port.counters_ext = read_folder(path + "/counters_ext");
  port.hw_counters = read_folder(path + "/hw_counters");
  return port;
}

}  // namespace

std::vector<DeviceFiles> read_kernel_files(const std::string& sysfs_root) {
  std::vector<DeviceFiles> devices;
  for (const sysfs::DirectoryEntry& entry : sysfs::list_directory(sysfs_root + "/class/infiniband")) {
    if (devices.size() == kMostKernelDevices) break;
    const std::string path = sysfs_root + "/class/infiniband/" + entry.name;
    DeviceFiles& device = devices.emplace_back();
    device.name = entry.name;
    device.board_id = sysfs::read_text(path + "/board_id");
    device.firmware = sysfs::read_text(path + "/fw_ver");
    device.device_type = sysfs::read_text(path + "/hca_type");
    for (const sysfs::DirectoryEntry& port : sysfs::list_directory(path + "/ports")) {
      const auto number = sysfs::parse_counter(port.name);
      if (number && *number <= std::numeric_limits<std::uint8_t>::max())
        device.ports.push_back(read_port_files(path + "/ports/" + port.name, static_cast<std::uint8_t>(*number)));
    }
    std::ranges::sort(device.ports, {}, &PortFiles::number);
  }
  return devices;
}

}  // namespace weft::rdma
