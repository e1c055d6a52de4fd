// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which network interfaces are watched: those of hardware, and those that an RDMA device stands on.

#include <cstdint>
#include <regex>
#include <span>
#include <string>
#include <vector>

#include "fabric/host.hpp"

namespace weft::ethernet {

/// A network interface that is watched.
struct Interface {
  std::string name;
  std::uint32_t index = 0;
  std::string driver;  ///< of its device: "mlx5_core", "ice"; empty for software interfaces
  /// What its values are entered under: the RDMA port on it, else the interface itself.
  std::string device;
  std::uint8_t port = 0;
  bool is_infiniband = false;  ///< IPoIB: its carrier is its subnet manager's matter, not the link's
  bool is_beside_its_port =
      false;                      ///< sysfs::is_beside_its_port(): its driver's statistics of the port are shown there
  bool is_software_rdma = false;  ///< the RDMA port on it has no hardware: all of its traffic passes the interface

  bool operator==(const Interface&) const = default;
};

/// The result of scan_interfaces().
struct InterfaceScan {
  std::vector<Interface> interfaces;
  std::vector<HostPort> alone;  ///< the ports of interfaces without an RDMA device
};

/// Interfaces below `sysfs_root`/class/net with a device of their own, those that `rdma_ports` name, and those whose
/// names have a match of `also` (null: none): front ports of a switch may be software to Linux. Loopback, bridges,
/// tunnels, containers' ends and representors of virtual functions are left out otherwise. 1024 at most.
InterfaceScan scan_interfaces(const std::string& sysfs_root, std::span<const HostPort> rdma_ports,
                              const std::regex* also = nullptr);

/// Whether an interface of that name would be watched for its own sake.
bool is_watched_alone(const std::string& sysfs_root, const std::string& name, const std::regex* also);

}  // namespace weft::ethernet
