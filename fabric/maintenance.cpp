// SPDX-License-Identifier: Apache-2.0
#include "fabric/maintenance.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "fabric/host_names.hpp"
#include "fabric/minute_text.hpp"

namespace weft {
namespace {

bool on_node(EntityKind kind) {
  return kind == EntityKind::kNode || kind == EntityKind::kPort || kind == EntityKind::kLink;
}

bool has_end(const Entity& entity, PortKey port) {
  return entity.port == port || (entity.kind == EntityKind::kLink && entity.peer == port);
}

}  // namespace

const char* to_string(MaintenanceState state) {
  switch (state) {
    case MaintenanceState::kPlanned:
      return "PLANNED";
    case MaintenanceState::kActive:
      return "ACTIVE";
    case MaintenanceState::kOver:
      break;
  }
  return "OVER";
}

TimePoint end_of(const MaintenanceWindow& window) {
  return window.ended == kNever ? window.until : std::min(window.ended, window.until);
}

MaintenanceState state_at(const MaintenanceWindow& window, TimePoint now) {
  if (window.ended != kNever || now >= window.until) return MaintenanceState::kOver;
  return now >= window.from ? MaintenanceState::kActive : MaintenanceState::kPlanned;
}

bool covers(const MaintenanceWindow& window, NodeGuid node) {
  return std::ranges::find(window.nodes, node) != window.nodes.end();
}

bool covers(const MaintenanceWindow& window, const Entity& entity) {
  const Entity& what = window.entity;
  switch (what.kind) {
    case EntityKind::kFabric:
      return what.fabric.empty() || what.fabric == entity.fabric;
    case EntityKind::kPort:
      return (entity.kind == EntityKind::kPort || entity.kind == EntityKind::kLink) && has_end(entity, what.port);
    case EntityKind::kLink:
      if (entity.kind == EntityKind::kLink) return entity.port == what.port && entity.peer == what.peer;
      return entity.kind == EntityKind::kPort && has_end(what, entity.port);
    case EntityKind::kHostPort:
      return entity.kind == EntityKind::kHostPort && entity.host == what.host && entity.device == what.device &&
             entity.port == what.port;
    default:  // a node, a host or its collector
      if (on_node(entity.kind))
        return covers(window, entity.port.node) ||
               (entity.kind == EntityKind::kLink && covers(window, entity.peer.node));
      return entity.kind != EntityKind::kFabric && same_host(entity.host, window.host);
  }
}

const MaintenanceWindow* maintenance_of(const MaintenanceList& windows, const Entity& entity, TimePoint now) {
  const MaintenanceWindow* longest = nullptr;
  for (const MaintenanceWindow& window : windows)
    if (state_at(window, now) == MaintenanceState::kActive && (!longest || window.until > longest->until) &&
        covers(window, entity))
      longest = &window;
  return longest;
}

std::optional<MaintenanceWindow> window_of(const Plan& plan) {
  if (plan.target.kind != EntityKind::kLink || plan.action == RemedyAction::kRaiseLinkCost) return std::nullopt;
  const bool takes_out = plan.action == RemedyAction::kIsolateLink;
  // A return that failed, or was up before weftd was restarted, is down by itself.
  const bool comes_back = !takes_out && is_under_way(plan.state) && plan.state != PlanState::kRollingBack &&
                          plan.windows_good == 0 && !plan.was_up;
  const bool goes_out =
      takes_out ? is_under_way(plan.state) : plan.state == PlanState::kRollingBack && plan.intent == PlanIntent::kUndo;
  if (!plan.in_force && !comes_back && !goes_out) return std::nullopt;
  MaintenanceWindow window;
  window.id = kFirstPlanWindow + plan.id;
  window.entity = plan.target;
  window.from = kNever;  // for as long as it is there: a clock that is set back does not end it
  window.until = TimePoint::max();
  // The reason of a return says nothing of why the link is out again.
  window.reason = takes_out || comes_back                ? plan.reason
                  : plan.outcome.starts_with(kAbortedBy) ? "its return was " + plan.outcome
                                                         : "its return failed: " + plan.outcome;
  window.comes_back = comes_back && !plan.in_force;
  window.added_by = plan.approved_by;
  window.added = plan.created;
  return window;
}

std::string maintenance_name(std::uint64_t id) {
  if (id >= kFirstPlanWindow) return plan_name(id - kFirstPlanWindow);
  return "MW-" + std::to_string(id);
}

std::optional<std::uint64_t> parse_maintenance_name(std::string_view text) {
  if (text.size() > 3 && std::toupper(static_cast<unsigned char>(text[0])) == 'M' &&
      std::toupper(static_cast<unsigned char>(text[1])) == 'W' && text[2] == '-')
    text.remove_prefix(3);
  std::uint64_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc{} || end != text.data() + text.size() || id == 0) return std::nullopt;
  return id;
}

std::string in_words(const MaintenanceWindow& window) {
  if (window.id >= kFirstPlanWindow)
    return (window.comes_back ? "on its way back to service by " : "taken out of service by ") +
           maintenance_name(window.id) + ": " + window.reason;
  return "maintenance " + maintenance_name(window.id) + " until " + minute_text(window.until) + ": " + window.reason;
}

}  // namespace weft
