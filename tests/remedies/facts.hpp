// SPDX-License-Identifier: Apache-2.0
#pragma once
// The truth when an order was given out, as far as weftd could have seen or been told it.

#include <cstdint>
#include <set>

#include "tests/remedies/partners.hpp"
#include "tests/remedies/world.hpp"

namespace weft::remedies {

/// About the target of one order.
struct Facts {
  std::uint32_t seen_up = 0;           ///< links that were up and that nobody let avoid, a bit for each
  std::uint32_t seen_at_any_cost = 0;  ///< those that were up
  std::set<unsigned> job_leaves{};
  int doubt = 0;      ///< of a host: as World::doubt_about()
  bool hurt = false;  ///< of a host: an incident hurts it, or did less than undrain_after ago; of a link: one is open
  // Other targets out of service: those that weft holds as they are, with those of others as they were told last.
  unsigned out = 0;              ///< links and hosts; of others' hosts only where the target is one
  unsigned on_switch = 0;        ///< of a link: other links of that of its switches with most of them
  unsigned on_rail = 0;          ///< of a link: other links of its leaf's rail
  unsigned by_others = 0;        ///< how many of `out` others took out
  bool untold = false;           ///< some list that counts for the target was not told lately
  unsigned missing = 0;          ///< nodes that the last sweep did not reach
  bool manager_unheard = false;  ///< of a link: the subnet manager did not answer
  unsigned missing_lately = 0;   ///< of those the ones that are missing for at most RemedyLimits::missing_for
};

/// Of the target as it is now.
Facts facts_of(const World& world, const Partners& partners, const analyzer::RemedyLimits& limits, bool is_link,
               unsigned index);

}  // namespace weft::remedies
