// SPDX-License-Identifier: Apache-2.0
#include "analyzer/drift/cohorts.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "fabric/site.hpp"

namespace weft::analyzer {
namespace {

const HostPort* find_host_port(const HostInventory& inventory, const PortFacts& port) {
  const auto found = std::ranges::find_if(
      inventory.ports, [&](const HostPort& one) { return one.device == port.device && one.number == port.number; });
  return found == inventory.ports.end() ? nullptr : &*found;
}

std::string place_in_host(const HostPort& port) {
  if (port.pci_address.empty()) return {};
  return port.pci_address + (port.number > 1 ? " port " + std::to_string(port.number) : std::string());
}

/// Positions of the profiles for a host, in their order.
std::vector<std::uint32_t> profiles_for(const SettingProfiles& profiles, const std::string& host) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t i = 0; i < profiles.size(); ++i)
    if (std::ranges::any_of(profiles[i].hosts,
                            [&](const std::string& pattern) { return matches_pattern(pattern, host); }))
      found.push_back(i);
  return found;
}

bool speaks_of(const SettingProfile& profile, const HostPort& port, const PortFacts& facts) {
  if (profile.layer != LinkLayer::kUnknown && profile.layer != port.link_layer) return false;
  if (profile.boards.empty()) return true;
  const std::string_view board = fact_text(&facts, ConfigFact::kBoard);
  return !board.empty() && std::ranges::find(profile.boards, board) != profile.boards.end();
}

/// What the profiles at `candidates` say of the port; of several the first.
void expect(const SettingProfiles& profiles, const std::vector<std::uint32_t>& candidates, const HostPort& port,
            DriftMember& member) {
  std::uint64_t settled = 0;
  const std::vector<FactValue>& facts = member.facts->facts;
  for (const std::uint32_t number : candidates) {
    if (!speaks_of(profiles[number], port, *member.facts)) continue;
    for (std::uint32_t i = 0; i < profiles[number].settings.size(); ++i) {
      const ConfigFact fact = profiles[number].settings[i].fact;
      const std::uint64_t bit = std::uint64_t{1} << static_cast<unsigned>(fact);
      if ((settled & bit) != 0) continue;
      settled |= bit;
      if (const FactValue* const told = find_fact(*member.facts, fact))
        member.expected.push_back({static_cast<std::uint32_t>(told - facts.data()), number, i});
      else if (row_of(fact).scope == FactScope::kPort || member.stands_for_adapter)
        ++member.untold;
    }
  }
}

bool is_in_use(const HostPort& port) {
  return port.state == PortState::kActive && !port.administratively_down;
}

}  // namespace

std::uint32_t Cohorts::cohort_of(const std::string& key, std::string label) {
  if (const auto known = by_key_.find(key); known != by_key_.end()) return known->second;
  if (cohorts_.size() >= kMostCohorts) return kNoCohort;
  const auto number = static_cast<std::uint32_t>(cohorts_.size());
  by_key_.emplace(key, number);
  cohorts_.push_back({key, std::move(label), 0});
  return number;
}

void Cohorts::mark(const DriftMember& member, ConfigFact fact) {
  const ConfigFactRow& row = row_of(fact);
  const std::uint32_t of = row.scope == FactScope::kAdapter ? member.of_adapters : member.of_ports;
  // The ends of links are looked at whenever anything changed.
  has_changed_ = true;
  if (row.by_cohort && of != kNoCohort) cohorts_[of].changed |= std::uint64_t{1} << static_cast<unsigned>(fact);
}

void Cohorts::mark_all(const DriftHost& host) {
  for (const DriftMember& member : host.members)
    for (const FactValue& fact : member.facts->facts) mark(member, fact.fact);
}

void Cohorts::mark_changes(const DriftMember& before, const DriftMember& now) {
  for (const FactValue& fact : before.facts->facts) {
    const FactValue* const same = find_fact(*now.facts, fact.fact);
    if (!same || same->value != fact.value) mark(now, fact.fact);
  }
  for (const FactValue& fact : now.facts->facts)
    if (!find_fact(*before.facts, fact.fact)) mark(now, fact.fact);
}

const SettingProfiles& Cohorts::profiles() const {
  static const SettingProfiles kNone;
  return profiles_ ? *profiles_ : kNone;
}

std::vector<DriftMember> Cohorts::sort(const std::string& name, const DriftHost& host, const HostReading& reading) {
  const std::vector<DriftMember>& before = host.members;
  std::vector<DriftMember> members;
  const TimePoint read_at = reading.facts_at != kNever ? reading.facts_at : reading.taken;
  const PortFacts* const whole = find_facts(*reading.facts, {}, 0);
  const std::string model(fact_text(whole, ConfigFact::kHostModel));
  const std::string in_model = model.empty() ? std::string() : " in " + model;
  const std::vector<std::uint32_t> candidates = profiles_for(profiles(), name);
  std::set<std::string> adapters;
  for (const PortFacts& facts : reading.facts->ports) {
    if (facts.device.empty()) continue;
    const HostPort* const port = find_host_port(*reading.inventory, facts);
    if (!port || port->is_virtual_function) continue;
    DriftMember member;
    member.device = facts.device;
    member.number = facts.number;
    member.place = place_in_host(*port);
    member.was_up = is_in_use(*port);
    member.facts = &facts;
    const std::string make = make_of(facts);
    member.stands_for_adapter = adapters.insert(adapter_key(*port)).second;
    if (member.stands_for_adapter && !make.empty()) member.of_adapters = cohort_of(make + in_model, make + in_model);
    const std::string layer = port->link_layer == LinkLayer::kEthernet     ? ", Ethernet"
                              : port->link_layer == LinkLayer::kInfiniBand ? ", InfiniBand"
                                                                           : "";
    if (!make.empty()) member.of_ports = cohort_of(make + in_model + layer, make + in_model + layer);
    const auto old = std::ranges::find_if(
        before, [&](const DriftMember& one) { return one.device == member.device && one.number == member.number; });
    for (const FactValue& fact : facts.facts) {
      TimePoint since = read_at;
      if (old != before.end()) {
        const FactValue* const known = find_fact(*old->facts, fact.fact);
        if (known && known->value == fact.value)
          since = old->since[static_cast<std::size_t>(known - old->facts->facts.data())];
      }
      member.since.push_back(since);
    }
    if (old != before.end()) member.was_up = member.was_up || old->was_up;
    expect(profiles(), candidates, *port, member);
    members.push_back(std::move(member));
  }
  return members;
}

void Cohorts::follow_states(DriftHost& host) {
  for (DriftMember& member : host.members) {
    if (member.was_up) continue;
    const HostPort* const port = find_host_port(*host.inventory, *member.facts);
    if (!port || !is_in_use(*port)) continue;
    member.was_up = true;
    for (const FactValue& fact : member.facts->facts) mark(member, fact.fact);
  }
}

void Cohorts::take(const std::string& name, const HostReading& reading) {
  if (!reading.facts || !reading.inventory) return;
  const auto [place, is_new] = hosts_.try_emplace(name);
  DriftHost& host = place->second;
  if (is_new) {
    host.stem = stem_of(name);
    host.number = numbers_++;
  }
  if (host.table == reading.facts && host.inventory == reading.inventory) return;
  const bool same_ports =
      !is_new && host.table == reading.facts &&
      std::ranges::equal(host.inventory->ports, reading.inventory->ports, [](const HostPort& a, const HostPort& b) {
        return a.device == b.device && a.number == b.number && a.pci_address == b.pci_address &&
               a.link_layer == b.link_layer && a.is_virtual_function == b.is_virtual_function;
      });
  if (same_ports) {
    host.inventory = reading.inventory;
    follow_states(host);
    return;
  }
  std::vector<DriftMember> members = sort(name, host, reading);
  const bool same_places = std::ranges::equal(members, host.members, [](const DriftMember& a, const DriftMember& b) {
    return a.device == b.device && a.number == b.number && a.place == b.place && a.of_adapters == b.of_adapters &&
           a.of_ports == b.of_ports && a.was_up == b.was_up;
  });
  if (same_places)
    for (std::size_t i = 0; i < members.size(); ++i) mark_changes(host.members[i], members[i]);
  else
    mark_all(host);
  host.members = std::move(members);
  host.table = reading.facts;
  host.inventory = reading.inventory;
  if (!same_places) mark_all(host);
}

void Cohorts::forget(const std::string& name) {
  const auto host = hosts_.find(name);
  if (host == hosts_.end()) return;
  mark_all(host->second);
  has_changed_ = true;
  hosts_.erase(host);
}

const PortFacts* Cohorts::find(std::string_view host, std::string_view device, std::uint8_t number) const {
  const auto known = hosts_.find(host);
  return known == hosts_.end() ? nullptr : find_facts(*known->second.table, device, number);
}

}  // namespace weft::analyzer
