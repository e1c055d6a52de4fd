// SPDX-License-Identifier: Apache-2.0
#include "tests/remedies/changes.hpp"

#include <array>
#include <bit>

namespace weft::remedies {
namespace {

using namespace std::chrono_literals;

std::string fail_link(World& world, Dice& dice, unsigned link) {
  constexpr std::array kKinds{IncidentKind::kLinkErrors, IncidentKind::kLinkFlap, IncidentKind::kSilentLoss,
                              IncidentKind::kLinkDown, IncidentKind::kLinkDegraded};
  const IncidentKind kind = kKinds[dice.below(kKinds.size())];
  world.fault(link, kind, !dice.one_in(6));
  return std::string(to_string(kind)) + " at " + world.label(true, link);
}

std::string move_by_hand(World& world, Dice& dice, unsigned link, unsigned host) {
  const bool is_link = dice.one_in(2);
  const unsigned index = is_link ? link : host;
  const std::string target = world.label(is_link, index);
  if (world.holder(is_link, index) == Holder::kSomebodyElse) {
    world.somebody_gives_back(is_link, index);
    return "somebody gives back " + target;
  }
  if (dice.one_in(3) || world.holder(is_link, index) == Holder::kNobody) {
    world.somebody_takes(is_link, index);
    return "somebody takes " + target;
  }
  world.somebody_gives_back(is_link, index);
  return "somebody gives back what weft took: " + target;
}

std::string hurt_host(World& world, Dice& dice, unsigned host) {
  const unsigned adapter = dice.below(2);
  world.break_host(host, adapter);
  return world.label(false, host) + " breaks at mlx5_" + std::to_string(adapter);
}

// Most of those that are broken, so that there is something to return.
std::string mend_hosts(World& world, Dice& dice) {
  std::string mended;
  for (unsigned host = 0; host < world.shape().hosts(); ++host)
    for (const unsigned adapter : {0U, 1U}) {
      if (dice.one_in(4)) continue;
      world.mend_host(host, adapter);
      mended += ' ' + world.label(false, host) + ":mlx5_" + std::to_string(adapter);
    }
  return "mended, where broken:" + mended;
}

std::string set_clock(World& world, Dice& dice, Tally& tally) {
  ++tally.clock_steps;
  constexpr std::array<Duration, 4> kForward{30s, 10min, 2h, 25h};
  Duration by = kForward[dice.below(kForward.size())];
  if (dice.one_in(3)) by = -by;
  if (dice.one_in(4)) by = -world.set();  // somebody repairs it
  world.set(by);
  return "the clock is set by " + std::to_string(by / 1s) + " s";
}

std::string report_adapter(World& world, Dice& dice, Tally& tally, unsigned host) {
  constexpr std::array kWays{Reported::kByItself, Reported::kByItself, Reported::kByNobody, Reported::kByTwo};
  const Reported way = kWays[dice.below(kWays.size())];
  world.report(host, way);
  tally.claimed_twice += way == Reported::kByTwo;
  return "the adapter of " + world.label(false, host) + " is reported by " +
         (way == Reported::kByItself   ? "itself"
          : way == Reported::kByNobody ? "nobody"
                                       : "two hosts");
}

std::string rename_adapter(World& world, Dice& dice, Tally& tally, unsigned host) {
  if (dice.one_in(3)) {
    world.rename(std::nullopt);
    return "all adapters bear the names of their hosts";
  }
  const Shape& shape = world.shape();
  const std::string name = dice.one_in(3) ? "h99" : shape.host(dice.below(shape.hosts()));
  world.rename(Misnamed{host, name});
  ++tally.renamed;
  return "the adapter of " + shape.host(host) + " calls itself " + name;
}

// So few that something is left to be taken out.
std::string others_act(World& world, Dice& dice, Tally& tally, unsigned link) {
  constexpr int kMost = 2;
  if (dice.one_in(4)) {
    world.drain_elsewhere(dice.below(3));
    return "others drain " + std::to_string(world.drained_elsewhere()) + " hosts that are not of this fabric";
  }
  const Avoided by = dice.one_in(2) ? Avoided::kByCost : Avoided::kByPort;
  const std::uint32_t avoided = world.avoided_by_others(by);
  const bool avoid = (avoided >> link & 1U) == 0;
  const std::string what =
      world.label(true, link) + (by == Avoided::kByCost ? " by its cost" : " by the manager's list");
  if (avoid && std::popcount(avoided) >= kMost) {
    const auto first = static_cast<unsigned>(std::countr_zero(avoided));
    world.others_avoid(by, first, false);
    return "others take " + world.label(true, first) + " from a list";
  }
  if (!world.others_avoid(by, link, avoid)) return {};
  tally.others_avoid += avoid;
  return (avoid ? "others let avoid " : "others let use again ") + what;
}

std::string silence_nodes(World& world, Dice& dice, Tally& tally) {
  if (world.silent() != 0 && dice.one_in(2)) {
    world.silence(0);
    return "all nodes answer again";
  }
  const unsigned nodes = world.shape().nodes();
  std::uint32_t silent = world.silent() | 1U << dice.below(nodes);
  if (dice.one_in(2)) silent |= 1U << dice.below(nodes) | 1U << dice.below(nodes);
  if (dice.one_in(4)) silent &= ~(1U << dice.below(nodes));
  world.silence(silent);
  ++tally.silent_nodes;
  std::string names;
  for (unsigned node = 0; node < nodes; ++node)
    if ((silent >> node & 1U) != 0) names += ' ' + world.shape().node(node);
  return "no sweep reaches now:" + names;
}

std::string hang_manager(World& world, Dice& dice, Tally& tally) {
  constexpr std::array kSigns{ManagerSign::kHeard, ManagerSign::kHeard,  ManagerSign::kHeard,  ManagerSign::kHeard,
                              ManagerSign::kHeard, ManagerSign::kSilent, ManagerSign::kUnheard};
  const ManagerSign sign = kSigns[dice.below(kSigns.size())];
  world.set_manager(sign);
  tally.silent_managers += sign != ManagerSign::kHeard;
  return sign == ManagerSign::kHeard ? "the subnet manager answers" : "the subnet manager does not answer";
}

std::string forget_host(World& world, Tally& tally, unsigned host) {
  world.forget(world.forgotten() ^ 1U << host);
  const bool is_gone = (world.forgotten() >> host & 1U) != 0;
  tally.forgotten_hosts += is_gone;
  return std::string("the scheduler knows ") + world.label(false, host) + (is_gone ? " no more" : " again");
}

}  // namespace

std::string change_world(World& world, Dice& dice, Tally& tally) {
  const Shape& shape = world.shape();
  const unsigned link = dice.below(shape.links());
  const unsigned host = dice.below(shape.hosts());
  switch (dice.below(22)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return fail_link(world, dice, link);
    case 4:
    case 5:
      world.repair(link);
      return "repair of " + world.label(true, link);
    case 6:
    case 7:
      return hurt_host(world, dice, host);
    case 8:
      return mend_hosts(world, dice);
    case 9:
      return move_by_hand(world, dice, link, host);
    case 10:
      return set_clock(world, dice, tally);
    case 11:
      if (!dice.one_in(6) || world.holder(false, host) != Holder::kNobody) return {};
      world.another_weftd_takes(host);
      ++tally.other_weftds;
      return "another weftd drains " + world.label(false, host);
    case 12:
    case 13:
      return report_adapter(world, dice, tally, host);
    case 14:
      return rename_adapter(world, dice, tally, host);
    case 15:
    case 16:
      return others_act(world, dice, tally, link);
    case 17:
    case 18:
      return silence_nodes(world, dice, tally);
    case 19:
      return hang_manager(world, dice, tally);
    case 20:
      return forget_host(world, tally, host);
    default:
      return {};
  }
}

}  // namespace weft::remedies
