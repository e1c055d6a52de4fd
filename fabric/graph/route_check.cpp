// SPDX-License-Identifier: Apache-2.0
#include "fabric/graph/route_check.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

namespace weft {
namespace {

bool stopped(const Port& port) {
  return port.state == PortState::kDown || port.state == PortState::kInitialize;
}

/// The graph as one walk for one LID wants it: switches are counted from 0, a cable is one look.
class Walks {
 public:
  using Switch = std::uint32_t;
  static constexpr Switch kNone = 0xFFFFFFFF;

  enum class Mark : std::uint8_t { kUnseen, kOnTheWay, kArrives, kLost, kUnknown };

  Walks(const Topology& topology, const Routes& routes) : topology_(topology), routes_(routes), owners_(topology) {
    switch_of_.assign(topology.nodes().size(), kNone);
    for (NodeIndex node = 0; node < topology.nodes().size(); ++node) {
      if (topology.node(node).type != NodeType::kSwitch) continue;
      switch_of_[node] = static_cast<Switch>(nodes_.size());
      nodes_.push_back(node);
    }
    senders_.resize(nodes_.size());
    first_sender_.assign(nodes_.size(), kNoIndex);
    next_.resize(nodes_.size() * kPorts, kNone);
    for (Switch at = 0; at < nodes_.size(); ++at)
      for (const Port& port : topology.ports_of(topology.node(nodes_[at]))) look_behind(at, port);
    blocks_.resize(nodes_.size());
    tops_.resize(nodes_.size());
    marks_.resize(nodes_.size());
  }

  std::size_t switches() const { return nodes_.size(); }
  /// Ports of adapters that send into this switch.
  std::uint32_t senders(Switch at) const { return senders_[at]; }
  PortIndex first_sender(Switch at) const { return first_sender_[at]; }
  std::uint32_t all_senders() const { return all_senders_; }
  Mark mark(Switch at) const { return marks_[at]; }
  PortIndex port_of(Switch at, std::uint8_t number) const { return topology_.node(nodes_[at]).first_port + number; }
  Switch behind(Switch at, std::uint8_t egress) const { return next_[at * kPorts + egress]; }

  NodeIndex node_of(Switch at) const { return nodes_[at]; }

  std::uint64_t count_destinations() const {
    std::uint64_t count = 0;
    for (std::size_t lid = 0; lid < owners_.end(); ++lid)
      count += is_destination(owners_.owner({static_cast<std::uint16_t>(lid)})) ? 1U : 0U;
    return count;
  }

  /// Calls visit(lid, owner) for each LID of an adapter's port that is up, with the tables in place for follow().
  template <typename Visit>
  void for_each_destination(Visit visit) {
    for (std::uint16_t number = 0; number * kRouteBlockSize < owners_.end() && number < kMostRouteBlocks; ++number) {
      for (std::size_t i = 0; i < kRouteBlockSize; ++i) {
        const Lid lid{static_cast<std::uint16_t>(number * kRouteBlockSize + i)};
        if (const PortIndex owner = turn_to(lid); owner != kNoIndex) visit(lid, owner);
      }
    }
  }

  /// Puts the tables in place for follow() to `lid`. The adapter's port that it belongs to, or kNoIndex where there is
  /// none that is up.
  PortIndex turn_to(Lid lid) {
    const PortIndex owner = owners_.owner(lid);
    if (!is_destination(owner)) return kNoIndex;
    const auto number = static_cast<std::uint16_t>(lid.value / kRouteBlockSize);
    if (std::exchange(loaded_, number) != number) load(number);
    std::ranges::fill(marks_, Mark::kUnseen);
    return owner;
  }

  /// The switch's port for `lid`; nullopt where that part of its table was not read.
  std::optional<std::uint8_t> egress(Switch at, Lid lid) const {
    if (lid > tops_[at])
      return has_table_[at] ? std::optional<std::uint8_t>(std::uint8_t{kNoEgress.value}) : std::nullopt;
    return blocks_[at] ? std::optional<std::uint8_t>((*blocks_[at])[lid.value % kRouteBlockSize]) : std::nullopt;
  }

  /// Follows the tables from `at` to `lid` and marks all switches on the way with how it ends.
  /// `step(from, egress)` is called for each switch seen for the first time that passes the packet to another one.
  template <typename Step>
  Mark follow(Switch at, Lid lid, PortIndex owner, Step step) {
    way_.clear();
    Mark end = Mark::kUnseen;
    while (end == Mark::kUnseen) {
      if (marks_[at] != Mark::kUnseen) {
        end = marks_[at] == Mark::kOnTheWay ? Mark::kLost : marks_[at];  // the former is a loop
        break;
      }
      marks_[at] = Mark::kOnTheWay;
      way_.push_back(at);
      const auto out = egress(at, lid);
      if (!out) {
        end = Mark::kUnknown;
      } else if (const Switch next = behind(at, *out); next != kNone) {
        step(at, *out);
        at = next;
      } else {
        const Node& node = topology_.node(nodes_[at]);
        const bool arrives = *out != 0 && *out <= node.port_count && topology_.port(port_of(at, *out)).peer == owner &&
                             !stopped(topology_.port(port_of(at, *out)));
        end = arrives ? Mark::kArrives : Mark::kLost;
      }
    }
    for (const Switch seen : way_) marks_[seen] = end;
    return end;
  }

  /// The switch that the port of an adapter sends into, or kNone.
  Switch switch_behind(PortIndex adapter_port) const {
    const Port& port = topology_.port(adapter_port);
    if (port.peer == kNoIndex || stopped(port) || stopped(topology_.port(port.peer))) return kNone;
    return switch_of_[topology_.port(port.peer).node];
  }

 private:
  static constexpr std::size_t kPorts = 256;

  bool is_destination(PortIndex owner) const {
    return owner != kNoIndex && topology_.port(owner).is_up() &&
           topology_.node_of(topology_.port(owner)).type != NodeType::kSwitch;
  }

  void look_behind(Switch at, const Port& port) {
    if (port.number.value == 0 || port.peer == kNoIndex) return;
    const Port& far = topology_.port(port.peer);
    if (stopped(port) || stopped(far)) return;
    if (topology_.node_of(far).type == NodeType::kSwitch) {
      // No table leads beyond.
      if (port.number.value <= kMostSubnetPorts) next_[at * kPorts + port.number.value] = switch_of_[far.node];
    } else if (far.is_up() && far.lid.is_unicast()) {
      ++senders_[at];
      ++all_senders_;
      if (first_sender_[at] == kNoIndex) first_sender_[at] = port.peer;
    }
  }

  void load(std::uint16_t number) {
    has_table_.assign(nodes_.size(), false);
    for (Switch at = 0; at < nodes_.size(); ++at) {
      const Routes::Table* table = routes_.table(nodes_[at]);
      has_table_[at] = table != nullptr;
      tops_[at] = table ? table->top : Lid{0};
      blocks_[at] = table ? routes_.block(nodes_[at], number) : nullptr;
    }
  }

  const Topology& topology_;
  const Routes& routes_;
  LidOwners owners_;
  std::vector<Switch> switch_of_;  // by node
  std::vector<NodeIndex> nodes_;   // by switch, as all that follow
  std::vector<std::uint32_t> senders_;
  std::vector<PortIndex> first_sender_;
  std::uint32_t all_senders_ = 0;
  std::vector<Switch> next_;             // kPorts for each switch: the switch behind the port, kNone where none is
  std::optional<std::uint16_t> loaded_;  // number of the block that these are about
  std::vector<const RouteBlock*> blocks_;
  std::vector<Lid> tops_;
  std::vector<bool> has_table_;
  std::vector<Mark> marks_;
  std::vector<Switch> way_;
};

/// Which channels wait for which: the channel out of port p waits for that out of port q of the switch behind p.
class Dependencies {
 public:
  using Exits = std::array<std::uint64_t, 4>;  // a bit for each port of the switch behind

  explicit Dependencies(std::size_t ports) : exits_(ports) {}
  void add(PortIndex channel, std::uint8_t exit) { exits_[channel][exit / 64] |= 1ULL << (exit % 64); }
  const Exits& of(PortIndex channel) const { return exits_[channel]; }

 private:
  std::vector<Exits> exits_;
};

/// Takes the lowest bit out; nullopt when none is left.
std::optional<std::uint8_t> take_lowest(Dependencies::Exits& exits) {
  for (std::size_t word = 0; word < exits.size(); ++word) {
    if (exits[word] == 0) continue;
    const auto bit = static_cast<std::size_t>(__builtin_ctzll(exits[word]));
    exits[word] &= exits[word] - 1;
    return static_cast<std::uint8_t>(word * 64 + bit);
  }
  return std::nullopt;
}

std::vector<PortIndex> find_circle(const Topology& topology, const Dependencies& dependencies) {
  enum class Colour : std::uint8_t { kWhite, kGrey, kBlack };
  std::vector<Colour> colours(topology.ports().size(), Colour::kWhite);
  struct Stop {
    PortIndex channel;
    Dependencies::Exits left;
  };
  std::vector<Stop> stack;
  for (PortIndex root = 0; root < topology.ports().size(); ++root) {
    if (colours[root] != Colour::kWhite) continue;
    stack.push_back({root, dependencies.of(root)});
    colours[root] = Colour::kGrey;
    while (!stack.empty()) {
      const auto exit = take_lowest(stack.back().left);
      if (!exit) {
        colours[stack.back().channel] = Colour::kBlack;
        stack.pop_back();
        continue;
      }
      const Port& arrival = topology.port(topology.port(stack.back().channel).peer);
      const PortIndex next = topology.node_of(arrival).first_port + *exit;
      if (colours[next] == Colour::kWhite) {
        colours[next] = Colour::kGrey;
        stack.push_back({next, dependencies.of(next)});
      } else if (colours[next] == Colour::kGrey) {
        const auto first = std::ranges::find(stack, next, &Stop::channel);
        std::vector<PortIndex> circle;
        for (auto stop = first; stop != stack.end(); ++stop) circle.push_back(stop->channel);
        return circle;
      }
    }
  }
  return {};
}

}  // namespace

Reachability check_reachability(const Topology& topology, const Routes& routes) {
  Reachability result;
  Walks walks(topology, routes);
  walks.for_each_destination([&](Lid lid, PortIndex owner) {
    const Walks::Switch home = walks.switch_behind(owner);
    // A port does not count as a sender to its own LIDs; one that no switch serves is none.
    const std::uint32_t senders = walks.all_senders() - (home == Walks::kNone ? 0 : 1);
    result.pairs += senders;
    for (Walks::Switch at = 0; at < walks.switches(); ++at) {
      const std::uint32_t here = walks.senders(at) - (at == home ? 1 : 0);
      if (here == 0) continue;
      const Walks::Mark end = walks.follow(at, lid, owner, [](Walks::Switch, std::uint8_t) {});
      if (end == Walks::Mark::kArrives) continue;
      (end == Walks::Mark::kUnknown ? result.unknown : result.lost) += here;
      if (result.from != kNoIndex) continue;
      result.from = walks.first_sender(at);
      result.to = lid;
    }
  });
  return result;
}

RouteReview review_routes(const Topology& topology, const Routes& routes, std::span<const std::uint8_t> tiers,
                          std::size_t most) {
  RouteReview review;
  Walks walks(topology, routes);
  review.known = walks.count_destinations();
  if (most == 0 || review.known == 0) return review;
  const auto leads_up = [tiers](NodeIndex below, NodeIndex above) {
    return tiers[above] != kNoTier && tiers[below] < tiers[above];
  };
  const std::uint64_t every = (review.known + most - 1) / most;
  std::uint64_t number = 0;
  walks.for_each_destination([&](Lid lid, PortIndex owner) {
    if (number++ % every != 0 || !topology.node(topology.port(owner).node).reachable) return;
    ++review.destinations;
    const auto step = [&](Walks::Switch from, std::uint8_t exit) {
      if (review.turn != kNoIndex) return;
      const Walks::Switch next = walks.behind(from, exit);
      if (!leads_up(walks.node_of(next), walks.node_of(from))) return;
      const auto onwards = walks.egress(next, lid);
      const Walks::Switch after = onwards ? walks.behind(next, *onwards) : Walks::kNone;
      if (after == Walks::kNone || !leads_up(walks.node_of(next), walks.node_of(after))) return;
      review.turn = walks.node_of(next);
      review.turn_to = lid;
    };
    const Walks::Switch home = walks.switch_behind(owner);
    for (Walks::Switch at = 0; at < walks.switches(); ++at) {
      const std::uint32_t here = walks.senders(at) - (at == home ? 1 : 0);
      if (here == 0 || !topology.node(walks.node_of(at)).reachable) continue;
      if (walks.follow(at, lid, owner, step) == Walks::Mark::kLost) review.lost += here;
    }
  });
  return review;
}

namespace {

/// An adapter's own cable carries nothing, so that no way through the switches leads to it.
bool is_unplugged(const Topology& topology, PortIndex owner) {
  if (topology.node_of(topology.port(owner)).type == NodeType::kSwitch) return false;
  const auto is_down = [&topology](PortIndex end) {
    const PortPhysicalState state = end == kNoIndex ? PortPhysicalState::kUnknown : topology.port(end).physical_state;
    return state == PortPhysicalState::kPolling || state == PortPhysicalState::kDisabled;
  };
  return is_down(owner) || is_down(topology.port(owner).peer);
}

}  // namespace

std::uint64_t count_newly_lost(const Topology& topology_before, const Routes& before, const Topology& topology,
                               const Routes& routes, std::size_t most, std::vector<NodeIndex>* towards) {
  Walks then(topology_before, before), now(topology, routes);
  std::map<NodeGuid, Walks::Switch> places;
  for (Walks::Switch at = 0; at < then.switches(); ++at) places[topology_before.node(then.node_of(at)).guid] = at;
  const std::uint64_t known = now.count_destinations();
  if (most == 0 || known == 0) return 0;
  const std::uint64_t every = (known + most - 1) / most;
  std::uint64_t number = 0, lost = 0;
  now.for_each_destination([&](Lid lid, PortIndex owner) {
    if (number++ % every != 0 || !topology.node(topology.port(owner).node).reachable) return;
    const PortIndex owner_then = then.turn_to(lid);
    if (owner_then == kNoIndex || topology_before.port(owner_then).guid != topology.port(owner).guid) return;
    if (!topology_before.node(topology_before.port(owner_then).node).reachable) return;
    if (is_unplugged(topology, owner)) return;
    const std::uint64_t lost_before = lost;
    const Walks::Switch home = now.switch_behind(owner);
    // It fell silent: the subnet manager took it out of all tables.
    if (home != Walks::kNone && now.follow(home, lid, owner, [](Walks::Switch, std::uint8_t) {}) == Walks::Mark::kLost)
      return;
    for (Walks::Switch at = 0; at < now.switches(); ++at) {
      const Node& node = topology.node(now.node_of(at));
      const std::uint32_t senders = now.senders(at) - (at == home ? 1 : 0);
      if (senders == 0 || !node.reachable) continue;
      if (now.follow(at, lid, owner, [](Walks::Switch, std::uint8_t) {}) != Walks::Mark::kLost) continue;
      const auto place = places.find(node.guid);
      if (place == places.end()) continue;
      const std::uint32_t had = then.senders(place->second) - (place->second == then.switch_behind(owner_then) ? 1 : 0);
      if (had > 0 &&
          then.follow(place->second, lid, owner_then, [](Walks::Switch, std::uint8_t) {}) == Walks::Mark::kArrives)
        lost += std::min(senders, had);
    }
    if (towards && lost > lost_before) towards->push_back(topology.port(owner).node);
  });
  return lost;
}

bool is_routed_over(const Topology& topology, const Routes& routes, const LidOwners& owners, LinkKey link) {
  for (const PortKey end : {link.low, link.high}) {
    const PortIndex egress = topology.find_port(end);
    if (egress != kNoIndex && !destinations_over(topology, routes, owners, egress).empty()) return true;
  }
  return false;
}

std::vector<PortIndex> find_credit_loop(const Topology& topology, const Routes& routes) {
  Walks walks(topology, routes);
  Dependencies dependencies(topology.ports().size());
  walks.for_each_destination([&](Lid lid, PortIndex owner) {
    const auto depend = [&](Walks::Switch from, std::uint8_t exit) {
      const Walks::Switch next = walks.behind(from, exit);
      const auto onwards = walks.egress(next, lid);
      if (onwards && walks.behind(next, *onwards) != Walks::kNone)
        dependencies.add(walks.port_of(from, exit), *onwards);
    };
    for (Walks::Switch at = 0; at < walks.switches(); ++at)
      if (walks.senders(at) > 0) walks.follow(at, lid, owner, depend);
  });
  return find_circle(topology, dependencies);
}

}  // namespace weft
