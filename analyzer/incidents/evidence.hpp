// SPDX-License-Identifier: Apache-2.0
#pragma once
// What an incident knows, and what a new finding adds to it.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/incident.hpp"

namespace weft::analyzer {

/// Evidence of LINK_DOWN and NODE_DOWN: no job runs on the host. Where it is missing, nobody knows.
inline constexpr std::string_view kNoJobSignal = "no_job";

/// Does the finding bring evidence that is new, or a number that has moved a lot?
struct EvidenceNews {
  bool fresh = false;
  bool numbers = false;
};
/// Compares by signal and place. Evidence that is only in `known` does not count.
EvidenceNews compare_evidence(const std::vector<Evidence>& known, const std::vector<Evidence>& found);

/// What was known, with the newer numbers; bounded by dropping from the middle: how it began and how it is now matter.
/// With `keep_times` a state that is as it was keeps the time when it was first read.
void merge_evidence(std::vector<Evidence>& known, const std::vector<Evidence>& found, std::size_t limit,
                    bool keep_times);

/// Do the same links wait for the same? Shares of time are numbers that move.
bool same_tree(const WaitingTree& a, const WaitingTree& b);

/// All jobs that it has hurt. True when there is a new one.
bool merge_jobs(std::vector<std::string>& known, const std::vector<std::string>& found);

}  // namespace weft::analyzer
