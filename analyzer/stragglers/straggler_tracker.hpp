// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who keeps a cohort waiting: beginnings one after the other.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/stragglers/collective_starts.hpp"

namespace weft::analyzer {

/// A port of a cohort. The list may be another one at each call; `id` says who is who.
struct CohortMember {
  std::uint64_t id = 0;
  PortActivity* activity = nullptr;
  bool is_stalled = false;  ///< its host says that it does not take, or give, what its adapter could
};

/// A time in which packets may have got lost or been sent back and forth: links on their ways went down or came up.
struct RouteChurn {
  TimePoint from = kNever, to = kNever;
};

/// Ports of one job and one rail, which communicate with each other and wait for each other.
class StragglerTracker {
 public:
  /// Judges the silences of `members` that are over since the last call, and keeps their Lateness. `patience`: how long
  /// a reading may take to be heard. A silence that touches one of `route_churn` says nothing. While a member's host
  /// stalls, that is what all the others wait for: only such a one can be late.
  void take(std::span<const CohortMember> members, TimePoint now, Duration patience,
            std::span<const RouteChurn> route_churn, const StragglerThresholds& thresholds);

  /// One of `members` is away: whoever would send to it can not begin, and is not to blame for that. Nothing is judged
  /// before all of them have begun anew.
  void lack(std::span<const CohortMember> members, TimePoint now);
  /// The last call.
  TimePoint taken() const { return taken_; }

 private:
  static constexpr std::size_t kRemembered = 8;
  static constexpr int kEnds = 8;

  void note(const CollectiveStart& beginning, std::span<const CohortMember> members,
            const StragglerThresholds& thresholds);
  /// Time from one silence of the cohort to the next, on average over the last ones; zero before there were as many.
  Duration period() const;
  /// Of the remembered beginnings, the share in which it was late.
  double share_of(std::uint64_t id) const;
  /// Others that were late in several of them.
  std::size_t companions_of(std::uint64_t id) const;

  TimePoint judged_ = kNever;  ///< silences up to then are done with
  TimePoint taken_ = kNever;
  TimePoint complete_since_ = kNever;
  struct Remembered {
    TimePoint at = kNever;
    std::vector<std::uint64_t> late{};
  };
  std::array<Remembered, kRemembered> remembered_;  ///< the last beginnings in which anybody was late
  std::size_t next_ = 0;
  std::array<TimePoint, static_cast<std::size_t>(kEnds)> ends_{};  ///< of the last silences
  int next_end_ = 0;
};

}  // namespace weft::analyzer
