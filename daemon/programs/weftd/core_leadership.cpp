// SPDX-License-Identifier: Apache-2.0
// What Core does where two weftd share a database.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/ports/freshness.hpp"
#include "daemon/platform/logging/logging.hpp"
#include "daemon/programs/weftd/core.hpp"
#include "fabric/list_text.hpp"
#include "fabric/sight.hpp"

namespace weft::daemon {
namespace {

/// Subnets by name in one sentence.
constexpr std::size_t kMostNamed = 4;

/// What the other weftd of a pair sees.
std::vector<FabricSight> other_sight(const Leadership& leadership) {
  return leadership.standby ? leadership.standby->fabrics : std::vector<FabricSight>{};
}

}  // namespace

bool is_seen(const FabricView& fabric) {
  if (analyzer::is_blind(fabric)) return false;
  if (!fabric.sweep) return true;
  const Topology& topology = *fabric.sweep->topology;
  const auto is_switch = [](const Node& node) { return node.type == NodeType::kSwitch; };
  const auto is_reached = [&](const Node& node) { return is_switch(node) && node.reachable; };
  return 2 * std::ranges::count_if(topology.nodes(), is_reached) >= std::ranges::count_if(topology.nodes(), is_switch);
}

void Core::take_incidents(store::Restored& ledger) {
  incidents_ = analyzer::IncidentManager(config_.incidents, std::move(ledger.incidents), ledger.incident_ids);
  opened_before_ = ledger.opened;
  maintenance_.restore(std::move(ledger.maintenance), ledger.maintenance_ids);
  acceptances_.restore(std::move(ledger.acceptances), ledger.acceptance_ids);
}

void Core::follow(store::Restored ledger) {
  take_incidents(ledger);
  hosts_.follow(std::move(ledger.collectors));
  set_maintenance_windows();
  publish();
}

void Core::stand_by() {
  leads_ = false;
  for (auto& [name, fabric] : fabrics_) {  // whoever leads knows better
    fabric.apart.clear();
    ++fabric.apart_changes;
  }
}

void Core::lead(store::Restored ledger) {
  leads_ = took_over_ = true;
  started_ = clock_.now();
  // Collectors have said nothing yet: their silence counts from now on.
  host_rules_ = analyzer::HostAnalyzer(config_.analyzer, started_);
  host_rules_.set_profiles(profiles_);
  hosts_.restore(std::move(ledger.collectors), ledger.incidents);
  take_incidents(ledger);
  set_maintenance_windows();
  hosts_judged_ = kNever;
  memories_.clear();
  remember_fabrics(std::move(ledger.fabrics));
  // What was lost when we led before the other one may have found, under another name.
  for (const std::string& name : std::exchange(unwatched_, {})) fabrics_.erase(name);
  for (auto& [name, fabric] : fabrics_) tell_apart_from_ledger(fabric);
  // Of two that have each other's names one was kept apart only when the other was looked at.
  for (auto& [name, fabric] : fabrics_)
    if (fabric.layer == LinkLayer::kInfiniBand && !fabric.switches.empty() &&
        take_back_kept(name, fabric.switches, &fabric.analyzer))
      renew_rules(fabric);
  // Of subnets our analyzers know what is newer than what the leader before us stored, and now what that one alone saw.
  // Of Ethernet fabrics collectors tell, and they told the leader.
  std::vector<std::string> ethernet;
  for (auto& [name, fabric] : fabrics_) {
    fabric.saved_links = fabric.saved_history = kNothingSaved;
    fabric.nodes_saved = kNever;
    if (fabric.layer == LinkLayer::kEthernet) ethernet.push_back(name);
  }
  for (const std::string& name : ethernet) {
    fabrics_.erase(name);
    add_fabric(name, LinkLayer::kEthernet);
  }
  publish();
}

std::span<const KnownLink> Core::known_links(const std::string& fabric) const {
  const auto memory = memories_.find(fabric);
  return memory == memories_.end() ? std::span<const KnownLink>()
                                   : std::span<const KnownLink>(memory->second.state.links);
}

// How far collectors were heard is stored with their next batch, what receivers were told with the next event.
void Core::store_again() {
  logger("store")->error(
      "the database does not have what it had confirmed: another server took over that had not been a synchronous "
      "standby. Incidents, plans, acceptances and maintenance windows are stored once more from memory; what was "
      "written about them "
      "in the audit trail and in their records in the last moments is lost");
  const auto incidents = incidents_.all();
  for (const analyzer::IncidentPtr& incident : *incidents) unsaved_.try_emplace(incident->id, *incident);
  for (auto& [name, fabric] : fabrics_) {
    fabric.saved_links = fabric.saved_history = kNothingSaved;
    fabric.nodes_saved = kNever;
  }
  store_lane_.post([&store = store_, windows = maintenance_.windows()] {
    for (const MaintenanceWindow& window : *windows) static_cast<void>(store.save_maintenance(window));
  });
  acceptances_.store_again();
  hosts_.store_again();
  remedies_.store_again();
  save();
}

void Core::explain_standby(std::vector<NodeHealth>& health) const {
  if (!leadership_.stands_by()) return;
  for (NodeHealth& node : health) {
    if (node.verdict != HealthVerdict::kUnknown) continue;
    HealthReason& why = node.reasons.emplace_back();
    why.severity = Severity::kInfo;
    why.message = "this weftd stands by and hears no collectors; ";
    why.message += leadership_.address.empty() ? "no weftd leads yet" : "ask the leader at " + leadership_.address;
  }
}

std::vector<FabricSight> Core::sights() const {
  std::vector<FabricSight> sights;
  for (const auto& [name, fabric] : fabrics_) {
    if (fabric.layer == LinkLayer::kEthernet) continue;
    FabricSight& sight = sights.emplace_back(FabricSight{name, is_seen(fabric.view), {}});
    if (fabric.view.sweep) sight.switches = switches_of(*fabric.view.sweep->topology, !leads_ && sight.is_seen);
    // A graph made anew behind a port that is down has ourselves alone. Of one that stands by, a name in the ledger is
    // the leader's.
    if (sight.switches.empty()) sight.switches = leads_ ? fabric.analyzer.switches() : fabric.switches;
  }
  return sights;
}

// A leader that lost its own port asks for a person, or gives the lead away (RoleKeeper): the other one sees it.
void Core::explain_sight(std::vector<FabricView>& fabrics) const {
  const auto& standby = leadership_.standby;
  if (!leadership_.leads || !standby || !standby->is_there() || standby->fabrics.empty()) return;
  if (std::ranges::all_of(fabrics, is_seen)) return;
  const SightChange change = compare_sight(sights(), standby->fabrics);
  const std::string advice = change.lost.empty()
                                 ? ": systemctl stop weftd here lets that one lead"
                                 : ", but it does not see or watch " + name_list(change.lost, kMostNamed);
  for (FabricView& fabric : fabrics)
    if (std::ranges::find(change.gained, fabric.name) != change.gained.end())
      fabric.status += "; " + standby->holder + " stands by and sees it" + advice;
}

void Core::show(Leadership leadership) {
  const bool is_news = leadership.leads != leadership_.leads || leadership.is_held != leadership_.is_held ||
                       leadership.epoch != leadership_.epoch || leadership.leader != leadership_.leader ||
                       other_sight(leadership) != other_sight(leadership_);
  leadership_ = std::move(leadership);
  if (is_news) publish();
}

void Core::show_store() {
  publish();
}

void Core::show(SitePtr site) {
  if (site == site_) return;
  site_ = std::move(site);
  hosts_.show(site_);
  publish();
}

}  // namespace weft::daemon
