// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the operator turned on, and what there is to act with and to judge by.

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "analyzer/remedy/host_index.hpp"
#include "analyzer/remedy/limits.hpp"
#include "analyzer/remedy/routing_engine.hpp"
#include "fabric/acting_weftds.hpp"
#include "fabric/plan.hpp"
#include "fabric/snapshot.hpp"
#include "fabric/switch_target.hpp"

namespace weft::analyzer {

struct RemedyView;

/// Modes, actuators, lists and limits, as configured.
struct RemedySettings {
  RemedySettings() { modes.fill(RemedyMode::kPropose); }

  std::array<RemedyMode, static_cast<std::size_t>(RemedyAction::kCount)> modes;
  /// Who carries an action out; empty: nobody, and we make no plan for it.
  std::array<std::string, static_cast<std::size_t>(RemedyAction::kCount)> actuators;
  /// The same for links of Ethernet fabrics, where neither ports nor hop weights of InfiniBand are. Where it is empty
  /// plans are made all the same, and refused: a person may shut the port.
  std::array<std::string, static_cast<std::size_t>(RemedyAction::kCount)> ethernet_actuators;
  /// Who isolates and restores a link of an Ethernet fabric where a switch of it lets us set its ports (switch_end()),
  /// before `ethernet_actuators`. Empty: nobody.
  std::string switch_actuator;
  /// How late what an actuator sent may land at most, by its name; of those that know it.
  std::map<std::string, Duration> latest_landing;
  /// Actuators that act on a link without a sweep of its fabric.
  std::set<std::string> sweepless;
  /// Hosts, switches (by name or GUID) and ports ("name:port"; on Ethernet "leaf01:swp3"). Where `allow` has entries
  /// nothing else is touched.
  std::vector<std::string> allow, deny;
  RemedyLimits limits;
  /// Of the subnet managers of all InfiniBand fabrics.
  RoutingEngine routing_engine = RoutingEngine::kUnknown;
  /// Another weftd that may act on a fabric trips the circuit breaker. Its mark on a target does so in any case.
  bool stop_for_other_weftd = true;

  /// How long what `actuator` sent and nobody answered is watched (RemedyLimits::late_watch).
  Duration late_watch(const std::string& actuator) const {
    const auto latest = latest_landing.find(actuator);
    return latest == latest_landing.end() ? limits.late_watch : std::min(limits.late_watch, latest->second);
  }
  /// How far automation may go with the action.
  RemedyMode mode(RemedyAction action) const { return modes[static_cast<std::size_t>(action)]; }
  /// Some action is not off, and something is there to carry it out.
  bool may_act() const {
    for (std::size_t i = 0; i < modes.size(); ++i)
      if (modes[i] != RemedyMode::kOff && (!actuators[i].empty() || !ethernet_actuators[i].empty())) return true;
    return !switch_actuator.empty() && (mode(RemedyAction::kIsolateLink) != RemedyMode::kOff ||
                                        mode(RemedyAction::kRestoreLink) != RemedyMode::kOff);
  }
  /// Of hosts, and of links of InfiniBand.
  const std::string& actuator(RemedyAction action) const { return actuators[static_cast<std::size_t>(action)]; }
  /// Of links that of their layer, and of Ethernet that of the switches there, of hosts the one there is.
  const std::string& actuator(RemedyAction action, const Entity& target, const RemedyView& view) const;
};

/// The world as last seen.
struct RemedyView {
  TimePoint now = kNever;
  std::span<const FabricView> fabrics;
  std::span<const std::shared_ptr<const Incident>> incidents;
  std::span<const std::shared_ptr<const HostView>> hosts;
  std::span<const NodeHealth> health;
  std::span<const MaintenanceWindow> maintenance{};
  /// As IncidentManager::last_evidence(); what an incident shows may lag behind.
  std::span<const std::pair<std::uint64_t, TimePoint>> last_evidence{};
  /// Clock::steady() of `now`, by which steps of the wall clock show; nullopt: they are not looked for.
  std::optional<Duration> steady{};
  /// By fabric, of those whose subnet manager is asked for signs of life. Null: nobody asks.
  const std::map<std::string, ManagerSign, std::less<>>* managers = nullptr;
  /// Switches that are read by gNMI, as last told. Null: none is.
  const std::vector<SwitchTarget>* switches = nullptr;
  /// Name of the machine that weftd runs on; empty: not known.
  std::string own_host{};
  /// Of `hosts` and `health`; made when they are first asked for.
  mutable HostIndex hosts_by_name{}, health_by_name{};

  /// The fabric of that name, or null.
  const FabricView* fabric(std::string_view name) const;
  /// The subnet manager of that fabric is known not to answer, or nobody has heard it yet: it would route round nothing
  /// and activate nothing. False where it is not asked.
  bool is_manager_unheard(std::string_view name) const;
  /// The incident with that id, or null.
  const Incident* incident(std::uint64_t id) const;
  /// Entries of `hosts` that are of the host, short or qualified, in their order.
  std::vector<const HostView*> hosts_of(std::string_view host) const;
  /// The same of `health`.
  std::vector<const NodeHealth*> all_health_of(std::string_view host) const;
  /// Of the host, short or qualified; of several entries the worst. Null: none is known.
  const NodeHealth* health_of(std::string_view host) const;
  /// A link of an Ethernet fabric, as last seen.
  bool is_ethernet_link(const Entity& target) const;
  /// The target is a link of a subnet that was last read, and neither end was up: nobody can be asked who is behind it.
  bool is_link_down(const Entity& target) const;
};

}  // namespace weft::analyzer
