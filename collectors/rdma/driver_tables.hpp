// SPDX-License-Identifier: Apache-2.0
#pragma once
// The counters of RDMA drivers under their exact names, and which driver a device has.

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "collectors/series/driver_counter.hpp"

namespace weft::rdma {

/// The counters of ports/P/counters (Documentation/ABI/stable/sysfs-class-infiniband): the same for every driver.
std::span<const DriverCounter> port_counter_table();
/// The hw_counters of a driver, of its ports and of the device; empty for a driver that nobody knows.
std::span<const DriverCounter> hw_counter_table(std::string_view driver);

/// The line of `table` that a counter of the device falls under; nullopt also where it counts a port that another
/// device of this host counts, too (`is_beside_its_port`).
std::optional<CounterMatch> find_own_counter(std::span<const DriverCounter> table, std::string_view driver_name,
                                             bool is_beside_its_port);

/// The RDMA driver that belongs to the PCI or platform driver of that name: "mlx5_core" → "mlx5", "bnxt_en" →
/// "bnxt_re". A name that is not known is returned as it is.
std::string_view rdma_driver_of(std::string_view bus_driver);
/// For a device without a bus driver (recorded trees, software devices): the driver whose default names look like
/// this, "mlx5_0" → "mlx5"; empty when none does.
std::string_view rdma_driver_from_device_name(std::string_view device);

/// For a device of which nothing else tells (a recorded tree with udev's names, "rocep23s0"): the driver whose table
/// has the most of these hw_counters; empty when that is not one alone, or fewer than three.
std::string_view rdma_driver_from_counter_names(std::span<const std::string> names);

}  // namespace weft::rdma
