// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where packets vanish, by the counters of the fabric itself: what one end of a cable sent and the other never
// received, what a switch received and never sent. The two ends are read at different moments, so that at full load
// thousands of packets are under way between two readings; a loss shows as what stays missing all the same.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fabric/sweep.hpp"

namespace weft::analyzer {

/// What the counters say of one supposed loss.
struct PacketBalance {
  double passed = 0;   ///< packets that entered the link or the switch; 0 where that is not known
  double counted = 0;  ///< errors and discards that both ends of the link own up to in that time, from the last
                       ///< sweep before it on; of a switch all its ports, and the other ends of their cables
  bool counts_no_more = false;  ///< one of those counters is at all ones: what it would own up to is not known
  double support = 0;  ///< natural logarithm of how much likelier the counters are if it loses that much than if it
                       ///< loses nothing; 0 where they do not tell
};

/// The packet counters of the last sweeps of one subnet, all ports.
class PacketHistory {
 public:
  /// Sweeps that are remembered unless said otherwise: 29 bytes of each for every port.
  static constexpr std::size_t kSweeps = 40;

  explicit PacketHistory(std::size_t sweeps = kSweeps) : sweeps_(sweeps) {}

  /// Remembers the packet counters of one sweep, which must have a topology. A new epoch begins anew.
  void take(const Sweep& sweep);
  /// Removes all that is remembered.
  void forget();

  /// Had the cable from port `sender` on lost `lost` packets since `since`, would it show?
  PacketBalance of_link(PortIndex sender, double lost, TimePoint since) const;
  /// The same of a switch; where any of its ports that are up was not read, nothing is known.
  PacketBalance of_switch(NodeIndex node, double lost, TimePoint since) const;
  /// What one port's counters said in the last two sweeps; packets.
  struct Step {
    TimePoint from = kNever, to = kNever;  ///< when it was read
    std::uint64_t sent_before = 0, sent = 0, received_before = 0, received = 0;
    std::uint32_t counted = 0;  ///< errors and discards, in all
    std::uint64_t run = 0;      ///< the same as long as no counter began anew and the cable stayed where it is
  };
  /// Step::run of the port, also where it was not read lately.
  std::uint64_t run(PortIndex port) const { return good_from_[port]; }
  /// Nullopt: not read in both, or something began anew between them, or a counter of errors is at all ones.
  std::optional<Step> last_step(PortIndex port) const;
  /// Packets that the port has sent since `since`, as far as that is remembered; nullopt with fewer than two readings.
  std::optional<double> sent(PortIndex port, TimePoint since) const;

 private:
  struct Slot {
    TimePoint taken = kNever;  ///< the sweep's beginning
    std::vector<TimePoint> read_at;
    std::vector<std::uint64_t> sent, received;
    std::vector<std::uint32_t> counted;
    std::vector<std::uint8_t> saturated;  ///< one of what is counted is
  };

  const Slot& slot(std::size_t age) const { return slots_[(next_ + slots_.size() - 1 - age) % slots_.size()]; }
  /// Is `age` sweeps ago a reading of the port that counts: a new one, of the same run of its counters?
  bool good(PortIndex port, std::size_t age) const;
  static void forget_mirrored(const Topology& topology, Slot& now);
  void look_for_breaks(const Sweep& sweep, const Slot& before, Slot& now);

  std::shared_ptr<const Topology> topology_;
  std::size_t sweeps_;
  std::vector<Slot> slots_;  ///< a ring of up to sweeps_
  std::size_t next_ = 0;
  std::uint64_t taken_ = 0;
  std::vector<TimePoint> last_read_;      ///< by port
  std::vector<std::uint64_t> good_from_;  ///< by port: number of the first sweep of its present run
};

/// Of moments in the order of time, how many agree best with a loss of `share` of what came in: up to a constant, and
/// up to what was under way at a constant rate between the readings of the two ends. Pure; for tests.
unsigned count_agreeing(std::span<const double> in, std::span<const double> missing, std::span<const double> skew,
                        double share, double tolerance);

}  // namespace weft::analyzer
