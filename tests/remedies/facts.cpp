// SPDX-License-Identifier: Apache-2.0
#include "tests/remedies/facts.hpp"

#include <algorithm>
#include <bit>

namespace weft::remedies {
namespace {

using namespace std::chrono_literals;

// Steps of the clock of less than 5 s are not seen to be steps.
constexpr Duration kSlackOfSteps = 3s;

std::uint32_t held_by_weft(const World& world, bool is_link) {
  const Shape& shape = world.shape();
  std::uint32_t held = 0;
  for (unsigned index = 0; index < (is_link ? shape.links() : shape.hosts()); ++index)
    if (world.holder(is_link, index) == Holder::kWeft) held |= 1U << index;
  return held;
}

}  // namespace

Facts facts_of(const World& world, const Partners& partners, const analyzer::RemedyLimits& limits, bool is_link,
               unsigned index) {
  const Shape& shape = world.shape();
  Facts facts;
  // Before the first sweep nobody knows which links those ports are.
  const std::uint32_t told = world.is_swept() ? partners.links_of_others() : 0;
  facts.seen_up = world.links_seen_up() & ~told;
  facts.seen_at_any_cost = world.links_seen_up_at_any_cost();
  facts.job_leaves = world.leaves_with_job();
  facts.doubt = is_link ? 0 : world.doubt_about(index);
  facts.hurt = is_link ? world.is_faulty(index) : world.was_hurt_within(index, limits.undrain_after - kSlackOfSteps);
  facts.manager_unheard = is_link && world.manager_sign() != ManagerSign::kHeard;
  facts.untold = partners.is_untold(is_link, world.steady());
  facts.missing = static_cast<unsigned>(std::popcount(world.missing().missing()));
  facts.missing_lately = world.missing().lately(limits.missing_for, world.steady());

  const std::uint32_t self = 1U << index;
  const std::uint32_t our_links = held_by_weft(world, true), our_hosts = held_by_weft(world, false);
  const std::uint32_t links = (our_links | told) & ~(is_link ? self : 0);
  const std::uint32_t hosts = (our_hosts | (is_link ? 0 : partners.hosts_of_others())) & ~(is_link ? 0 : self);
  const unsigned strangers = is_link ? 0 : partners.strangers();
  facts.out = static_cast<unsigned>(std::popcount(links) + std::popcount(hosts)) + strangers;
  facts.by_others =
      static_cast<unsigned>(std::popcount(links & ~our_links) + std::popcount(hosts & ~our_hosts)) + strangers;
  if (!is_link) return facts;
  unsigned on_leaf = 0, on_spine = 0;
  for (unsigned link = 0; link < shape.links(); ++link) {
    if ((links >> link & 1U) == 0) continue;
    const unsigned leaf = link / shape.spines(), own = index / shape.spines();
    on_leaf += leaf == own;
    on_spine += link % shape.spines() == index % shape.spines();
    facts.on_rail += world.has_rails() && Shape::rail_of_leaf(leaf) == Shape::rail_of_leaf(own);
  }
  facts.on_switch = std::max(on_leaf, on_spine);
  return facts;
}

}  // namespace weft::remedies
