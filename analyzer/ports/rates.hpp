// SPDX-License-Identifier: Apache-2.0
#pragma once
// From readings to movement: deltas, rates, resets and saturation of all ports, in one pass over flat arrays.

#include <cstdint>
#include <memory>
#include <vector>

#include "fabric/snapshot.hpp"
#include "fabric/sweep.hpp"

namespace weft::analyzer {

/// Movement of one port's link errors between its last two readings. A counter that reached all ones in between moved
/// by at least this much.
struct ErrorDelta {
  PortIndex port = kNoIndex;
  std::uint64_t symbol_errors = 0;
  std::uint64_t link_error_recovery = 0;
  std::uint64_t link_downed = 0;
  std::uint64_t receive_errors = 0;
  std::uint64_t receive_remote_physical_errors = 0;
  std::uint64_t local_link_integrity_errors = 0;
  std::uint64_t fec_uncorrectable = 0;  ///< code words, from the detail table
};

/// What one sweep's counters say, compared with the sweep before. Dense vectors have one entry for each port.
struct CounterPass {
  /// Belongs to the caller until the next update, which makes a new one; error_rate is for analyzer/links to fill in.
  std::shared_ptr<std::vector<PortRates>> rates;
  /// Seconds between the port's last two readings; 0 when there is no new reading or nothing to compare it with (first
  /// sight, a reset).
  std::vector<float> elapsed_seconds;
  std::vector<float> transmit_packets;  ///< moved between the two readings; negative when unknown
  std::vector<float> receive_packets;   ///< the same
  std::vector<float> receive_bits;      ///< the same
  std::vector<ErrorDelta> errors;       ///< only ports whose link errors moved, ascending
  std::vector<PortIndex> resets;        ///< ports whose counters somebody cleared since the last reading
  /// Ports whose byte counters moved further than the fastest link they could have allows: what they say is not true.
  std::vector<PortIndex> impossible;
  std::vector<PortIndex> saturated;  ///< ports with at least one error counter at all ones, ascending
  /// Ports with a counter of uncorrectable code words at all ones, ascending: how many there are now is not known.
  std::vector<PortIndex> uncounted;
};

/// Remembers the previous table; gives the difference. A decrease in any counter of a port is a reset by somebody else:
/// all its deltas start anew there, and so they do where the movement was impossible. A counter at all ones in both
/// readings gives no delta, which is not a delta of zero.
class CounterTracker {
 public:
  /// Compares `sweep` with the last one. A new epoch, or a table of another shape, starts everything anew; totals of
  /// transmit wait are then taken from the counters again. The result is valid until the next call.
  const CounterPass& update(const Sweep& sweep, Duration stale_after);

  /// How often somebody cleared the counters of `port` since the epoch began.
  std::uint32_t resets(PortIndex port) const { return port < reset_counts_.size() ? reset_counts_[port] : 0; }

  /// Active rate of each port after line coding, bits per second; 0 while it is down.
  const std::vector<float>& line_rates() const { return line_rates_; }

 private:
  struct Columns;

  void restart(const Sweep& sweep);
  bool possible(PortIndex port, double bytes, double elapsed) const;
  void update_line_rates(const Topology& topology);
  void compare(const Sweep& sweep, Duration stale_after, std::vector<PortRates>& rates);
  void compare_row(const SampleTable& now, const SampleTable& before, const Columns& columns, std::size_t row,
                   const Port& port, PortRates& rates);
  void add_uncorrectable(const Sweep& sweep);

  std::shared_ptr<const Topology> topology_;
  std::shared_ptr<const SampleTable> before_;
  std::shared_ptr<const SampleTable> details_before_;
  std::vector<float> line_rates_;
  std::vector<float> most_rates_;  ///< of each port: the fastest that it supports, bits per second; 0 unknown
  std::vector<std::uint32_t> reset_counts_;
  std::vector<PortIndex> uncounted_;          ///< as CounterPass::uncounted, at the last reading of each
  std::vector<std::uint64_t> uncorrectable_;  ///< sum of all FEC-uncorrectable counters at the last reading
  std::vector<TimePoint> details_read_at_;
  CounterPass pass_;
};

}  // namespace weft::analyzer
