// SPDX-License-Identifier: Apache-2.0
#pragma once
// Planned work: what begins meanwhile on what it is about is expected, and pages nobody.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/clock.hpp"
#include "fabric/incident.hpp"
#include "fabric/plan.hpp"

namespace weft {

/// Where a maintenance window is in its life.
enum class MaintenanceState : std::uint8_t {
  kPlanned,  ///< it has not begun
  kActive,
  kOver,  ///< its time is up, or somebody ended it
};
const char* to_string(MaintenanceState state);  ///< "PLANNED", "ACTIVE", "OVER"

/// Work that somebody announced. Never changed but by ending it, never deleted before its retention: it is the record.
struct MaintenanceWindow {
  std::uint64_t id = 0;  ///< given once, never reused: "MW-3"
  /// A node (a switch, or the adapter that names a host), port, link, fabric, or the collector of a host that is on no
  /// watched subnet. A fabric without a name is everything that is watched.
  Entity entity;
  std::string host;               ///< the host's name, where the entity is one
  std::vector<NodeGuid> nodes{};  ///< of a node: the switch, or all adapters of the host, in whatever subnets
  TimePoint from = kNever;        ///< active in [from, until)
  TimePoint until = kNever;
  TimePoint ended = kNever;  ///< when somebody ended it before `until` (or called it off before `from`); else kNever
  std::string reason;        ///< for people, never empty
  std::string added_by;      ///< a person's name, or the program's that acts by itself
  std::string ended_by{};    ///< empty unless `ended`
  TimePoint added = kNever;
  bool comes_back = false;  ///< of a plan: it brings the link back, and another took it out

  /// Enough for windows of one list: only an early end changes a window.
  bool operator==(const MaintenanceWindow& other) const { return id == other.id && ended == other.ended; }
};

/// Maintenance windows by value; see MaintenanceListPtr for the order.
using MaintenanceList = std::vector<MaintenanceWindow>;
/// Ascending by id; null is the same as empty.
using MaintenanceListPtr = std::shared_ptr<const MaintenanceList>;

/// The state of the window at `now`; kOver from the moment somebody ended it.
MaintenanceState state_at(const MaintenanceWindow& window, TimePoint now);
/// When it is over: `until`, or earlier when somebody ended it.
TimePoint end_of(const MaintenanceWindow& window);

/// Is the entity what the window is about, or a part of it: a link or port of a node, a host's collector and ports,
/// anything in a fabric?
bool covers(const MaintenanceWindow& window, const Entity& entity);
bool covers(const MaintenanceWindow& window, NodeGuid node);
/// Of the windows that are active then and cover the entity the one that lasts longest; nullptr when there is none.
const MaintenanceWindow* maintenance_of(const MaintenanceList& windows, const Entity& entity, TimePoint now);

/// Ids from here on are of what our own plans hold out of service, which nobody has to announce: the plan's id is
/// added.
inline constexpr std::uint64_t kFirstPlanWindow = std::uint64_t{1} << 40;
/// The window of a link that the plan holds out of service, or is about to, or has brought back and not seen up yet.
/// nullopt for any other plan: a drain makes nothing go wrong.
std::optional<MaintenanceWindow> window_of(const Plan& plan);

/// "MW-3"; "PLAN-7" for a plan's window.
std::string maintenance_name(std::uint64_t id);
/// Reads "MW-3", "mw-3" or "3".
std::optional<std::uint64_t> parse_maintenance_name(std::string_view text);
/// "maintenance MW-3 until 2026-01-31 14:00 UTC: a new cable"; "taken out of service by PLAN-7: …"; "on its way back
/// to service by PLAN-9: …".
std::string in_words(const MaintenanceWindow& window);

}  // namespace weft
