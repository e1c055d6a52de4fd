// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which of several bad links to take out, when not all of them may go (CorrOpt, SIGCOMM'17, sections 5.1 and 5.2).

#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/remedy/live_tree.hpp"

namespace weft::analyzer {

/// A link that should be taken out.
struct BadLink {
  UplinkIndex uplink = kNoIndex;
  double harm = 0;  ///< that it does while it is in service; any unit, > 0
};

/// Which links to take out.
struct LinkChoice {
  std::vector<std::uint32_t> out;  ///< positions in what was given, ascending
  double harm_left = 0;            ///< of those that stay
  /// No other set leaves less harm. False when the search was cut short: then it is the best one found.
  bool exact = true;
};

/// The set of links, at most `most_out`, that can be out together by the rules of `tree` and leaves the least harm.
/// Links whose leaves stay well even when all of them go are out without a search. `tree` is as before when it returns.
/// `most_checks` bounds the search: each check costs what lies below one link.
LinkChoice choose_links(LiveTree& tree, std::span<const BadLink> bad, std::size_t most_out,
                        std::size_t most_checks = 20'000);

}  // namespace weft::analyzer
