// SPDX-License-Identifier: Apache-2.0
// What Core does about subnets that the ledger knows and that nobody watches.

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/ports/freshness.hpp"
#include "daemon/platform/logging/logging.hpp"
#include "daemon/programs/weftd/core.hpp"
#include "daemon/programs/weftd/kept_subnets.hpp"
#include "daemon/programs/weftd/known_links.hpp"
#include "fabric/list_text.hpp"
#include "fabric/sight.hpp"

namespace weft::daemon {
namespace {

using namespace std::chrono_literals;

// A restart finds its adapters again within this time; what is still open of other subnets then is nobody's.
constexpr Duration kWaitForSubnets = 10min;
/// The first sweep of the greatest fabric ends before; the subnets that are lost are told before those above are given
/// up.
constexpr Duration kWaitForSweep = 5min;
constexpr Duration kLookEvery = 5s;
constexpr const char* kNoPort = "no active port of this host leads to it";
constexpr const char* kUnseen = "nothing has read it for 7 days";
constexpr std::size_t kMostSwitchesNamed = 2;

/// Why nobody watches it.
std::string no_port_text(const store::FabricMemory& memory) {
  if (!is_kept(memory.fabric)) return kNoPort;
  std::map<std::uint64_t, std::string> switches;
  for (const KnownLink& link : memory.state.links) {
    if (link.low.type == NodeType::kSwitch) switches.emplace(link.key.low.node.value, link.low.node_name);
    if (link.high.type == NodeType::kSwitch) switches.emplace(link.key.high.node.value, link.high.node_name);
  }
  std::vector<std::string> names;
  for (auto& [guid, name] : switches) names.push_back(std::move(name));
  return std::string(kNoPort) + " (" + name_list(names, kMostSwitchesNamed) + "); " + name_before(memory.fabric) +
         " is another subnet now";
}

}  // namespace

std::vector<NodeGuid> switches_of(const Topology& topology, bool must_be_reached) {
  std::vector<NodeGuid> switches;
  for (const Node& node : topology.nodes())
    if (node.type == NodeType::kSwitch && (node.reachable || !must_be_reached)) switches.push_back(node.guid);
  std::ranges::sort(switches, {}, &NodeGuid::value);
  return switches;
}

void Core::remember_fabrics(std::vector<store::FabricMemory> memories) {
  for (store::FabricMemory& memory : memories) memories_[memory.fabric] = std::move(memory);
  known_subnets_.clear();
  is_looked_at_ = false;
}

std::vector<NodeGuid> Core::known_switches(const std::string& fabric) const {
  return switches_at(known_links(fabric));
}

void Core::remember_incidents(analyzer::FabricAnalyzer& rules, const std::string& fabric) const {
  for (const auto& incident : *incidents_.all())
    if (incident->finding.cause.fabric == fabric || incident->finding.kind == IncidentKind::kDuplicateGuid)
      rules.remember(*incident);
}

analyzer::FabricAnalyzer Core::rules_of(const std::string& name, LinkLayer layer) const {
  analyzer::FabricAnalyzer rules(name, config_.analyzer);
  if (const auto expected = expected_.find(layer); expected != expected_.end()) rules.expect(expected->second);
  if (const auto memory = memories_.find(name); memory != memories_.end()) rules.restore(memory->second.state);
  remember_incidents(rules, name);
  rules.set_maintenance_windows(planned_);
  return rules;
}

// A fragment that has got new switches is no other subnet; one that has got a switch of ours is, and so are two that a
// cable joined by mistake and that are parted again, whatever their rules know by then.
analyzer::OtherSubnets Core::others(Fabric& fabric) {
  std::vector<std::shared_ptr<const Sweep>> sweeps;
  if (fabric.layer == LinkLayer::kEthernet) return {};
  // No sweep told yet which one it is: the ledger does.
  if (fabric.first_switches.empty()) fabric.first_switches = fabric.analyzer.switches();
  const auto is_half_reached = [](const Fabric& each) {
    const auto reached =
        std::ranges::count_if(each.first_switches, [&](NodeGuid guid) { return has_switch(each.switches, guid); });
    return 2 * static_cast<std::size_t>(reached) >= each.first_switches.size();
  };
  for (const auto& [name, there] : fabrics_)
    if (&there != &fabric && there.layer == LinkLayer::kInfiniBand && there.view.sweep &&
        !analyzer::is_blind(there.view) && is_half_reached(there) &&
        !have_half(there.first_switches, fabric.first_switches) && !have_half(there.switches, fabric.switches))
      sweeps.push_back(there.view.sweep);
  return analyzer::OtherSubnets(std::move(sweeps));
}

bool Core::is_found(const std::string& name, const std::string& through) {
  const auto found = fabrics_.find(name);
  if (found == fabrics_.end()) return false;
  if (unwatched_.erase(name) == 0) return true;
  found->second.view.through = through;
  found->second.view.is_unreachable = false;
  found->second.trouble.clear();
  publish();
  return true;
}

// Each time that switches are reached which were not before: a fragment may have been cabled into another subnet.
void Core::tell_apart(Fabric& fabric, const Sweep& sweep, TimePoint now) {
  if (fabric.layer == LinkLayer::kEthernet || fabric.told_apart == sweep.topology) return;
  fabric.told_apart = sweep.topology;
  auto reached = switches_of(*sweep.topology, true);
  if (reached.empty()) return;
  fabric.own_cable = own_cable(*sweep.topology, sweep.local_port);
  const bool is_first = fabric.switches.empty();
  const bool is_new = !std::ranges::includes(fabric.switches, reached, {}, &NodeGuid::value, &NodeGuid::value);
  fabric.switches = std::move(reached);
  if (!is_new) return;
  const std::string& name = fabric.view.name;
  const auto known = fabric.analyzer.switches();
  const bool is_known = !known.empty();
  if (fabric.first_switches.empty()) fabric.first_switches = is_known ? known : fabric.switches;
  if (is_known) {
    store::FabricMemory before{name, fabric.analyzer.state(), now};
    if (are_of_subnet(before.state.links, fabric.switches, fabric.own_cable)) return;
    fabric.first_switches = fabric.switches;
    if (const auto memory = memories_.find(name); is_first && memory != memories_.end())
      before.seen = memory->second.seen;
    keep_apart(fabric, std::move(before));
  }
  if (!take_back_kept(name, fabric.switches, nullptr) && !is_known) return;
  renew_rules(fabric);
}

void Core::renew_rules(Fabric& fabric) {
  fabric.analyzer = rules_of(fabric.view.name, fabric.layer);
  fabric.cables = {};
  fabric.tell_differences = true;
  fabric.saved_links = fabric.saved_history = kNothingSaved;
  fabric.nodes_saved = fabric.baselines_saved = kNever;
  known_looked_ = kNever;
  known_subnets_.clear();  // the hosts' rules are to know the new names
}

void Core::tell_apart_from_ledger(Fabric& fabric) {
  if (fabric.layer == LinkLayer::kEthernet) return;
  const std::string& name = fabric.view.name;
  if (fabric.switches.empty()) {  // what the ledger knows is newer
    renew_rules(fabric);
    return;
  }
  const auto known = known_switches(name);
  // Our rules may know more of it than is reached now.
  if (!known.empty() && !are_of_subnet(known_links(name), fabric.switches, fabric.own_cable) &&
      !are_one_subnet(known, fabric.analyzer.switches()))
    keep_apart(fabric, memories_.at(name));
  // The leader saw more than we did while we were blind, or before we swept: as after a start, all of it counts.
  const auto memory = memories_.find(name);
  auto joined = memory == memories_.end() ? std::nullopt : fabric.analyzer.joined_state(memory->second.state);
  if (joined) {
    memory->second.state = std::move(*joined);
    renew_rules(fabric);
  } else {
    remember_incidents(fabric.analyzer, name);  // of what we did not see ourselves
  }
  if (take_back_kept(name, fabric.switches, &fabric.analyzer)) renew_rules(fabric);
}

// By its first switch. That one may have been moved here from another that has the name.
std::string Core::name_of_kept(const std::string& name, std::span<const KnownLink> links) const {
  const auto switches = switches_at(links);
  std::string kept;
  for (const NodeGuid guid : switches) {
    kept = name + kOfSwitch + to_string(guid);
    if (!memories_.contains(kept) && !fabrics_.contains(kept)) break;
  }
  return kept;
}

void Core::keep_apart(Fabric& fabric, store::FabricMemory memory) {
  const std::string& name = fabric.view.name;
  memories_.erase(name);
  if (!leads_) return;  // the leader's names are its own
  memory.fabric = name_of_kept(name, memory.state.links);
  logger("infiniband")
      ->warn(
          "{}: the port leads to another subnet than before: most of its switches were not known there. The subnet "
          "from before is called {} from now on",
          name, memory.fabric);
  call_incidents(name, memory.fabric);
  fabric.apart.push_back(memory);
  ++fabric.apart_changes;
  memories_[memory.fabric] = std::move(memory);
}

bool Core::is_same_subnet(const store::FabricMemory& memory, const std::string& name,
                          std::span<const NodeGuid> switches, const analyzer::FabricAnalyzer* rules) const {
  const std::string& other = memory.fabric;
  const bool is_portless =
      (!fabrics_.contains(other) || unwatched_.contains(other)) && (took_over_ || !is_beginning(clock_.now()));
  if (other == name || !(is_kept(other) || is_portless) || is_given_up(memory, clock_.now())) return false;
  if (std::ranges::any_of(memory.state.links, is_ethernet)) return false;
  const auto known = switches_at(memory.state.links);
  if (is_kept(other)) return are_one_subnet(switches, known);
  // What is a fragment now may have been read as a whole.
  return has_most_of(switches, known) ||
         (rules != nullptr && are_one_subnet(switches, known) && has_most_of(rules->switches(), known));
}

bool Core::take_back_kept(const std::string& name, const std::vector<NodeGuid>& switches,
                          const analyzer::FabricAnalyzer* rules) {
  std::vector<std::string> kept;
  for (const auto& [other, memory] : memories_)
    if (is_same_subnet(memory, name, switches, rules)) kept.push_back(other);
  if (kept.empty()) return false;
  AnalyzerState present = rules != nullptr ? rules->state() : AnalyzerState{};
  for (const std::string& other : kept) {
    logger("infiniband")->info("{} is watched as {} now", other, name);
    fabrics_.erase(other);
    unwatched_.erase(other);
    analysis_seconds_.erase(other);
    call_incidents(other, name);
    const AnalyzerState& stored = memories_.at(other).state;
    auto joined = rules != nullptr && other == kept.front() ? rules->joined_state(stored) : std::nullopt;
    if (joined)
      present = std::move(*joined);
    else
      add_state(present, stored);
    memories_[name] = {name, present, memories_.at(other).seen};
    forget_kept(other);
  }
  return true;
}

bool Core::continue_elsewhere(const Fabric& gone) {
  const std::string& name = gone.view.name;
  const auto known = gone.analyzer.switches();
  if (!leads_ || gone.layer == LinkLayer::kEthernet || known.empty()) return false;
  for (auto& [other, there] : fabrics_) {
    if (there.layer == LinkLayer::kEthernet || unwatched_.contains(other) || !has_most_of(there.switches, known))
      continue;
    const AnalyzerState state = gone.analyzer.state();
    auto joined = there.analyzer.joined_state(state);
    call_incidents(name, other);
    memories_[other] = {other, joined ? std::move(*joined) : there.analyzer.state(), clock_.now()};
    for (const store::FabricMemory& kept : gone.apart)
      store_lane_.post([&store = store_, name, kept] {  // refused: it is looked at again after the next start
        if (store.keep_apart(name, kept))
          static_cast<void>(store.save_fec_baselines(kept.fabric, kept.state.fec_baselines));
      });
    forget_kept(name);
    renew_rules(there);
    return true;
  }
  return false;
}

// A switch that was cabled from a lost subnet into one that is watched is there no more, with what hangs from it. The
// others are where they were.
void Core::take_along(Fabric& fabric) {
  const std::string& name = fabric.view.name;
  if (!fabric.told_apart) return;
  for (auto& [other, memory] : memories_) {
    if (other == name || !(is_kept(other) || unwatched_.contains(other))) continue;
    if (are_one_subnet(fabric.switches, switches_at(memory.state.links))) continue;  // the whole of it is found
    MovedLinks moved = moved_links(memory.state.links, fabric.switches, *fabric.told_apart);
    if (moved.stay.size() == memory.state.links.size()) continue;
    logger("infiniband")->warn("{}: switches of it are cabled to {} now; the others are out of sight", other, name);
    const TimePoint now = clock_.now();
    const auto is_moved = [&](const Entity& cause) { return moved.has(cause); };
    note(incidents_.rename(other, name, now, is_moved), now, {}, nullptr);
    memory.state.links = std::move(moved.stay);
    if (const auto shown = fabrics_.find(other); shown != fabrics_.end()) renew_rules(shown->second);
    store_lane_.post([&store = store_, other, links = memory.state.links] {
      static_cast<void>(store.save_links(other, links));  // refused: it is looked at again after the next start
    });
    AnalyzerState present = fabric.analyzer.state();
    add_state(present, {.links = std::move(moved.along)});
    memories_[name] = {name, std::move(present), now};
    renew_rules(fabric);
    return;  // of memories_; others with the next look
  }
}

void Core::forget_kept(const std::string& name) {
  memories_.erase(name);
  for (auto& [other, fabric] : fabrics_)
    fabric.apart_changes += std::erase_if(fabric.apart, [&](const auto& kept) { return kept.fabric == name; });
  if (!leads_) return;
  // Refused: it is looked at again after the next start.
  store_lane_.post([&store = store_, name] {
    static_cast<void>(store.save_links(name, {}));
    static_cast<void>(store.save_conditions(name, {}, {}));
    static_cast<void>(store.save_fec_baselines(name, {}));
  });
}

bool Core::store_apart(Fabric& fabric) {
  if (fabric.apart.empty() || fabric.stores_apart) return fabric.apart.empty();
  fabric.stores_apart =
      store_lane_.post([this, name = fabric.view.name, apart = fabric.apart, changes = fabric.apart_changes] {
        const bool done = std::ranges::all_of(apart, [&](const store::FabricMemory& kept) {
          return store_.keep_apart(name, kept) && store_.save_fec_baselines(kept.fabric, kept.state.fec_baselines);
        });
        post_([this, name, done, changes] {
          const auto found = fabrics_.find(name);
          if (found == fabrics_.end() || !found->second.stores_apart) return;
          found->second.stores_apart = false;
          // Others are to be stored, or fewer: all of them once more.
          if (done && found->second.apart_changes == changes) found->second.apart.clear();
        });
      });
  return false;
}

void Core::call_incidents(const std::string& before, const std::string& since) {
  const TimePoint now = clock_.now();
  if (leads_) note(incidents_.rename(before, since, now), now, {}, nullptr);
  for (auto& [name, fabric] : fabrics_) fabric.analyzer.rename_subnet(before, since);
}

// What is only known to have been there says nothing of where it is now.
std::vector<FabricSight> Core::reached_subnets() const {
  std::vector<FabricSight> subnets = sights();
  for (FabricSight& sight : subnets)
    if (const Fabric& fabric = fabrics_.at(sight.name); !fabric.switches.empty()) sight.switches = fabric.switches;
  return subnets;
}

void Core::watch_over_known(TimePoint now) {
  if (!leads_ || !passed(now, known_looked_, kLookEvery)) return;
  known_looked_ = now;
  if (!config_.infiniband.enabled || is_beginning(now)) return;
  look_at_known(now);
  is_looked_at_ = true;
}

void Core::look_at_known(TimePoint now) {
  std::set<std::string> too_old;
  for (const FabricSight& sight : reached_subnets()) {
    const auto fabric = fabrics_.find(sight.name);
    if (fabric == fabrics_.end() || unwatched_.contains(sight.name)) continue;  // the first: it was just taken back
    if (take_back_kept(sight.name, sight.switches, &fabric->second.analyzer))
      renew_rules(fabric->second);
    else
      take_along(fabric->second);
  }
  for (const auto& [name, memory] : memories_)
    if (is_given_up(memory, now) && (unwatched_.contains(name) || !fabrics_.contains(name)) &&
        std::ranges::none_of(memory.state.links, is_ethernet))
      too_old.insert(name);
  for (const std::string& name : too_old) {
    give_up(name, now, kUnseen);
    remove_fabric(name);
    forget_kept(name);
  }
  auto own = reached_subnets();
  // What a port leads to that was not swept yet is still to be seen. One that is down leads nowhere.
  const auto is_awaited = [&](const FabricSight& sight) {
    const Fabric& fabric = fabrics_.at(sight.name);
    return !fabric.view.sweep && fabric.trouble.empty() && !passed(now, started_, kWaitForSweep);
  };
  for (const auto& [name, memory] : memories_) {
    if (!is_wanted(name, config_.infiniband.ports)) continue;
    if (fabrics_.contains(name) || memory.seen == kNever || is_given_up(memory, now)) continue;
    if (std::ranges::any_of(memory.state.links, is_ethernet)) continue;
    const auto switches = known_switches(name);
    if (switches.empty() || std::ranges::any_of(own, [&](const FabricSight& sight) {
          if (sight.switches.empty()) return is_awaited(sight);
          // Of one whose port has another name now a fragment is not the whole: the rest is lost.
          return is_kept(name) ? are_one_subnet(sight.switches, switches) : has_most_of(sight.switches, switches);
        }))
      continue;
    const std::string why = no_port_text(memory);
    logger("infiniband")->warn("{}: {}, and it was watched before", name, why);
    add_fabric(name);
    unwatched_.insert(name);
    own.push_back({name, false, switches});
    fabrics_.at(name).trouble = why;
    fabrics_.at(name).view.is_unreachable = true;
  }
}

void Core::give_up(const std::string& fabric, TimePoint now, const char* why) {
  if (!leads_) return;
  note(incidents_.give_up(fabric, why, now), now, {}, nullptr);
}

void Core::give_up_what_nobody_watches(TimePoint now) {
  if (!leads_ || !passed(now, started_, kWaitForSubnets)) return;
  std::set<std::string> others;
  for (const auto& incident : *incidents_.all())
    if (incident->is_open() && !incident->finding.cause.fabric.empty() &&
        !fabrics_.contains(incident->finding.cause.fabric))
      others.insert(incident->finding.cause.fabric);
  for (const std::string& fabric : others) give_up(fabric, now);
}

}  // namespace weft::daemon
