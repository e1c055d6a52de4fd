// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the kernel's files say of RDMA devices, under the files' own names: for a page that others' dashboards read. The
// readings of SysfsSource are something else: they have one value for each meaning, from the source that knows best.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace weft::rdma {

/// The numbers in a folder of counters, by file. A file that has none ("N/A (no PMA)") is left out.
using FileValues = std::map<std::string, std::uint64_t, std::less<>>;

/// A port; what its files do not say is absent.
struct PortFiles {
  std::uint8_t number = 0;
  std::optional<std::uint64_t> state;                 ///< "4: ACTIVE" → 4
  std::optional<std::uint64_t> physical_state;        ///< "5: LinkUp" → 5
  std::optional<std::uint64_t> rate_bits_per_second;  ///< also of a port that is down: its slowest, to the kernel
  FileValues counters;
  FileValues counters_ext;  ///< 64-bit counters of kernels before 4.5
  FileValues hw_counters;
};

/// A device; texts are empty where it has no such file.
struct DeviceFiles {
  std::string name;  ///< "mlx5_0"
  std::string board_id;
  std::string firmware;
  std::string device_type;       ///< hca_type
  std::vector<PortFiles> ports;  ///< sorted by number
};

/// Reads them all, sorted by name, below `sysfs_root`/class/infiniband: at most 1024 devices. It takes some 10 µs for
/// each counter, and longer where the driver has to ask the adapter.
std::vector<DeviceFiles> read_kernel_files(const std::string& sysfs_root);

}  // namespace weft::rdma
