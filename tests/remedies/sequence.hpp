// SPDX-License-Identifier: Apache-2.0
#pragma once
// One random sequence of faults, repairs, lost replies, crashes and approvals, and what must hold all the way.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/remedies/tally.hpp"
#include "tests/remedies/world.hpp"

namespace weft::remedies {

/// A promise that was broken: which, and everything that led there.
struct Breach {
  std::uint64_t seed = 0;
  std::string promise;
  std::vector<std::string> story;
};

/// Runs the sequence of that seed on one of `shapes`. nullopt: every promise held. `tell`: keep the story.
std::optional<Breach> run_sequence(const std::vector<Shape>& shapes, std::uint64_t seed, Tally& tally,
                                   bool tell = false);

}  // namespace weft::remedies
