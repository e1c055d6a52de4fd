// SPDX-License-Identifier: Apache-2.0
#include "tests/remedies/partners.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace weft::remedies {
namespace {

using namespace std::chrono_literals;

constexpr Duration kAskedEvery = 1min;
constexpr Duration kIsGoodFor = 3min;
constexpr std::array kNames{"fake", "manager", "fake"};  // of the actuators
constexpr std::array kWhat{"the raised costs", "the manager's list of ports", "the scheduler's list of hosts"};

bool has(std::uint32_t bits, unsigned index) {
  return (bits >> index & 1U) != 0;
}

// An avoided link is told by one end or by both. The second list has ports that are no end of a link between switches.
std::vector<PortKey> ports_of(const Shape& shape, std::uint32_t links, bool with_others) {
  std::vector<PortKey> ports;
  for (unsigned link = 0; link < shape.links(); ++link) {
    if (!has(links, link)) continue;
    if (link % 3 != 0) ports.push_back(shape.link(link).port);
    if (link % 3 != 1) ports.push_back(shape.link(link).peer);
  }
  if (with_others) {
    ports.push_back(shape.manager());
    ports.push_back({{0x9999}, {1}});
  }
  return ports;
}

// A scheduler has names of its own for hosts.
std::vector<std::vector<std::string>> names_of(const Shape& shape, std::uint32_t hosts, unsigned strangers) {
  std::vector<std::vector<std::string>> names;
  for (unsigned host = 0; host < shape.hosts(); ++host) {
    if (!has(hosts, host)) continue;
    const std::string& name = shape.host(host);
    names.push_back(host % 2 == 0 ? std::vector{name} : std::vector{"node-" + name, name + ".cluster"});
  }
  for (unsigned i = 0; i < strangers; ++i) names.push_back({"x" + std::to_string(i)});
  return names;
}

}  // namespace

Partners::Partners(Dice& dice) {
  for (bool& exists : exists_) exists = dice.one_in(2);
}

void Partners::restart(analyzer::PlanManager& book) {
  told_ = {};
  under_way_ = {};
  last_asked_ = {};
  for (std::size_t list = 0; list < kLists; ++list)
    if (exists_[list]) give(list, nullptr, {}, book);
}

std::string Partners::toggle(Dice& dice, Tally& tally) {
  const std::size_t list = dice.below(kLists);
  if (!exists_[list]) return {};
  silent_[list] = !silent_[list];
  tally.silent_partners += silent_[list];
  return std::string(kWhat[list]) + (silent_[list] ? " cannot be read" : " can be read again");
}

void Partners::answer() {
  silent_ = {};
}

Partners::List Partners::read(const World& world, std::size_t list) {
  List now;
  now.asked = world.steady();
  const Shape& shape = world.shape();
  if (list != kDrains) {
    const auto by = list == kCosts ? Avoided::kByCost : Avoided::kByPort;
    now.others = world.avoided_by_others(by);
    for (unsigned link = 0; link < shape.links(); ++link)
      if (by == Avoided::kByCost && world.holder(true, link) == Holder::kWeft) now.ours |= 1U << link;
    return now;
  }
  for (unsigned host = 0; host < shape.hosts(); ++host) {
    if (world.holder(false, host) == Holder::kSomebodyElse) now.others |= 1U << host;
    if (world.holder(false, host) == Holder::kWeft) now.ours |= 1U << host;
  }
  now.strangers = world.drained_elsewhere();
  return now;
}

void Partners::give(std::size_t list, const World* world, const List& told, analyzer::PlanManager& book) const {
  if (list == kDrains)
    book.set_drained_hosts(
        kNames[list],
        world ? analyzer::DrainedHosts(names_of(world->shape(), told.others | told.ours, told.strangers), *told.asked)
              : analyzer::DrainedHosts());
  else if (world)
    book.set_avoided_ports(kNames[list],
                           {ports_of(world->shape(), told.others | told.ours, list == kPorts), told.asked});
  else
    book.set_avoided_ports(kNames[list], {});
}

void Partners::tell(const World& world, Dice& dice, bool may_linger, Tally& tally, analyzer::PlanManager& book) {
  for (std::size_t list = 0; list < kLists; ++list) {
    if (!exists_[list]) continue;
    std::optional<Duration>& asked = last_asked_[list];
    if (!under_way_[list] && (!asked || world.steady() - *asked >= kAskedEvery)) {
      asked = world.steady();
      if (!silent_[list]) under_way_[list] = read(world, list);
    }
    if (!under_way_[list] || (may_linger && dice.one_in(3))) continue;
    told_[list] = *std::exchange(under_way_[list], std::nullopt);
    ++tally.lists_told;
    tally.told_of_others += told_[list].others != 0 || told_[list].strangers != 0;
    give(list, &world, told_[list], book);
  }
}

bool Partners::is_untold(bool of_links, Duration now) const {
  const auto is_old = [&](std::size_t list) {
    return exists_[list] && (!told_[list].asked || now - *told_[list].asked > kIsGoodFor);
  };
  return of_links ? is_old(kCosts) || is_old(kPorts) : is_old(kDrains);
}

}  // namespace weft::remedies
