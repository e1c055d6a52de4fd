// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a driver calls its counters, and what they are in the catalogue: one line of a table for each.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "fabric/host.hpp"

namespace weft {

/// What the number in a driver's name stands for: a priority in "rx_prio3_pause", a lane in "rx_err_lane_0_phy",
/// nothing that the catalogue tells apart in "rx_discard_packets_cos2" (all of them are added up).
enum class NameIndex : std::uint8_t { kNone, kPriority, kLane, kSummed };

/// One counter of one driver. `driver_name` is matched exactly; a '#' in it stands for a decimal number, which becomes
/// the priority or the lane. Two lines of one table that say the same are parts of one figure and are added up.
struct DriverCounter {
  std::string_view driver_name;
  std::string_view name;  ///< canonical: a row of fabric/counters.hpp that is `on_hosts`
  Direction direction = Direction::kNone;
  NameIndex index = NameIndex::kNone;
  std::uint8_t bits = 64;
  CounterBehaviour behaviour = CounterBehaviour::kWraps;
  std::uint32_t factor = 1;  ///< from the driver's unit to the catalogue's
  /// It counts the physical port, whichever function of the adapter is asked: read from one of them only.
  bool of_whole_port = false;
};

/// The line that `driver_name` falls under.
struct CounterMatch {
  const DriverCounter* counter;
  std::uint8_t index;  ///< the number in the name; 0 where there is none
};

/// A driver's way to say that it has no reading: all ones in 64 bits (ionic_v1_stat_val() in
/// drivers/infiniband/hw/ionic/ionic_hw_stats.c; a device that fell off the bus reads so, too). No counter gets there.
constexpr bool is_no_reading(std::uint64_t value) {
  return value == ~std::uint64_t{0};
}

/// Looks `driver_name` up in one table; nullopt when the table does not have it, or its number is out of range
/// (priorities 0..7, all others 0..31).
std::optional<CounterMatch> find_driver_counter(std::span<const DriverCounter> table, std::string_view driver_name);

/// The series that a match means for one port.
HostSeries series_of(const CounterMatch& match, std::string_view device, std::uint8_t port);
/// A series under the driver's own name. Names longer than 128 bytes are cut.
HostSeries raw_series(std::string_view driver_name, std::string_view device, std::uint8_t port);

}  // namespace weft
