// SPDX-License-Identifier: Apache-2.0
#pragma once
// How a port of a switch is shut and enabled by gNMI Set: one table of data for all vendors, and what is read of one
// port before and after it is set.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectors/gnmi/value.hpp"

namespace weft::gnmi {

/// How the value of the leaf is written.
enum class SettingKind : std::uint8_t {
  kNone,     ///< such a target sets nothing
  kBoolean,  ///< true: enabled
  kText,     ///< "enable" or "disable"
  kMember,   ///< as kBoolean, as JSON of the container: {"enabled": false}
};

/// One row. In paths {PORT} stands for the port's name.
struct PortSetting {
  std::string_view name;  ///< "openconfig", "srlinux", "sonic", "nvidia": as people choose it
  /// In the name of a model of the answer to Capabilities: such a target is of this row. Of several rows the first.
  std::string_view mark;
  SettingKind kind = SettingKind::kNone;
  std::string_view origin{};      ///< of the prefix; empty: the model's own
  std::string_view target{};      ///< of the prefix; empty: none
  std::string_view leaf{};        ///< the leaf that is set
  std::string_view state{};       ///< leaves that tell what became of it; one at least is always told
  std::string_view oper{};        ///< the same
  std::string_view neighbours{};  ///< where the port's LLDP neighbours are told
};

/// All rows, in the order in which they are tried.
std::span<const PortSetting> port_settings();
/// The row of that name; null where there is none.
const PortSetting* find_port_setting(std::string_view name);
/// The row of a target with these models; null: none is for it, and nothing is set there.
const PortSetting* choose_port_setting(std::span<const std::string> models);

/// `path` of a row with the port's name in it. nullopt when the name cannot be in a path as text: it has a bracket, a
/// slash in an element or a backslash.
std::optional<std::string> path_of_port(std::string_view path, std::string_view port);
/// The value that enables or shuts a port, as JSON text; a row of kNone has none, "".
std::string setting_json(const PortSetting& row, bool is_enabled);

/// What a port says of itself. Absent is not told.
struct PortTold {
  std::optional<bool> is_set{};      ///< as configured: enabled, or shut
  std::optional<bool> admin_up{};    ///< as the switch has it in force
  std::optional<bool> oper_up{};     ///< it carries traffic
  std::vector<std::string> systems;  ///< names of LLDP neighbours there, at most kMostSystems
  static constexpr std::size_t kMostSystems = 8;

  /// Somebody shut it: configured so, or in force.
  bool is_shut() const { return is_set == false || admin_up == false; }
  /// It is enabled, by all that is told, and something was told.
  bool is_enabled() const { return !is_shut() && (is_set || admin_up); }
};

/// Takes one value at `path`, or all that JSON there holds; what is of another port, or unknown, is left out. `path` is
/// as before afterwards.
void take_port(Path& path, const Value& value, std::string_view port, PortTold& told);

/// "enabled, admin UP, oper UP"; "nothing was told".
std::string to_text(const PortTold& told);

}  // namespace weft::gnmi
