// SPDX-License-Identifier: Apache-2.0
#pragma once
// Packets that vanish in a cable or a switch, counted at quiet moments: while little passes, how many had gone in and
// how many had come out by then is known to a few packets, however much passed between two such moments.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/loss/loss_finder.hpp"
#include "analyzer/loss/packet_history.hpp"

namespace weft::analyzer {

/// A moment at which little passed. All figures are since the first one that is remembered.
struct QuietMoment {
  float at = 0;       ///< seconds
  float passed = 0;   ///< packets that had gone in
  float missing = 0;  ///< of them, those that had not come out
  float counted = 0;  ///< errors and discards that the counters there had told of
};

/// What quiet moments say.
struct Vanished {
  double lost = 0;       ///< packets, from the first moment to the last
  double passed = 0;     ///< packets that went in
  double noise = 0;      ///< moments contradict each other by so many packets: what is missing can not come back
  bool is_loss = false;  ///< again and again, and by more than the noise
};

/// Compares moments in the order of time; nullopt with fewer than six. Pure. It is a loss when ten packets vanished
/// and three times the noise, of those that passed at least 1 in 100 million (from there on CorrOpt, SIGCOMM 2017,
/// takes a link for one that corrupts packets), not half of them at once, some of them lately, and when counters tell
/// of less than a third of it.
std::optional<Vanished> compare_moments(std::span<const QuietMoment> moments);

/// A cable in one direction, or a switch, that loses packets.
struct VanishingPoint {
  LossSuspect suspect;
  Vanished vanished;
  Duration observed{};
};

/// The quiet moments of all cables and switches of one InfiniBand subnet. There both ends of a cable count the same
/// packets (vol. 1, 16.1.4.2, PortXmitPkts and PortRcvPkts: all but link packets); Ethernet adapters differ about pause
/// frames. Bounded: 300 bytes for each port, O(ports) for each sweep.
class QuietBalance {
 public:
  /// Takes a sweep, which must have a topology. A new epoch begins anew.
  void take(const Sweep& sweep);
  /// Everything that loses packets by what was taken, in no order. O(ports).
  std::vector<VanishingPoint> losses() const;
  /// What is known of one; nullopt with too few moments.
  std::optional<Vanished> of(const LossSuspect& suspect) const;

 private:
  static constexpr std::size_t kMoments = 16;

  /// Of a port that sends into its cable, or of a switch.
  struct Record {
    std::uint64_t run = 0;   ///< changes when a counter begins anew
    double in = 0, out = 0;  ///< at the first moment
    double counted = 0;      ///< at the last
    std::array<QuietMoment, kMoments> moments{};
    std::uint8_t count = 0;

    std::span<const QuietMoment> known() const { return std::span(moments).first(count); }
  };
  /// Totals of both sides at one moment.
  struct Totals {
    TimePoint at = kNever;
    std::uint64_t run = 0;
    double in = 0, out = 0, counted = 0;
  };

  bool is_due(const Record& record) const;
  void forget_what_began_anew(const Topology& topology);
  std::optional<Totals> of_cable(const Topology& topology, PortIndex sender) const;
  std::optional<Totals> of_switch(const Topology& topology, const Node& node) const;
  void note(const Totals& totals, Record& record) const;

  PacketHistory last_two_{2};
  std::uint64_t epoch_ = 0;
  TimePoint began_ = kNever, now_ = kNever;
  std::vector<Record> cables_;    ///< by the port that sends
  std::vector<Record> switches_;  ///< by node
};

}  // namespace weft::analyzer
