// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is remembered of a vote until the next one.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/drift/cohorts.hpp"
#include "fabric/drift_report.hpp"

namespace weft::analyzer {

/// Who has another value than what is right.
struct Deviant {
  FactHolder port;
  std::string value;
  TimePoint since = kNever;
};

/// A vote, or a comparison with a profile, with what is remembered of it until the next one.
struct HeldVote {
  VoteState state = VoteState::kAgreed;
  bool is_expected = false;  ///< a profile says what is right: the first value is that, and may be nobody's
  std::string stem;
  std::string places;  ///< "at 0000:17:00.0 and 3 more places"; empty: of the whole group
  std::string first_place;
  std::uint32_t ballots = 0;
  std::uint32_t hosts = 0;
  std::vector<DriftValue> values;  ///< what is right, then most first, at most kMostDriftValues
  std::uint32_t values_left_out = 0;
  std::vector<Deviant> deviants;  ///< all of them
  TimePoint majority_since = kNever;

  /// When what that one has is no rollout any more.
  TimePoint old_at(const Deviant& one, Duration rollout) const { return std::max(one.since, majority_since) + rollout; }
};

}  // namespace weft::analyzer
