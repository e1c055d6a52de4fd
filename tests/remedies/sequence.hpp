// SPDX-License-Identifier: Apache-2.0
#pragma once
// One random sequence of faults, repairs, lost replies, crashes and approvals, and what must hold all the way.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/remedies/world.hpp"

namespace weft::remedies {

/// What the sequences went through, so that a run shows that it tried everything.
struct Tally {
  std::uint64_t sequences = 0, steps = 0, crashes = 0, aborts = 0, acts = 0, lost_replies = 0, refused_requests = 0;
  std::uint64_t unjournalled = 0, tripped = 0, held = 0;
  std::array<std::uint64_t, static_cast<std::size_t>(PlanState::kCount)> ended{};
  std::array<std::uint64_t, static_cast<std::size_t>(Guard::kCount)> refused{};
  std::array<std::uint64_t, static_cast<std::size_t>(RemedyAction::kCount)> by_action{};
  void add(const Tally& other);
};

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
