// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which RDMA devices a sysfs tree has, what they are and which interfaces belong to them.

#include <cstdint>
#include <string>
#include <vector>

#include "fabric/host.hpp"

namespace weft::rdma {

/// A port with the names of its counter files.
struct ScannedPort {
  HostPort port;
  std::string path;                      ///< ".../class/infiniband/mlx5_0/ports/1"
  std::vector<std::string> counters;     ///< in counters/
  std::vector<std::string> hw_counters;  ///< in hw_counters/
};

/// An RDMA device with its ports.
struct ScannedDevice {
  std::string name;
  std::string path;  ///< ".../class/infiniband/mlx5_0"
  std::string driver;
  bool is_beside_its_port = false;       ///< sysfs::is_beside_its_port(): counters of the whole port are read elsewhere
  std::vector<std::string> hw_counters;  ///< of the whole device
  std::vector<ScannedPort> ports;        ///< sorted by number
};

/// Reads everything below `sysfs_root`/class/infiniband that changes rarely, states and rates included. Devices and
/// ports that vanish meanwhile are shown as far as they were read.
std::vector<ScannedDevice> scan_devices(const std::string& sysfs_root);

}  // namespace weft::rdma
