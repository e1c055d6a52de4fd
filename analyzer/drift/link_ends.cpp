// SPDX-License-Identifier: Apache-2.0
#include "analyzer/drift/link_ends.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace weft::analyzer {
namespace {

struct LinkEnd {
  const HostWatch* host = nullptr;
  const PortWatch* port = nullptr;
  const PortFacts* facts = nullptr;
  bool is_switch = false;

  auto link() const { return std::tie(port->place->subnet, port->place->link.port, port->place->link.peer); }
};

std::uint64_t mtu_of(const std::string& text) {
  std::uint64_t number = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '9' || number > 1'000'000) return 0;
    number = number * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  return number;
}

bool are_different(ConfigFact fact, const LinkEnd& a, const std::string& value_a, const LinkEnd& b,
                   const std::string& value_b) {
  if (value_a == value_b) return false;
  if (fact != ConfigFact::kMtu || a.is_switch == b.is_switch) return true;
  return a.is_switch ? mtu_of(value_a) < mtu_of(value_b) : mtu_of(value_b) < mtu_of(value_a);
}

Entity end_entity(const LinkEnd& end) {
  return told_by(*end.host, end.port->place->port);
}

FactHolder holder_of(const LinkEnd& end) {
  return {end.host->name, end.port->device, static_cast<std::uint8_t>(end.port->number)};
}

}  // namespace

void LinkEnds::look(const Hosts& hosts, const Cohorts& cohorts, const IsSwitch& is_switch, TimePoint now) {
  std::vector<LinkEnd> ends;
  known_.clear();
  for (const auto& [name, host] : hosts) {
    for (const PortWatch& port : host.ports) {
      if (!port.place || !port.place->is_ethernet || !port.up) continue;
      const PortFacts* const facts = cohorts.find(name, port.device, static_cast<std::uint8_t>(port.number));
      if (!facts) continue;
      const PortKey key = port.place->port.port;
      known_.emplace(key, key);
      if (port.place->link.kind == EntityKind::kLink) ends.push_back({&host, &port, facts, is_switch(*port.place)});
    }
  }
  std::ranges::sort(ends, [](const LinkEnd& a, const LinkEnd& b) {
    return std::tuple_cat(a.link(), std::tie(a.port->place->port.port)) <
           std::tuple_cat(b.link(), std::tie(b.port->place->port.port));
  });
  const std::vector<EndsDiffer> before = std::exchange(differing_, {});
  for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
    const LinkEnd& low = ends[i];
    const LinkEnd& high = ends[i + 1];
    if (low.link() != high.link() || low.port->place->port.port == high.port->place->port.port) continue;
    known_[low.port->place->port.port] = high.port->place->port.port;
    known_[high.port->place->port.port] = low.port->place->port.port;
    for (const FactValue& fact : low.facts->facts) {
      if (!row_of(fact.fact).by_ends) continue;
      const FactValue* const other = find_fact(*high.facts, fact.fact);
      if (!other || !are_different(fact.fact, low, fact.value, high, other->value)) continue;
      EndsDiffer one{low.port->place->link,
                     fact.fact,
                     end_entity(low),
                     end_entity(high),
                     holder_of(low),
                     holder_of(high),
                     fact.value,
                     other->value,
                     now};
      const auto known = std::ranges::find_if(
          before, [&](const EndsDiffer& old) { return old.fact == one.fact && old.link.same_as(one.link); });
      if (known != before.end()) one.since = std::min(known->since, now);
      differing_.push_back(std::move(one));
    }
  }
}

bool LinkEnds::is_known(const Entity& link) const {
  const auto low = known_.find(link.port);
  const auto high = known_.find(link.peer);
  if (low != known_.end() && high != known_.end()) return true;
  // The cable leads elsewhere now.
  return (low != known_.end() && low->second != low->first) || (high != known_.end() && high->second != high->first);
}

}  // namespace weft::analyzer
