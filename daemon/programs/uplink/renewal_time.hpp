// SPDX-License-Identifier: Apache-2.0
#pragma once
// When a certificate is renewed.

#include <chrono>
#include <optional>

#include "fabric/clock.hpp"

namespace weft::uplink {

/// When a certificate is renewed: after two thirds of its life. weftd's clock gave its times, and this node's may be
/// wrong. So of one that this process got, the steady clock counts: it is renewed by that where the wall clock is
/// behind, and by the wall clock alone not before a third of its life.
class RenewalTime {
 public:
  /// What waiting goes by.
  using Steady = std::chrono::steady_clock;

  /// `share` spreads renewals: 0 to 1.
  explicit RenewalTime(double share) : share_(share) {}

  /// There is a certificate for that time. `got`: when this process got it; nullopt: one before did.
  void start(TimePoint begin, TimePoint end, std::optional<Steady::time_point> got);
  /// Whether it is time; start() came before.
  bool is_due(TimePoint wall, Steady::time_point now) const;
  /// Whether it is time by the wall clock alone. Of one that was got just now: this clock is ahead of weftd's.
  bool is_due_by_wall(TimePoint wall) const { return wall >= begin_ + after_; }

 private:
  double share_;
  TimePoint begin_ = kNever;
  Duration after_{};     ///< of its begin, or of when it was got
  Duration shortest_{};  ///< between two of them
  std::optional<Steady::time_point> got_;
};

}  // namespace weft::uplink
