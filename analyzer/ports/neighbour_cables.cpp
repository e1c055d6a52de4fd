// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ports/neighbour_cables.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace weft::analyzer {
namespace {

/// As names of interfaces are: "swp1", "Ethernet1/1", "et-0/0/1", "eth2.100", "bond0".
bool looks_like_interface(std::string_view text) {
  constexpr std::size_t kLongest = 32;
  if (text.empty() || text.size() > kLongest) return false;
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return is_letter(text.front()) && std::ranges::any_of(text, is_digit) && std::ranges::all_of(text, [&](char c) {
           return is_letter(c) || is_digit(c) || c == '/' || c == '-' || c == '_' || c == '.' || c == ':';
         });
}

/// A teller with an index of its ports.
struct Known {
  const NeighbourTeller* teller = nullptr;
  const NeighbourTable& table() const { return *teller->table; }

  /// All of its ports that have the id of the neighbour that `from` hears. Who reads a switch from outside, as by gNMI,
  /// does not learn the ids that it tells: there the port counts that the neighbour's description names, if it hears
  /// `from`.
  std::vector<const NeighbourPort*> ports_of(const Neighbour& told, const ChassisId& from) const {
    const LldpPortId& id = told.port;
    std::vector<const NeighbourPort*> found;
    for (const NeighbourPort& port : table().ports)
      if (port.own == id) found.push_back(&port);
    if (found.empty() && id.type == PortIdType::kInterfaceName)
      for (const NeighbourPort& port : table().ports)
        if (port.interface == id.id) found.push_back(&port);
    if (!found.empty() || told.port_description.empty()) return found;
    for (const NeighbourPort& port : table().ports)
      if (port.interface == told.port_description &&
          port.own == LldpPortId{PortIdType::kInterfaceName, port.interface} &&
          std::ranges::any_of(port.neighbours, [&](const Neighbour& one) { return one.chassis == from; }))
        found.push_back(&port);
    return found;
  }
};

bool hears(const NeighbourPort& port, const ChassisId& chassis, const LldpPortId& id) {
  return std::ranges::any_of(port.neighbours,
                             [&](const Neighbour& one) { return one.chassis == chassis && one.port == id; });
}

class Matcher {
 public:
  Matcher(std::span<const NeighbourTeller> tellers, const std::regex* ignored) : ignored_(ignored) {
    for (const NeighbourTeller& teller : tellers)
      if (teller.table && !teller.table->chassis.id.empty()) known_[teller.table->chassis].push_back({&teller});
  }

  NeighbourCables match() {
    for (const auto& [chassis, bearers] : known_) {
      if (bearers.size() > 1) tell_twins(chassis, bearers);
      for (const Known& one : bearers)
        for (const NeighbourPort& port : one.table().ports)
          if (!is_ignored(port.interface)) look_at(one, port);
    }
    std::ranges::sort(result_.unclear, {},
                      [](const UnclearNeighbour& one) { return std::tie(one.where, one.told, one.why); });
    return std::move(result_);
  }

 private:
  struct Candidate {
    CableClaimEnd end;
    bool is_mutual = false;
    const Neighbour* neighbour = nullptr;
  };

  bool is_ignored(const std::string& interface) const { return ignored_ && std::regex_search(interface, *ignored_); }

  void unclear(const Known& one, const NeighbourPort& port, std::string told, std::string why) {
    result_.unclear.push_back({one.teller->name + ' ' + port.interface, std::move(told), std::move(why)});
  }

  void tell_twins(const ChassisId& chassis, const std::vector<Known>& bearers) {
    std::string names;
    for (const Known& one : bearers) names += (names.empty() ? "" : ", ") + one.teller->name;
    result_.unclear.push_back({names, std::string(to_string(chassis.type)) + ' ' + chassis.id,
                               "more than one system tells this chassis id: give each its own"});
  }

  static CableClaimEnd own_end(const Known& one, const NeighbourPort& port) {
    return {.chassis = one.table().chassis,
            .port = port.own,
            .teller = one.teller->name,
            .interface = port.interface,
            .system_name = one.teller->name,
            .description = port.own_description};
  }

  void look_at(const Known& one, const NeighbourPort& port) {
    std::vector<Candidate> candidates;
    for (const Neighbour& neighbour : port.neighbours) {
      if (neighbour.chassis.id.empty() || neighbour.port.id.empty()) {
        unclear(one, port, neighbour_text(neighbour), "it tells no chassis id or no port id");
        continue;
      }
      if (auto found = resolve(one, port, neighbour)) candidates.push_back(std::move(*found));
    }
    if (port.left_out > 0)
      unclear(one, port, "",
              std::to_string(port.left_out) + " more neighbours were left out: there is a hub, or a flood");
    if (const Candidate* const chosen = choose(candidates)) {
      add({own_end(one, port), chosen->end, chosen->is_mutual, one.teller->is_fresh});
    } else if (!candidates.empty()) {
      std::string told;
      for (const Candidate& each : candidates) told += (told.empty() ? "" : "; ") + neighbour_text(*each.neighbour);
      unclear(one, port, std::move(told), "more than one neighbour, and it is not clear which one is at the cable");
    }
  }

  static const Candidate* choose(const std::vector<Candidate>& candidates) {
    if (candidates.size() == 1) return &candidates.front();
    const auto only = [&](auto fits) -> const Candidate* {
      const Candidate* found = nullptr;
      for (const Candidate& each : candidates)
        if (fits(each)) {
          if (found != nullptr) return nullptr;
          found = &each;
        }
      return found;
    };
    const auto is_mutual = [](const Candidate& each) { return each.is_mutual; };
    if (std::ranges::any_of(candidates, is_mutual)) return only(is_mutual);
    return only([](const Candidate& each) { return !each.end.teller.empty(); });
  }

  std::optional<Candidate> resolve(const Known& one, const NeighbourPort& port, const Neighbour& neighbour) {
    const auto bearers = known_.find(neighbour.chassis);
    if (bearers == known_.end())
      return Candidate{{.chassis = neighbour.chassis,
                        .port = neighbour.port,
                        .teller = {},
                        .interface = {},
                        .system_name = neighbour.system_name,
                        .description = neighbour.port_description,
                        .capabilities = neighbour.capabilities},
                       false,
                       &neighbour};
    std::vector<std::pair<const Known*, const NeighbourPort*>> fit, mutual;
    for (const Known& other : bearers->second)
      for (const NeighbourPort* const far : other.ports_of(neighbour, one.table().chassis)) {
        if (far == &port) continue;
        fit.emplace_back(&other, far);
        if (hears(*far, one.table().chassis, port.own)) mutual.emplace_back(&other, far);
      }
    const auto& chosen = mutual.empty() ? fit : mutual;
    if (chosen.size() == 1) {
      const auto& [other, far] = chosen.front();
      if (is_ignored(far->interface)) return std::nullopt;
      return Candidate{own_end(*other, *far), !mutual.empty(), &neighbour};
    }
    const std::string& name = bearers->second.front().teller->name;
    unclear(one, port, neighbour_text(neighbour),
            chosen.empty()
                ? name + " tells no port of this id"
                : "more than one port of " + name + " has this id, and it is not clear which hears this one");
    return std::nullopt;
  }

  void add(CableClaim claim) {
    std::string a = claim.a.key(), b = claim.b.key();
    if (b < a) std::swap(a, b);
    const auto [found, added] = places_.try_emplace({std::move(a), std::move(b)}, result_.cables.size());
    if (added) {
      result_.cables.push_back(std::move(claim));
      return;
    }
    CableClaim& before = result_.cables[found->second];
    before.is_mutual = before.is_mutual || claim.is_mutual;
    before.is_fresh = before.is_fresh || claim.is_fresh;
  }

  const std::regex* ignored_;
  std::map<ChassisId, std::vector<Known>> known_;
  std::map<std::pair<std::string, std::string>, std::size_t> places_;  ///< both ends: position of the cable
  NeighbourCables result_;
};

}  // namespace

bool CableClaimEnd::has_name() const {
  return !interface.empty() || port.type == PortIdType::kInterfaceName || looks_like_interface(description);
}

std::string CableClaimEnd::port_name() const {
  if (!interface.empty()) return interface;
  if (port.type == PortIdType::kInterfaceName) return port.id;
  return looks_like_interface(description) ? description : port.id;
}

std::string CableClaimEnd::key() const {
  const std::string system = std::to_string(static_cast<int>(chassis.type)) + ' ' + chassis.id + '\n' + teller + '\n';
  return system + (teller.empty() ? std::to_string(static_cast<int>(port.type)) + ' ' + port.id : interface);
}

std::string neighbour_text(const Neighbour& neighbour) {
  std::string text = neighbour.system_name.empty() ? "a system without a name" : neighbour.system_name;
  text += std::string(" (") + to_string(neighbour.chassis.type) + ' ' + neighbour.chassis.id + "), port " +
          to_string(neighbour.port.type) + ' ' + neighbour.port.id;
  if (!neighbour.port_description.empty() && neighbour.port_description != neighbour.port.id)
    text += " (" + neighbour.port_description + ')';
  return text;
}

NeighbourCables match_neighbours(std::span<const NeighbourTeller> tellers, const std::regex* ignored) {
  return Matcher(tellers, ignored).match();
}

}  // namespace weft::analyzer
