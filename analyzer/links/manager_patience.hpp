// SPDX-License-Identifier: Apache-2.0
#pragma once
// How long the subnet manager of one fabric is given.

#include "analyzer/thresholds/thresholds.hpp"

namespace weft::analyzer {

/// Thresholds::sm_patience, longer where this subnet manager was seen to take longer.
class ManagerPatience {
 public:
  /// `thresholds` must outlive the object.
  explicit ManagerPatience(const Thresholds& thresholds) : thresholds_(thresholds) {}

  /// The subnet manager activated a link so long after it had trained. What took more than twice the patience so far is
  /// not learned: then nobody was at work.
  void note(Duration taken, TimePoint now);
  /// Twice what the slowest activation of the last day took, at least sm_patience and at most ten times that.
  Duration value(TimePoint now) const;

 private:
  /// The slowest activation is too long ago to count, or there was none.
  bool is_forgotten(TimePoint now) const;

  const Thresholds& thresholds_;
  Duration slowest_{};
  TimePoint slowest_at_ = kNever;
};

}  // namespace weft::analyzer
