// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a collector's reading says of one port of an Ethernet fabric, under the names of the fabric's counters.

#include <array>
#include <cstdint>
#include <vector>

#include "fabric/counters.hpp"
#include "fabric/host.hpp"
#include "fabric/samples.hpp"

namespace weft::analyzer {

/// Counters that every sweep reads, the first of CounterId.
inline constexpr std::size_t kEverySweepCounters = static_cast<std::size_t>(CounterId::kVl15Dropped) + 1;

/// Counters of one port at one moment. What was not read is absent.
struct PortCounters {
  /// One counter's value, and whether it was read.
  struct Value {
    std::uint64_t value = 0;
    bool present = false;
    bool saturated = false;
  };
  std::array<Value, kEverySweepCounters> values{};  ///< by CounterId
  Value paused_others;  ///< microseconds in which the port told its peer to pause: the peer's transmit_wait

  /// True when at least one value was read.
  bool any() const;
  /// What the other end of the cable would say: what was received here was sent there. Errors stay where they are.
  PortCounters seen_from_the_peer() const;
  /// Stores the values that were read in row `row`; other columns keep what they had.
  void write(SampleTable& table, std::size_t row) const;
};

/// Where a port's counters stand in the readings of one inventory.
class PortSeries {
 public:
  /// Series of `port` in `inventory`: those with the names of fabric/counters.hpp that belong to the port as a whole;
  /// transmit_wait is the time that the port was paused, by priority and as a whole, in microseconds (IEEE 802.1Qbb,
  /// 802.3x); link_downed, where the driver has none, the carriers lost; symbol_errors the symbols that are no valid
  /// code and the blocks beyond error correction; receive_errors those of the RDMA device and of the interface
  /// together, and where the interface has none, its frames with a bad check sequence, which are a part of them
  /// (Documentation/networking/statistics.rst).
  static PortSeries find(const HostInventory& inventory, const HostPort& port);

  /// A sum of which a part was not read is absent: parts that come and go would look like a reset.
  PortCounters read(const HostReading& reading) const;

 private:
  struct Source {
    std::uint32_t series = 0;
    CounterId counter = CounterId::kCount;  ///< kCount: paused_others
    std::uint64_t stuck_at = 0;             ///< the value at which it sticks; 0 where it does not
  };
  std::vector<Source> sources_;
};

}  // namespace weft::analyzer
