// SPDX-License-Identifier: Apache-2.0
#pragma once
// How the members of a collective began after a silence: who had begun and waited, and who came late.

#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/stragglers/port_activity.hpp"

namespace weft::analyzer {

/// A silence of one member of the cohort.
struct MemberSilence {
  std::uint32_t member = 0;  ///< position in the caller's list
  Silence silence;
};

/// A member that began after the others, and by how much.
struct LateMember {
  std::uint32_t member = 0;
  double delay = 0;  ///< it began at least so long after the others, seconds
  double score = 0;  ///< robust z-score of the time from the common silence to its beginning
};

/// One silence of a cohort, from the transfer before it to the next.
struct CollectiveStart {
  TimePoint silent = kNever;  ///< by then the transfer before was over
  TimePoint begun = kNever;   ///< by then the others had begun; kNever when nobody was seen to wait
  TimePoint until = kNever;   ///< the last reading of anybody in it
  double allowed = 0;         ///< the delay that the score allows, seconds
  std::vector<std::uint32_t> waited{};
  std::vector<LateMember> late{};
};

/// Finds the common silences in those of single members and judges each whose last reading is before `horizon`, in the
/// order of time. Silences of members that move in step overlap; those before and after a transfer do not. Of each
/// member that was seen to begin the time lies between two readings: where most of these spans overlap (Marzullo's
/// algorithm) the cohort began. Who was read silent after that, and also so long before it that
/// its first can not have gone out unseen, was late; where nobody was, so was the only one whose first is seen as late.
/// x = time from the silence to the beginning, z = 0.6745 (x − median) / max(MAD, 1.5 % of median). O(n log n).
std::vector<CollectiveStart> find_beginnings(std::vector<MemberSilence> silences, TimePoint horizon,
                                             const StragglerThresholds& thresholds);

}  // namespace weft::analyzer
