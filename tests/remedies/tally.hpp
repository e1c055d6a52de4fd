// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a run of sequences went through.

#include <array>
#include <cstdint>

#include "fabric/plan.hpp"

namespace weft::remedies {

/// What the sequences went through, so that a run shows that it tried everything.
struct Tally {
  std::uint64_t sequences = 0, steps = 0, crashes = 0, aborts = 0, acts = 0, lost_replies = 0, refused_requests = 0;
  std::uint64_t unjournalled = 0, tripped = 0, held = 0, forgotten = 0, renamed = 0, wrong_readings = 0;
  std::uint64_t clock_steps = 0, other_weftds = 0, claimed_twice = 0, files = 0;
  std::uint64_t silent_partners = 0, lists_told = 0, told_of_others = 0, others_avoid = 0, silent_nodes = 0;
  std::uint64_t silent_managers = 0, forgotten_hosts = 0, failed_returns = 0, left = 0, begun_anew = 0;
  std::uint64_t disabled_by_hand = 0, enabled_by_hand = 0, held_then_left = 0, already = 0;
  std::uint64_t out_beside_others = 0, out_beside_missing = 0, out_beside_gone = 0, waited_for_lists = 0;
  std::array<std::uint64_t, static_cast<std::size_t>(PlanState::kCount)> ended{};
  std::array<std::uint64_t, static_cast<std::size_t>(Guard::kCount)> refused{};
  std::array<std::uint64_t, static_cast<std::size_t>(RemedyAction::kCount)> by_action{};
  /// Counts the other's sequences too.
  void add(const Tally& other);
};

/// On standard output. `seconds`: how long it took.
void print(const Tally& tally, double seconds);

}  // namespace weft::remedies
