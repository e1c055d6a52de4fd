// SPDX-License-Identifier: Apache-2.0
#pragma once
// When settings that differ among ports of one make are told (analyzer/drift).

#include <chrono>

#include "fabric/clock.hpp"

namespace weft::analyzer {

/// Limits of CONFIG_DRIFT.
struct ConfigDriftLimits {
  bool enabled = true;
  /// A difference younger than that may be a rollout that is under way: it is shown, and is no incident.
  Duration rollout = std::chrono::hours(6);
  /// A cohort on fewer hosts is undecided: who of three is right is a guess.
  unsigned least_hosts = 5;
  /// A value that fewer than this share of a cohort have is not what is meant; without one that more have the cohort is
  /// undecided. Above 0.5.
  double majority = 0.55;
};

}  // namespace weft::analyzer
